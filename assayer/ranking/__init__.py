"""Ranking of many ideas: pairwise comparisons by a language model, Bradley–Terry strengths, intervals, and bands at a
cut."""
