"""Services that hand out data sets, simulated: Semantic Scholar's releases, arXiv's OAI-PMH, OpenAlex's bucket."""
