"""Criteria of a call for proposals."""

from typing import Annotated

from pydantic import Field, StringConstraints

from assayer.models.base import Frozen

CRITERIA = "criteria"
"""Name of the report part that answers a call's criteria."""
MOST_CRITERIA = 12
Line = Annotated[str, StringConstraints(strip_whitespace=True, pattern=r"^[^\n\r]*$")]


class Criterion(Frozen):
    """Question of a call for proposals that a report answers with a score from 1 to 10."""

    name: Annotated[Line, Field(min_length=2, max_length=60)]
    question: Annotated[Line, Field(min_length=10, max_length=600)]
    anchors: dict[Annotated[int, Field(ge=1, le=10)], Annotated[Line, Field(min_length=2, max_length=300)]] = Field(
        default_factory=dict
    )
    """Meaning of some scores; the meaning of any other score lies between those of its neighbours."""
    weight: float = Field(default=1.0, gt=0, le=100, allow_inf_nan=False)
    """Weight in the mean of all criteria."""

    @property
    def text(self) -> str:
        """Return the criterion in one line, with its anchors in order."""
        anchors = "".join(f" {score}: {meaning};" for score, meaning in sorted(self.anchors.items()))
        return f"{self.name}: {self.question}{anchors}".rstrip(";")
