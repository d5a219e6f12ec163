"""The suites. Each measures its sets through the running product; adding one is a module and a line in `SUITES`."""

from memvault_evals.suites.retrieval import CHINESE, MULTIHOP, RECALL
from memvault_evals.suites.suite import Suite

SUITES: tuple[Suite, ...] = (RECALL, CHINESE, MULTIHOP)
