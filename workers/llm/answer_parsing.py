"""Parse a completion into a valid object or a typed fault, without guessing.

Every completion yields at most one fault. A `wrapped` or `coerced` fault comes with a value, because the content was
complete and only its form differed from the request. Any other fault comes without a value, with errors for the
model."""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Generic, Literal, NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic.json_schema import SkipJsonSchema

from assayer.models import Fault, FaultKind
from workers.llm.completion import Completion
from workers.llm.error_body import clip_line

_HIDDEN_MARKER: Any = SkipJsonSchema
"""Marker for fields that are omitted from a schema."""
_TEXT = r'"[^"\\]*(?:\\.[^"\\]*)*'
"""Matches a JSON string without its closing quote."""
_OBJECT_START = re.compile(rf'\{{\s*(?:\}}|{_TEXT}"\s*(?::|$)|{_TEXT}\\?$|$)', re.DOTALL)
"""Matches the start of a JSON object: `{` and a key, `{}`, or `{` at the end of the text. A brace in prose does not
match."""
_STRING_OR_BRACKET = re.compile(rf'{_TEXT}"|["{{}}\[\]]', re.DOTALL)
MAX_OBJECTS = 20
"""Maximum number of different objects in one text. A text with more is rejected as an answer."""
_REASONING_TAGS = r"(?:[a-z]+:)?(?:think|thinking|thoughts?|reasoning|reflection|analysis|scratchpad)"
_REASONING_START = re.compile(
    rf"\s*(?:<{_REASONING_TAGS}>|\[THINK\]|◁think▷|<\|begin_of_thought\|>|(?:<\|start\|>assistant)?<\|channel\|>(?!final))",
    re.IGNORECASE,
)
_REASONING_END = re.compile(
    rf"</{_REASONING_TAGS}>|\[/THINK\]|◁/think▷|<\|end_of_thought\|>|<\|channel\|>final[^{{]*?<\|message\|>",
    re.IGNORECASE,
)
"""Tags that models put around reasoning. Some models send only the closing tag, because their chat template contains
the opening one."""


class JsonObjects(NamedTuple):
    """Outermost JSON objects in a text. An object inside a broken object is never used as the answer."""

    objects: tuple[str, ...]
    """Texts of the complete objects, in order, without duplicates; empty if any object is broken."""
    is_bare: bool
    """Whether the text is a single object and nothing else."""
    broken: Literal["no", "invalid", "truncated"]
    error: str
    """Why an object is broken."""
    repair_note: str = ""
    """JSON syntax error that was corrected without changing the content; empty if there was none."""


class _DuplicateKey(ValueError):
    pass


def _require_unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        keys = [key for key, _ in pairs]
        duplicate = next(key for key in keys if keys.count(key) > 1)
        raise _DuplicateKey(f"the key {json.dumps(duplicate)} appears twice in one object")
    return result


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_require_unique_keys, parse_constant=_refuse_constant)
_LENIENT_DECODER = json.JSONDecoder(
    object_pairs_hook=_require_unique_keys, parse_constant=_refuse_constant, strict=False
)
"""Decoder that also accepts line breaks and tabs in strings."""
_TRAILING_COMMA = re.compile(rf'({_TEXT}")|,(?=\s*[\]}}])', re.DOTALL)
"""Matches a string, or a comma before a closing bracket."""


def find_json_objects(text: str) -> JsonObjects:
    """Find JSON objects in a text, skipping code fences, prose, and reasoning up to its last closing tag."""
    answer_text = _strip_reasoning(text)
    if answer_text is None:
        return JsonObjects((), False, "truncated", "the thought before the answer is not closed")
    try:
        objects = _find_distinct_objects(answer_text, _DECODER)
    except _BrokenObject as broken:
        with suppress(_BrokenObject):
            without_commas = _TRAILING_COMMA.sub(lambda match: match[1] or "", answer_text)
            repaired = tuple(json.dumps(value) for _, value in _find_distinct_objects(without_commas, _LENIENT_DECODER))
            return JsonObjects(repaired, False, "no", "", f"not quite JSON: {broken}")
        return JsonObjects((), False, "truncated" if broken.cut else "invalid", str(broken))
    spans = tuple(span for span, _ in objects)
    return JsonObjects(spans, len(spans) == 1 and spans[0] == text.strip(), "no", "")


