"""Check method: an evidence report without a language model, for people who write the review themselves.

Only the options are exported here, so that reading the settings does not load the implementation.
"""

from assayer.methods.check.options import METHOD, CheckOptions

__all__ = ["METHOD", "CheckOptions"]
