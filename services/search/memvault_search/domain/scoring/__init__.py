"""The eleven scoring stages (R-13) and what they read."""
