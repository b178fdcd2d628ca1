"""Speed, cost and memory of a single process against the simulated LLM endpoint."""
