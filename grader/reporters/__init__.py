"""Writers: each turns a report into text and decides nothing."""
