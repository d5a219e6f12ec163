"""Lexicons, archetypes and follow-up shapes: adding a word is a change here and nowhere else."""
