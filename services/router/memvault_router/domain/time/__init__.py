"""Spans of local calendar time, and the words that mean them in Chinese and English."""
