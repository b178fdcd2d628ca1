"""Work on the paper corpus that is spread over a Ray cluster."""
