"""The steps of a classification; their order stands in `memvault_router.domain.pipeline`."""
