"""One file per technology; `memory.py` is the twin that tests use."""
