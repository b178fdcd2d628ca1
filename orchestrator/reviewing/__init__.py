"""Review of a call's proposals by people: conflicts of interest, assignment, agreement and decisions."""
