"""Many ideas in order: pairwise comparisons by a language model, Bradley–Terry strengths, intervals, bands at a cut."""
