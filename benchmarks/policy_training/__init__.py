"""GRPO on a tiny random model: whether it learns, and how long wrong answers become."""
