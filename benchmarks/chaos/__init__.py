"""Kills the service's processes while it works, and counts what that cost: nothing may be lost or done twice."""
