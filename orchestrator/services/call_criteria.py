"""Conversion of criteria in requests to the form that evaluations use."""

import json
from collections.abc import Sequence

from pydantic import ValidationError

from assayer.models import Criterion
from assayer_client.evaluations import CriterionBody
from orchestrator.problems import HttpProblem
from orchestrator.validation_wording import describe_validation_error


def parse_criterion_bodies(bodies: Sequence[CriterionBody], pointer: str) -> tuple[Criterion, ...]:
    """Convert the criteria in a request body. `pointer` is their location. Raises HttpProblem if a criterion is invalid
    or a name occurs twice."""
    names = [body.name.casefold() for body in bodies]
    criteria = []
    for number, body in enumerate(bodies):
        try:
            criteria.append(Criterion.model_validate(body.model_dump()))
        except ValidationError as error:
            detail = describe_validation_error(error.errors(include_url=False)[0])
            message = f"{body.name}: anchors must describe scores from 1 to 10. {detail}"
            raise HttpProblem.invalid(message, f"{pointer}/{number}/anchors") from error
        if names.index(names[number]) < number:
            raise HttpProblem.invalid(f"Another criterion is already called {body.name}.", f"{pointer}/{number}/name")
    return tuple(criteria)


def format_criteria_toml(bodies: Sequence[CriterionBody]) -> str:
    """Return criteria as TOML that `parse_criteria` can parse; empty if there are none."""
    return "\n".join(_format_criterion(body) for body in bodies)


def _format_criterion(body: CriterionBody) -> str:
    """Return a criterion as a TOML entry. JSON strings are also valid TOML strings."""
    anchors = ", ".join(f"{score} = {_quote(body.anchors[score])}" for score in sorted(body.anchors, key=int))
    lines = [
        "[[criteria]]",
        f"name = {_quote(body.name)}",
        f"question = {_quote(body.question)}",
        *([f"anchors = {{ {anchors} }}"] if anchors else []),
        f"weight = {body.weight:g}",
    ]
    return "\n".join(lines) + "\n"


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
