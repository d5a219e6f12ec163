"""The graph of one user.

What it holds (`model`), how text becomes facts (`extraction`), how it is walked (`ppr`) and cut (`communities`).
"""
