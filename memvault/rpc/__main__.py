"""`python -m memvault.rpc HOST:PORT`: exit 0 when the service there is ready, else 1; for health checks."""

import argparse
import asyncio
import sys

from memvault.runtime.readiness import probe


def main() -> int:
    """Probe once and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m memvault.rpc", description="Exit 0 when the service is ready.")
    parser.add_argument("address", help="host:port")
    parser.add_argument("--timeout", type=float, default=2.0, help="seconds")
    given = parser.parse_args()
    found = asyncio.run(probe(given.address, timeout_s=given.timeout))
    return 0 if found.ready else 1


if __name__ == "__main__":
    sys.exit(main())
