"""The sample vault, and a demonstration that fills a vault of its own with it and asks it questions."""
