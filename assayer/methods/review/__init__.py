"""Review: a panel of referees, the literature on their points, and one editor who writes a short review.

Only the options are exported here, so that reading the settings loads none of the implementation."""

from assayer.methods.review.options import METHOD, ReviewOptions

__all__ = ["METHOD", "ReviewOptions"]
