"""Simulator of an OpenAI-compatible endpoint: a separate process that answers over HTTP on loopback.

`python -m simulator --port 0` starts it; `simulator.process.Simulator` starts it from Python. README.md describes the
settings, and what is and is not simulated.
"""
