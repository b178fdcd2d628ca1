"""Review method: a panel of referees (language models), the literature on their points, and an editor model that writes
a short review.

Only the options are exported here, so that reading the settings does not load the implementation."""

from assayer.methods.review.options import METHOD, ReviewOptions

__all__ = ["METHOD", "ReviewOptions"]
