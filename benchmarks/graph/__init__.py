"""How a viewpoint graph and a verdict scale with its size."""
