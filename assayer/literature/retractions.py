"""Choose among several retraction notices about one paper."""

from collections.abc import Mapping, Sequence

from assayer.models import Retraction

_GRAVITY: Mapping[str, int] = {"retracted": 0, "withdrawn": 1, "concern": 2}


def gravest_retraction(notices: Sequence[Retraction]) -> Retraction:
    """Return the most serious of the notices, of which there must be at least one. Among equally serious notices, the
    more detailed one wins, then the first."""
    return min(notices, key=lambda notice: (_GRAVITY[notice.kind], not notice.notice, notice.date is None))
