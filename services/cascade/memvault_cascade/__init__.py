"""The cascade service.

A user's graph of facts, its communities, and the walk that slow questions take (R-30 to R-34, R-36).
"""
