"""Decode, use case, encode."""
