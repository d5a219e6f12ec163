"""The suites. Each measures its sets through the running product; adding one is a module and a line in `SUITES`."""

from memvault_evals.suites.follow_up import FOLLOW_UP
from memvault_evals.suites.injection import INJECTION
from memvault_evals.suites.intent import INTENT
from memvault_evals.suites.prefetch import PREFETCH
from memvault_evals.suites.retrieval import CHINESE, MULTIHOP, RECALL
from memvault_evals.suites.suite import Suite

SUITES: tuple[Suite, ...] = (RECALL, CHINESE, MULTIHOP, INTENT, INJECTION, PREFETCH, FOLLOW_UP)
