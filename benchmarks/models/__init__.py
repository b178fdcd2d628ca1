"""What the embedding service makes of its model."""
