"""Templates and the style sheet of the reports."""
