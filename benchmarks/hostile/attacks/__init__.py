"""Attacks on the guarantees of reports, with figures: attempts, findings of the checks, and what was printed."""
