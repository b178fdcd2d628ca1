"""Criteria that a call for proposals sets."""

from typing import Annotated

from pydantic import Field, StringConstraints

from assayer.models.base import Frozen

CRITERIA = "criteria"
"""Name of the report part that answers a call's criteria."""
MAX_CRITERIA = 12
Line = Annotated[str, StringConstraints(strip_whitespace=True, pattern=r"^[^\n\r]*$")]


class Criterion(Frozen):
    """Question that a call for proposals asks about each proposal, and that a report answers with a score from 1 to
    10."""

    name: Annotated[Line, Field(min_length=2, max_length=60)]
    question: Annotated[Line, Field(min_length=10, max_length=600)]
    anchors: dict[Annotated[int, Field(ge=1, le=10)], Annotated[Line, Field(min_length=2, max_length=300)]] = Field(
        default_factory=dict
    )
    """Meanings of some scores. Any other score means something between its nearest neighbours."""
    weight: float = Field(default=1.0, gt=0, le=100, allow_inf_nan=False)
    """Weight in the mean of all criteria."""

    @property
    def text(self) -> str:
        """Criterion on one line, with its anchors in order of score."""
        anchors = "".join(f" {score}: {meaning};" for score, meaning in sorted(self.anchors.items()))
        return f"{self.name}: {self.question}{anchors}".rstrip(";")
