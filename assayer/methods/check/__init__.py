"""Check: an evidence report without a language model, for readers who write the review themselves.

Only the options are exported here, so that reading the settings loads none of the implementation.
"""

from assayer.methods.check.options import METHOD, CheckOptions

__all__ = ["METHOD", "CheckOptions"]
