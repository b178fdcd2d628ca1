"""Templates and style sheets for the reports."""
