"""Citations: labels in prompts and reports, evidence and its quotes, the numbering of references."""
