"""Batches of calls that can wait. Calls are gathered across many evaluations, sent as files at a lower price, and
resumed after a crash.

complete ── known model, time left? ──> book: waiting ──> out ──> answered ──> collected, settled
                                         (rows)    │       │        returned ─> the live endpoint
                             `BatchDispatcher`  gathers  watches"""
