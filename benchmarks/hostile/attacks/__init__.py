"""Attacks on what a report promises, with figures: what was tried, what was complained about, what was printed."""
