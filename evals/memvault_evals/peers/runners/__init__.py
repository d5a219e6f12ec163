"""Programs that put one peer behind the protocol of `serving`; each runs in the environment of its peer.

They see only this package and what their environment holds, so that they import nothing else of `memvault_evals`.
"""
