"""What an evaluation hands out: a document for machines, tables for the terminal, charts and one page to read."""
