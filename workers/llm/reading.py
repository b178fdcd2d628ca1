"""Reading an answer: a valid object or a typed fault, never a guess.

Every completion gives at most one fault. `wrapped` and `coerced` faults come with a value: the content was
whole, only its form was not what was asked for. All others come without one and with errors for the model.
"""

import re
from typing import Generic, NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError

from assayer.models import Fault, FaultKind
from workers.llm.completion import Completion
from workers.llm.objects import Found, find_objects

__all__ = ["Reading", "one_line", "read"]

Out = TypeVar("Out", bound=BaseModel)

_DECLINED = re.compile(
    r"\W*(?:i['’]?m sorry|i am sorry|sorry\b|i apologi[sz]e|i can(?:no|['’])t\b|i am (?:not able|unable)\b|"
    r"i['’]m (?:not able|unable)\b|i won['’]t\b|i will not\b|as an ai\b)",
    re.IGNORECASE,
)
_SHOWN = 12
"""Validation errors told to the model at once."""


class Reading(NamedTuple, Generic[Out]):
    value: Out | None
    fault: Fault | None
    errors: tuple[str, ...] = ()
    """What to tell the model, exactly."""


class _Checked(NamedTuple, Generic[Out]):
    value: Out | None
    coerced: bool = False
    errors: tuple[str, ...] = ()
    """With a coerced value: what had to be converted."""


def one_line(text: str, limit: int = 200) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def _failed(kind: FaultKind, *errors: str) -> Reading[Out]:
    detail = one_line("; ".join(errors))
    shown = errors[:_SHOWN]
    if len(errors) > _SHOWN:
        shown = (*shown, f"… and {len(errors) - _SHOWN} more of the same kind.")
    return Reading(None, Fault(kind=kind, detail=detail), shown)


def read(completion: Completion, output: type[Out]) -> Reading[Out]:
    text = completion.text.strip().removeprefix("\ufeff")
    unsaid: Reading[Out] | None = _unsaid(completion, text)
    if unsaid is not None:
        return unsaid
    found = find_objects(text)
    broken: Reading[Out] | None = _broken(found, text, completion.finish_reason == "length")
    return _choose(found, output) if broken is None else broken


def _unsaid(completion: Completion, text: str) -> Reading[Out] | None:
    if completion.refusal:
        return _failed("refusal", "the model declined to answer")
    if completion.finish_reason == "content_filter":
        return _failed("refusal", "the endpoint's content filter stopped the answer")
    if text:
        return None
    if completion.finish_reason == "length":
        return _failed("truncated", "cut off before the answer began")
    return _failed("empty", "the answer is empty")


def _broken(found: Found, text: str, cut: bool) -> Reading[Out] | None:
    if found.broken == "truncated" or (cut and (found.broken == "invalid" or not found.objects)):
        return _failed("truncated", f"cut off after {len(text)} characters")
    if found.broken == "invalid":
        return _failed("invalid_json", f"not valid JSON: {found.error}")
    if found.objects:
        return None
    if _DECLINED.match(text):
        return _failed("refusal", "the model declined to answer")
    return _failed("invalid_json", "there is no JSON object in the answer")


def _choose(found: Found, output: type[Out]) -> Reading[Out]:
    checked: list[_Checked[Out]] = [_check(text, output) for text in found.objects]
    fitting = [one for one in checked if one.value is not None]
    if len(fitting) > 1:
        return _failed("invalid_json", f"{len(fitting)} different answers were given; give exactly one object")
    if not fitting:
        closest = min(checked, key=lambda one: len(one.errors))
        return _failed("schema_violation", *closest.errors)
    value, coerced, conversions = fitting[0]
    around = "" if found.bare else "there was text around the JSON object"
    if coerced:
        detail = "; ".join(filter(None, (*conversions, around)))
        return Reading(value, Fault(kind="coerced", detail=one_line(detail)))
    return Reading(value, Fault(kind="wrapped", detail=around) if around else None)


def _check(text: str, output: type[Out]) -> _Checked[Out]:
    """Strictly first; then with numbers in strings and the like converted, as long as nothing is lost."""
    try:
        value = output.model_validate_json(text, strict=True)
    except ValidationError as strict_errors:
        errors = _described(strict_errors)
    else:
        missing = tuple(_missing(value, ""))
        return _Checked(None, errors=missing) if missing else _Checked(value)
    try:
        value = output.model_validate_json(text, strict=False)
        # What converts into something that JSON cannot say, such as NaN, does not count.
        output.model_validate_json(value.model_dump_json(by_alias=True), strict=True)
    except ValidationError:
        return _Checked(None, errors=errors)
    missing = tuple(_missing(value, ""))
    return _Checked(None, errors=(*errors, *missing)) if missing else _Checked(value, True, errors)


def _described(error: ValidationError) -> tuple[str, ...]:
    return tuple(
        f"{'.'.join(str(step) for step in each['loc']) or 'answer'}: {each['msg']}"
        for each in error.errors(include_url=False, include_input=False, include_context=False)
    )


def _missing(value: object, place: str) -> list[str]:
    """Fields that the model left out and a default filled: a default is ours, not the model's word."""
    if isinstance(value, BaseModel):
        fields = type(value).model_fields
        here = [f"{place}{name}: Field required" for name in fields if name not in value.model_fields_set]
        return here + [line for name in fields for line in _missing(getattr(value, name), f"{place}{name}.")]
    if isinstance(value, list | tuple):
        return [line for i, item in enumerate(value) for line in _missing(item, f"{place}{i}.")]
    return []
