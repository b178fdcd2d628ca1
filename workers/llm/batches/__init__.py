"""Calls that can wait: collected across many evaluations, sent as files at a lower price, and found again after a
crash.

complete ── known model, time left? ──> book: waiting ──> out ──> answered ──> collected, settled
                                         (rows)    │       │        returned ─> the live endpoint
                             `BatchDispatcher`  gathers  watches"""
