"""A persona. It has no human name, age, origin or sex: none of them may move a score."""

from typing import Annotated

from pydantic import Field

from assayer.models import Familiarity, Frozen

__all__ = ["Persona"]


class Persona(Frozen):
    name: str = Field(
        min_length=5, max_length=70, description="What kind of reviewer, e.g. Field ecologist with long series."
    )
    field: str = Field(min_length=3, max_length=40)
    role: str = Field(min_length=3, max_length=40)
    topics: tuple[Annotated[str, Field(min_length=3, max_length=40)], ...] = Field(min_length=3, max_length=12)
    """Words and phrases, lower-case, that show in a text that it touches this reviewer's own ground."""
    background: str = Field(min_length=60, max_length=900)
    goal: str = Field(min_length=40, max_length=500)
    """What this reviewer wants a review to bring about."""
    constraints: str = Field(min_length=40, max_length=500)
    """Habits and limits: what is always checked, what is not this reviewer's to judge."""
    familiarity: Familiarity
