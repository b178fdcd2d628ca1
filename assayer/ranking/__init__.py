"""Many ideas in order: pairwise comparisons by a language model, Bradley–Terry strengths, intervals, bands at a cut.

`rank_ideas` is in `assayer.ranking.pipeline`: its libraries take long to import, and settings need only the options.
"""

from assayer.ranking.options import DEFAULT_DIMENSIONS, RankingOptions
from assayer_client.rankings import Dimension

__all__ = ["DEFAULT_DIMENSIONS", "Dimension", "RankingOptions"]
