"""How much of three GROBID servers the pool gets out of them while they are busy, die and come back."""
