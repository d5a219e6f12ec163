"""Lexicons and templates: data, not code."""
