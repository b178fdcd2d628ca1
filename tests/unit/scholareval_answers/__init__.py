"""Deterministic answers to the tasks of ScholarEval, which stand in for a language model in tests."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from tests.unit.scholareval_answers.contribution import comparison, dimensions, synthesis
from tests.unit.scholareval_answers.first_look import first_look
from tests.unit.scholareval_answers.soundness import methods, reading, review, summary

__all__ = ["ANSWERS", "comparison", "dimensions", "first_look", "methods", "reading", "review", "summary", "synthesis"]

ANSWERS: Mapping[str, Callable[..., Awaitable[Any]]] = {
    f"scholareval.{item.__name__}": item
    for item in (methods, first_look, reading, review, summary, dimensions, comparison, synthesis)
}
