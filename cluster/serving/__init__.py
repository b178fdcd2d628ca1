"""Service on Ray Serve: its pools of processes, and access to the engine components that run in them."""
