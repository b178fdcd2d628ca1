"""Names and claims of a paper, read by a language model and held against its title and abstract."""
