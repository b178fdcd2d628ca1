"""Errors of Pydantic in the program's own words."""

import datetime as dt
from typing import Annotated, Any, Literal

import pytest
from pydantic import AfterValidator, Field, TypeAdapter, ValidationError

from orchestrator.validation_wording import describe_validation_error


def _refuse(value: str) -> str:
    raise ValueError(f"The name {value} is taken")


@pytest.mark.parametrize(
    ("kind", "value", "words"),
    [
        (Annotated[str, Field(min_length=10)], "Why?", "It must have at least 10 characters."),
        (Annotated[str, Field(min_length=1)], "", "It must have at least 1 character."),
        (Annotated[str, Field(max_length=2)], "Why?", "It may have at most 2 characters."),
        (Annotated[list[int], Field(min_length=1)], [], "It must have at least 1 item."),
        (Annotated[list[int], Field(max_length=1)], [1, 2], "It may have at most 1 item, not 2."),
        (Annotated[int, Field(le=10)], 11, "It must be at most 10."),
        (Annotated[float, Field(gt=0)], 0, "It must be greater than 0."),
        (int, "many", "It must be a whole number."),
        (int, 1.5, "It must be a whole number."),
        (float, "many", "It must be a number."),
        (bool, "many", "It must be true or false."),
        (dt.date, "soon", "It must be a date, such as 2026-01-31."),
        (Literal["fund", "decline"], "wait", "It must be 'fund' or 'decline'."),
        (Annotated[str, Field(pattern=r"^[^\n\r]*$")], "one\ntwo", "It must be one line of text."),
        (Annotated[str, Field(pattern=r"^[A-Z]{3}$")], "eur", "It must be three capital letters, such as EUR."),
        (Annotated[str, Field(pattern=r"^x$")], "y", "It must match pattern '^x$'."),
        (Annotated[str, AfterValidator(_refuse)], "Ada", "The name Ada is taken."),
    ],
)
def test_fault_is_stated_in_a_sentence(kind: Any, value: object, words: str) -> None:
    with pytest.raises(ValidationError) as raised:
        TypeAdapter(kind).validate_python(value)
    assert describe_validation_error(raised.value.errors(include_url=False)[0]) == words
