"""People's opinions of the proposals of a call: conflicts of interest, assignment, agreement, decisions."""
