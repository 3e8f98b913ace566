"""Checks: what the launches of a submission show, as findings and figures. No wording here."""
