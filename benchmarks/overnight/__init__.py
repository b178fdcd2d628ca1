"""What overnight batches of calls cost, how long they take, and what they survive."""
