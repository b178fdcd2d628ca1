"""Service on Ray Serve: its pools, and access to the engine parts that run in them."""
