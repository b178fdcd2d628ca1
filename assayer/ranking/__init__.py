"""Many ideas in order: pairwise comparisons by a language model, Bradley–Terry strengths, intervals, bands at a cut."""

from assayer.models.ranking import Dimension
from assayer.ranking.options import DIMENSIONS, Options
from assayer.ranking.pipeline import Ranked, rank
from assayer.ranking.tasks import COMPARISON

__all__ = ["COMPARISON", "DIMENSIONS", "Dimension", "Options", "Ranked", "rank"]
