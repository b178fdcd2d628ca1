"""Chaos test: kills the service's processes while it works, checks that no evaluation is lost or duplicated, and
measures the cost."""
