"""Every remote source against its twin, over real HTTP: what holds for all is in `test_every_source.py`."""
