"""Review of a plan without reading papers: a checklist based on patterns, and flaws found by a language model."""
