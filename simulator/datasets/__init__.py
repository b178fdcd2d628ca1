"""Simulated services that distribute data sets: Semantic Scholar's releases, arXiv's OAI-PMH, OpenAlex's bucket."""