def _find_distinct_objects(text: str, decoder: json.JSONDecoder) -> list[tuple[str, Any]]:
    """Return the different outermost objects with their text. Raises _BrokenObject if one cannot be parsed."""
    objects: list[tuple[str, Any]] = []
    for start, end, value in _decode_objects(text, decoder):
        if all(value != other_value for _, other_value in objects):
            objects.append((text[start:end], value))
        if len(objects) > MAX_OBJECTS:
            raise _BrokenObject(f"there are more than {MAX_OBJECTS} objects")
    return objects


def _strip_reasoning(text: str) -> str | None:
    """Return the text after the last closing tag of reasoning; None if reasoning is not closed. Tags inside complete
    objects, such as in a quote, are ignored."""
    ends = [match.span() for match in _REASONING_END.finditer(text)]
    if not ends:
        return None if _REASONING_START.match(text) else text
    objects: list[tuple[int, int]] = []
    with suppress(_BrokenObject):  # in the reasoning or the answer; later tags are outside complete objects
        for object_start, object_end, _ in _decode_objects(text):
            objects.append((object_start, object_end))
    outer_ends = [
        end for start, end in ends if not any(object_start < start < object_end for object_start, object_end in objects)
    ]
    return text[max(outer_ends, default=0) :]


class _BrokenObject(ValueError):
    def __init__(self, message: str, cut: bool = False) -> None:
        super().__init__(message)
        self.cut = cut
        """Whether the text ends before the object does."""


def _decode_objects(text: str, decoder: json.JSONDecoder = _DECODER) -> Iterator[tuple[int, int, Any]]:
    """Yield the start, end and value of each outermost object. Raises _BrokenObject at an object that cannot be
    parsed."""
    position = 0
    while (start := text.find("{", position)) >= 0:
        if _OBJECT_START.match(text, start) is None:
            position = _find_closing_bracket(text, start) or len(text)
            # A bracketed text that contains an object but does not begin like one has probably lost its beginning.
            if _OBJECT_START.search(text, start + 1, position):
                raise _BrokenObject("an object does not begin with a key in double quotes")
            continue
        try:
            value, position = decoder.raw_decode(text, start)
        except (ValueError, RecursionError) as problem:
            raise _BrokenObject(_describe_decoding_error(problem), _find_closing_bracket(text, start) is None) from None
        yield start, position, value


def _find_closing_bracket(text: str, start: int) -> int | None:
    """Return the position after the bracket that matches the one at `start`, or None if it is never closed."""
    depth = 0
    for match in _STRING_OR_BRACKET.finditer(text, start):
        character = match[0]
        if character == '"':
            return None
        if character in "{[":
            depth += 1
        elif character in "}]":
            depth -= 1
            if depth == 0:
                return match.end()
    return None


def _describe_decoding_error(problem: Exception) -> str:
    if isinstance(problem, json.JSONDecodeError):
        return f"{problem.msg.removesuffix(' at')} at line {problem.lineno}, column {problem.colno}"
    if isinstance(problem, RecursionError):
        return "nested too deeply"
    return str(problem)


Out = TypeVar("Out", bound=BaseModel)

_REFUSAL_START = re.compile(
    r"\W*(?:i['’]?m sorry|i am sorry|sorry\b|i apologi[sz]e|i can(?:no|['’])t\b|i am (?:not able|unable)\b|"
    r"i['’]m (?:not able|unable)\b|i won['’]t\b|i will not\b|as an ai\b)",
    re.IGNORECASE,
)
_ARGUMENT_KEYS = frozenset({"arguments", "parameters", "input"})
"""Keys in a tool call that hold the answer."""
_QUOTED_CHOICE = re.compile(r"'([^']*)'")
_MAX_REPORTED_ERRORS = 12
"""Maximum number of validation errors reported to the model at once."""


