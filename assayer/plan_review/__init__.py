"""Review of a plan without reading papers: a checklist found by patterns, and flaws found by a language model."""
