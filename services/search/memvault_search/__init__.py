"""Search: finds, scores and picks a user's memory blocks."""
