"""What counts among several notices about one paper."""

from collections.abc import Mapping, Sequence

from assayer.models import Retraction

__all__ = ["gravest_retraction"]

_GRAVITY: Mapping[str, int] = {"retracted": 0, "withdrawn": 1, "concern": 2}


def gravest_retraction(notices: Sequence[Retraction]) -> Retraction:
    """The gravest of at least one; of equals the one that says more, then the first."""
    return min(notices, key=lambda one: (_GRAVITY[one.kind], not one.notice, one.date is None))
