"""Rank many ideas: a language model compares pairs, which yields Bradley–Terry strengths, rank intervals, and bands
around a cut."""
