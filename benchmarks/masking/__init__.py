"""How much of what says whose an idea is passes blind mode, and how much of what does not is masked."""
