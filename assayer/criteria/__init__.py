"""The funder's criteria from a call for proposals. They are judged from a report's findings, or by the method itself,
and shown as one part of the report."""
