"""Options for a ranking."""

from typing import Self

from pydantic import Field, model_validator

from assayer.models import Frozen
from assayer_client.rankings import Dimension

DEFAULT_DIMENSIONS = (
    Dimension(
        name="novelty",
        question="Which idea, if it succeeds, would teach its field something that it does not know yet? A "
        "finding, a concept and a method can each be new; what counts is how much one could do or see "
        "that one could not before. A new combination is new as far as the plan says what only the "
        "combination shows. An honest name for a known part costs nothing; a new name for a known whole "
        "gains nothing.",
    ),
    Dimension(
        name="feasibility",
        question="Which idea could its authors carry out as described: data that exist or can be collected, "
        "methods that fit the question, effort in proportion? A step on which all depends and that the "
        "plan does not explain counts against it.",
    ),
    Dimension(
        name="effectiveness",
        question="Which idea, carried out as described, is more likely to end with its stated aim shown to be "
        "reached? What speaks for it is a way of working that leads to the aim, and a test that could come out "
        "against it: without such a test nothing is shown.",
    ),
    Dimension(
        name="overall",
        question="Which idea deserves to be carried out first? One with a flaw that would defeat it (its aim "
        "could not be reached or shown, and no small change of the plan would mend that) comes after one without; "
        "else weigh what would be gained if it succeeds, for whomever it serves, together with its chance to. Not "
        "the sum of the other verdicts.",
    ),
)


class RankingOptions(Frozen):
    dimensions: tuple[Dimension, ...] = Field(default=DEFAULT_DIMENSIONS, min_length=1)
    order_by: str = "overall"
    comparisons_per_idea: float = Field(default=10.0, gt=0)
    """Number of comparisons divided by the number of ideas; each idea takes part in twice as many."""
    both_ways: float = Field(default=0.1, ge=0, le=0.5)
    """Share of the comparisons that repeat an informative pair in the opposite order."""
    confidence: float = Field(default=0.95, gt=0.5, lt=1)
    """Confidence level for intervals and for the bands around the cut."""
    idea_chars: int = Field(default=6_000, ge=500)
    """Maximum number of characters shown per idea."""
    evidence_chars: int = Field(default=3_000, ge=500)
    """Maximum number of characters of a report's findings shown per idea, if reports are used as evidence."""
    analysed_ideas: int = Field(default=0, ge=0, le=12)
    """Maximum number of ideas at which the ranking ends with a group analysis, which costs one more LLM request; 0 for
    no analysis."""
    seed: int = 0

    @model_validator(mode="after")
    def _ordered_by_a_dimension(self) -> Self:
        names = [dimension.name for dimension in self.dimensions]
        if len(set(names)) != len(names):
            raise ValueError("two dimensions have the same name")
        if self.order_by not in names:
            raise ValueError(
                f"order_by names an unknown dimension, {self.order_by!r}; the dimensions are {', '.join(names)}"
            )
        return self
