"""Devices and the model of a matrix product's speed: arithmetic alone, no measurement and no wording."""
