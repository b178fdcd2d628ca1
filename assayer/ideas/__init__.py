"""Ideas from text and from JSON records."""
