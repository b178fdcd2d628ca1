"""Speed, cost and memory of the engine and the service with the simulated LLM endpoint."""
