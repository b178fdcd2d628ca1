"""A simulator of an OpenAI-compatible endpoint: a separate process that answers over HTTP on loopback.

`python -m simulator --port 0` starts one; `simulator.process.Simulator` does so from
Python. See README.md for the knobs and what is and is not simulated.
"""
