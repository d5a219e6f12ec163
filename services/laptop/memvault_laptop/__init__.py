"""All six memvault services in one process."""
