"""The services outside, simulated: one separate process that serves twins of all of them on one loopback port.

`python -m simulator.outside` starts it; `simulator.outside.process.OutsideWorld` does so from
Python. README.md says how to use it and how to add a service.
"""
