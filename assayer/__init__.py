"""The domain of assayer: what an idea, a paper, a review and a report are, and how methods judge.

Nothing in here knows HTTP, SQL, FAISS or Ray: methods ask the world through `assayer.ports`.
"""

from importlib.metadata import version

__version__ = version("assayer")
