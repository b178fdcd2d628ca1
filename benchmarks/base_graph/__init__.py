"""What the graph of a corpus costs: building it, keeping it, walking along it."""
