"""Soak test: mixed traffic for a long time, watched for leaks, growing tables and slower answers."""
