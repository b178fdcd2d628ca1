"""Criteria of a call for proposals: judged from a report's findings, or by a method itself, and shown as a part of the
report."""
