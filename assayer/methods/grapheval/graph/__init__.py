"""The graph of labelled ideas: its records, its arrays, its growth, and the subgraph around an idea."""
