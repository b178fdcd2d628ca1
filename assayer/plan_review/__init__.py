"""Review of a research plan without reading papers: a pattern-based checklist, and flaws found by a language model."""
