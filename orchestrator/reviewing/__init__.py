"""Reviews of a call's proposals by people: conflicts of interest, assignment, agreement, decisions."""
