"""Pydantic errors in plain sentences, for problem documents and for messages next to forms."""

from collections.abc import Mapping
from typing import Any

_NOT_A_WHOLE_NUMBER, _NOT_A_NUMBER = "It must be a whole number.", "It must be a number."
_NOT_A_TIME = "It must be a time, such as 2026-01-31T12:00:00Z, or a date."
_MESSAGES = {
    "missing": "It is required.",
    "extra_forbidden": "This field is unknown.",
    **dict.fromkeys(("model_attributes_type", "model_type", "dict_type"), "It must be an object."),
    **dict.fromkeys(("tuple_type", "list_type"), "It must be a list."),
    **dict.fromkeys(("date_from_datetime_parsing", "date_parsing"), "It must be a date, such as 2026-01-31."),
    **dict.fromkeys(("datetime_from_date_parsing", "datetime_parsing"), _NOT_A_TIME),
    **dict.fromkeys(("int_parsing", "int_type", "int_from_float"), _NOT_A_WHOLE_NUMBER),
    **dict.fromkeys(("float_parsing", "float_type"), _NOT_A_NUMBER),
    **dict.fromkeys(("bool_parsing", "bool_type"), "It must be true or false."),
    "finite_number": "It must be a finite number.",
    "string_type": "It must be text.",
    "string_unicode": "It contains an incomplete character (a lone surrogate).",
}
_BOUNDS = {
    "greater_than": "greater than {gt}",
    "greater_than_equal": "at least {ge}",
    "less_than": "less than {lt}",
    "less_than_equal": "at most {le}",
    "literal_error": "{expected}",
}
_LENGTHS = {
    "string_too_short": ("min_length", "character"),
    "string_too_long": ("max_length", "character"),
    "too_short": ("min_length", "item"),
    "too_long": ("max_length", "item"),
}
_PATTERNS = {
    **dict.fromkeys((r"^[^\n\r]*$", r"^[^\x00-\x1f]*$"), "It must be one line of text."),
    r"^[A-Z]{3}$": "It must be three capital letters, such as EUR.",
}


def describe_validation_error(error: Mapping[str, Any]) -> str:
    """Return a sentence that states what is wrong with a value. `error` is an item from `ValidationError.errors()`."""
    kind, context = error["type"], error.get("ctx", {})
    if kind in _BOUNDS:
        whole_numbers = {
            name: int(value) for name, value in context.items() if isinstance(value, float) and value % 1 == 0
        }
        return f"It must be {_BOUNDS[kind].format_map(context | whole_numbers)}."
    if kind in _LENGTHS:
        return _describe_length_error(context, *_LENGTHS[kind])
    if kind == "string_pattern_mismatch" and context["pattern"] in _PATTERNS:
        return _PATTERNS[context["pattern"]]
    return _MESSAGES.get(kind) or _format_sentence(str(error["msg"]))


def _describe_length_error(context: Mapping[str, Any], bound: str, unit: str) -> str:
    limit = context[bound]
    count = f"{limit:,} {unit}{'s' * (limit != 1)}"
    if bound == "min_length":
        return f"It must have at least {count}."
    if unit == "item":
        count += f", not {context['actual_length'] or 'more'}"
    return f"It may have at most {count}."


def _format_sentence(message: str) -> str:
    """Return Pydantic's message, such as `Value error, The name must be one line`, as a sentence."""
    sentence = message.removeprefix("Value error, ").replace("Input should", "It must")
    sentence = sentence.replace("String should", "It must").strip()
    return sentence if sentence.endswith(".") else f"{sentence}."
