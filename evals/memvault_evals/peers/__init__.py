"""memvault beside other ways to find a memory: the same corpus, questions and machine, in one run."""
