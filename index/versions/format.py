"""What a build makes of the same records, as one word: a version made otherwise counts as another release's."""

import hashlib

from index import fit
from index.segments import passages, tuning, words

__all__ = ["FORMAT"]

_CODE = 5
"""Raised with every change of the code that changes what is built; a test on known records notices."""
_CONSTANTS = (tuning.TUNING, fit.STATISTIC, words.TOKENIZER, passages.PASSAGE_WORDS, fit.SAMPLE)

FORMAT = f"{_CODE}-{hashlib.sha256(repr(_CONSTANTS).encode()).hexdigest()[:12]}"
"""Changes by itself with the constants."""
