"""How fast, how cheap, how lean: one process against the simulated LLM endpoint."""
