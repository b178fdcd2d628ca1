"""Choose between several retraction notices for one paper."""

from collections.abc import Mapping, Sequence

from assayer.models import Retraction

_SEVERITY_RANKS: Mapping[str, int] = {"retracted": 0, "withdrawn": 1, "concern": 2}


def choose_most_serious_retraction(notices: Sequence[Retraction]) -> Retraction:
    """Return the most serious notice; `notices` must not be empty. Ties go to the more detailed notice, then to the
    first."""
    return min(notices, key=lambda notice: (_SEVERITY_RANKS[notice.kind], not notice.notice, notice.date is None))
