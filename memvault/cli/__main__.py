"""`python -m memvault.cli`."""

from memvault.cli.main import main

if __name__ == "__main__":
    main()