class ParsedAnswer(NamedTuple, Generic[Out]):
    value: Out | None
    fault: Fault | None
    errors: tuple[str, ...] = ()
    """Exact error messages for the model."""


class _CheckedObject(NamedTuple, Generic[Out]):
    value: Out | None
    coerced: bool = False
    errors: tuple[str, ...] = ()
    """Conversions that were needed, if the value was coerced."""


def _build_failure(kind: FaultKind, *errors: str) -> ParsedAnswer[Out]:
    detail = clip_line("; ".join(errors))
    first_errors = errors[:_MAX_REPORTED_ERRORS]
    if len(errors) > _MAX_REPORTED_ERRORS:
        first_errors = (*first_errors, f"… and {len(errors) - _MAX_REPORTED_ERRORS} more of the same kind.")
    return ParsedAnswer(None, Fault(kind=kind, detail=detail), first_errors)


def parse_answer(completion: Completion, output: type[Out]) -> ParsedAnswer[Out]:
    text = completion.text.strip().removeprefix("\ufeff")
    failure: ParsedAnswer[Out] | None = _explain_no_answer(completion, text)
    if failure is not None:
        return failure
    json_objects = find_json_objects(text)
    broken: ParsedAnswer[Out] | None = _explain_broken(json_objects, text, completion.finish_reason == "length")
    return _choose_answer(json_objects, output) if broken is None else broken


def _explain_no_answer(completion: Completion, text: str) -> ParsedAnswer[Out] | None:
    stated = f" (finish reason “{completion.stated_finish}”)" if completion.stated_finish else ""
    if completion.refusal or completion.finish_reason == "refusal":
        return _build_failure("refusal", "the model declined to answer")
    if completion.finish_reason == "content_filter":
        return _build_failure("refused_request", f"the endpoint's content filter stopped the answer{stated}")
    if text:
        return None
    if completion.finish_reason == "length":
        return _build_failure("truncated", "cut off before the answer began")
    return _build_failure("empty", f"the answer is empty{stated}")


def _explain_broken(json_objects: JsonObjects, text: str, is_cut_off: bool) -> ParsedAnswer[Out] | None:
    if json_objects.broken == "truncated" or (
        is_cut_off and (json_objects.broken == "invalid" or not json_objects.objects)
    ):
        return _build_failure("truncated", f"cut off after {len(text)} characters")
    if json_objects.broken == "invalid":
        return _build_failure("invalid_json", f"not valid JSON: {json_objects.error}")
    if json_objects.objects:
        return None
    if _REFUSAL_START.match(text):
        return _build_failure("refusal", "the model declined to answer")
    return _build_failure("invalid_json", "there is no JSON object in the answer")


def _choose_answer(json_objects: JsonObjects, output: type[Out]) -> ParsedAnswer[Out]:
    checked: list[_CheckedObject[Out]] = [_validate(text, output) for text in json_objects.objects]
    if all(item.value is None for item in checked):
        inner = [text for outer in json_objects.objects if (text := _unwrap(outer)) is not None]
        checked += [item for item in (_validate(text, output) for text in inner) if item.value is not None]
    valid = [item for item in checked if item.value is not None]
    if len(valid) > 1:
        return _build_failure("invalid_json", f"{len(valid)} different answers were given; give exactly one object")
    if not valid:
        closest = min(checked, key=lambda item: len(item.errors))
        return _build_failure("schema_violation", *closest.errors)
    value, coerced, conversions = valid[0]
    surrounding_note = (
        "" if json_objects.is_bare else json_objects.repair_note or "there was text around the JSON object"
    )
    if coerced or json_objects.repair_note:
        detail = "; ".join(filter(None, (*conversions, surrounding_note)))
        return ParsedAnswer(value, Fault(kind="coerced", detail=clip_line(detail)))
    return ParsedAnswer(value, Fault(kind="wrapped", detail=surrounding_note) if surrounding_note else None)


