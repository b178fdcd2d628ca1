"""Work on the paper corpus that is distributed over a Ray cluster."""
