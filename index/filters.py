"""Which papers a search is about, besides its words."""

from assayer.models import Filters

__all__ = ["EVERYTHING", "Filters"]

EVERYTHING = Filters()
