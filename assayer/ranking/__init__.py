"""Many ideas in order: pairwise comparisons by a language model, Bradley–Terry strengths, intervals, bands at a cut.

`rank` is in `assayer.ranking.pipeline`: what it computes with takes long to import, and settings need only the options.
"""

from assayer.models.ranking import Dimension
from assayer.ranking.options import DIMENSIONS, Options

__all__ = ["DIMENSIONS", "Dimension", "Options"]
