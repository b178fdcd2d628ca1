"""Simulated external services: one separate process that serves all of them on one loopback port.

`python -m simulator.outside` starts it; `simulator.outside.process.OutsideWorld` starts it from Python. README.md
describes how to use it and how to add a service.
"""
