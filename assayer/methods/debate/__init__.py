"""Debate as reward: agents with different roles debate whether an idea matches the core methodology of a reference.

It follows "Debate as Reward: A Multi-Agent Reward System for Scientific Ideation via RL Post-Training"."""

__all__: list[str] = []
