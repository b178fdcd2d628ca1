"""The domain of assayer: what an idea, a paper, a review and a report are, and how methods judge.

Nothing in here knows HTTP, SQL, FAISS or Ray: methods reach the backends outside through `assayer.ports`.
"""

from importlib.metadata import version

__version__ = version("assayer")
