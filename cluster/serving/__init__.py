"""The service on Ray Serve: which pools there are, and how the parts of an engine are reached through them."""
