"""Citations: labels in prompts and reports, evidence and quotes from it, and numbering of references."""
