"""The order of I/O and pure steps."""
