"""Debate as reward: agents in different roles debate whether an idea matches the core methodology of a reference paper.

It follows "Debate as Reward: A Multi-Agent Reward System for Scientific Ideation via RL Post-Training"."""

__all__: list[str] = []
