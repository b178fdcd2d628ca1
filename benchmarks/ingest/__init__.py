"""What ingest costs: lines and papers a second, and the most memory, on real papers copied many times."""