def _unwrap(text: str) -> str | None:
    """Return the object inside a wrapper that holds nothing else: an object with one key, or a tool call. Returns None
    if it is not such a wrapper."""
    outer = json.loads(text)
    keys = outer.keys() - {"name", "type", "id"} if outer.keys() & _ARGUMENT_KEYS else outer.keys()
    if len(keys) != 1:
        return None
    inner = outer[next(iter(keys))]
    if isinstance(inner, str):
        with suppress(ValueError, RecursionError):
            inner = _LENIENT_DECODER.decode(inner)
    return json.dumps(inner) if isinstance(inner, dict) else None


def _validate(text: str, output: type[Out]) -> _CheckedObject[Out]:
    """Validate strictly first, then with lossless conversions, such as from numbers in strings."""
    try:
        value = output.model_validate_json(text, strict=True)
    except ValidationError as strict_errors:
        errors = _describe_error(strict_errors)
        text = _correct_choices(text, strict_errors)
    else:
        missing = tuple(_find_missing_fields(value, ""))
        return _CheckedObject(None, errors=missing) if missing else _CheckedObject(value)
    try:
        value = output.model_validate_json(text, strict=False)
        # Reject conversions to values that JSON cannot represent, such as NaN.
        output.model_validate_json(value.model_dump_json(by_alias=True), strict=True)
    except ValidationError:
        return _CheckedObject(None, errors=errors)
    missing = tuple(_find_missing_fields(value, ""))
    return _CheckedObject(None, errors=(*errors, *missing)) if missing else _CheckedObject(value, True, errors)


def _correct_choices(text: str, error: ValidationError) -> str:
    """Return the object with the spelling of choices corrected, if it differs only in case, spaces or hyphens."""
    wrong_choices = [
        detail for detail in error.errors(include_url=False) if detail["type"] in ("literal_error", "enum")
    ]
    if not wrong_choices:
        return text
    answer = json.loads(text)
    for detail in wrong_choices:
        allowed = _QUOTED_CHOICE.findall(detail.get("ctx", {}).get("expected", ""))
        matches = [choice for choice in allowed if _fold_choice(choice) == _fold_choice(detail["input"])]
        container = answer
        with suppress(LookupError, TypeError):  # a step that pydantic adds for the options of a union
            *path, last_step = detail["loc"]
            for step in path:
                container = container[step]
            if len(matches) == 1 and container[last_step] == detail["input"]:
                container[last_step] = matches[0]
    return json.dumps(answer)


def _fold_choice(choice: object) -> str | None:
    """Return a choice in a normalised form, equal for all its spellings; None if it is not a string."""
    return re.sub(r"[\s_-]+", " ", choice.strip()).casefold() if isinstance(choice, str) else None


def _describe_error(error: ValidationError) -> tuple[str, ...]:
    return tuple(
        f"{'.'.join(str(step) for step in detail['loc']) or 'answer'}: {detail['msg']}"
        for detail in error.errors(include_url=False, include_input=False, include_context=False)
    )


def _find_missing_fields(value: object, prefix: str) -> list[str]:
    """Return the fields that the model left out and that were filled with a default, because a default is not the
    model's answer. Fields hidden from the schema are not required."""
    if isinstance(value, BaseModel):
        fields = {
            name: model_field for name, model_field in type(value).model_fields.items() if not _is_hidden(model_field)
        }
        missing = [f"{prefix}{name}: Field required" for name in fields if name not in value.model_fields_set]
        return missing + [
            line for name in fields for line in _find_missing_fields(getattr(value, name), f"{prefix}{name}.")
        ]
    if isinstance(value, list | tuple):
        return [line for i, item in enumerate(value) for line in _find_missing_fields(item, f"{prefix}{i}.")]
    return []


def _is_hidden(field: FieldInfo) -> bool:
    return any(isinstance(item, _HIDDEN_MARKER) for item in field.metadata)
