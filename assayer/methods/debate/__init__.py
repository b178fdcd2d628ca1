"""Debate as reward: whether an idea matches the core methodology of a reference, judged by seats that debate it.

After "Debate as Reward: A Multi-Agent Reward System for Scientific Ideation via RL Post-Training".
"""

__all__: list[str] = []
