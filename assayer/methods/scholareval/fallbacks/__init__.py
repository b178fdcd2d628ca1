"""What each task answers when no LLM is configured: extracts, matched by sentence embeddings.

Nothing here pretends to judge. Methods and dimensions are the idea's own sentences; readings are the paper's
own sentences, the ones nearest to the method; scores measure overlap with what was found, and say so.
"""

from assayer.methods.scholareval.fallbacks.contribution import comparison, dimensions, synthesis
from assayer.methods.scholareval.fallbacks.first_look import first_look
from assayer.methods.scholareval.fallbacks.soundness import methods, reading, review, summary

__all__ = ["comparison", "dimensions", "first_look", "methods", "reading", "review", "summary", "synthesis"]
