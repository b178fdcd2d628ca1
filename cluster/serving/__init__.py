"""Service on Ray Serve: its pools, and access to the parts of an engine through them."""
