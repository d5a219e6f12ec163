"""`python -m memvault_laptop`: all six services in one process, for a machine where every megabyte counts."""

import asyncio
import sys

from memvault.runtime.lifecycle import run_service
from memvault_laptop.app import assemble

if __name__ == "__main__":
    sys.exit(asyncio.run(run_service("laptop", assemble)))
