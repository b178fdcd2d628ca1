"""The graph of labelled ideas: its records, its arrays, how it grows, and the part of it around one idea."""
