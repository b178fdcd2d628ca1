"""Structured output: from a pydantic model to the JSON schema that is asked for, from a completion to a valid object
or a typed fault, never a guess, and from a fault to the request that asks again.

Every completion gives at most one fault. `wrapped` and `coerced` faults come with a value: the content was
whole, only its form was not what was asked for. All others come without one and with errors for the model.
"""

import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Generic, Literal, NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic.json_schema import SkipJsonSchema

from assayer.llm import Task
from assayer.models import Fault, FaultKind, Message
from workers.llm.chat_completion import AnswerSchema, ChatMessage, ChatRequest, Completion, prompt_template
from workers.llm.errors import one_line
from workers.llm.settings import LlmSettings

__all__ = [
    "JsonObjects",
    "ParsedAnswer",
    "RepairConversation",
    "answer_schema",
    "find_json_objects",
    "parse_answer",
    "strict_schema",
]

LONGEST_QUOTED = 12_000
"""Characters of an unusable answer that are sent back with its errors."""
_NO_ANSWER = "(no answer)"
"""Stands for an empty answer: some endpoints refuse empty messages."""
_DROPPED = frozenset({"title", "default", "examples", "discriminator", "minLength", "maxLength", "uniqueItems"})
"""Keywords that strict mode refuses or that say nothing to a model. Our own validation still enforces them."""


@lru_cache(maxsize=256)
def answer_schema(output: type[BaseModel]) -> AnswerSchema:
    schema = strict_schema(output.model_json_schema())
    return AnswerSchema(schema, json.dumps(schema, ensure_ascii=False, separators=(",", ":")))


def strict_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """The same schema with every object closed, every property required, no keyword that strict mode refuses.

    Raises ValueError, naming the place, for what strict mode cannot say: open objects and mappings.
    """
    return _strict(schema, schema, "$", ())


def _strict(node: Mapping[str, Any], root: Mapping[str, Any], place: str, seen: tuple[str, ...]) -> dict[str, Any]:
    if "$ref" in node and len(node.keys() - _DROPPED) > 1:
        return _inlined(node, root, place, seen)
    result = {key: value for key, value in node.items() if key not in _DROPPED}
    if "oneOf" in result:
        result["anyOf"] = result.pop("oneOf")
    if "const" in result:
        result["enum"] = [result.pop("const")]
    if result.get("type") == "object":
        result |= _closed(result, root, place, seen)
    if isinstance(result.get("items"), Mapping):
        result["items"] = _strict(result["items"], root, f"{place}[]", seen)
    if "anyOf" in result:
        result["anyOf"] = [_strict(option, root, place, seen) for option in result["anyOf"]]
    if "$defs" in result:
        result["$defs"] = {
            name: _strict(definition, root, name, (name,)) for name, definition in result["$defs"].items()
        }
    return result


def _closed(node: Mapping[str, Any], root: Mapping[str, Any], place: str, seen: tuple[str, ...]) -> dict[str, Any]:
    if node.get("additionalProperties", True) is not False:
        raise ValueError(
            f"{place} is an open object. Answers need closed ones: a model with extra='forbid', "
            "and a list of such models in place of a mapping."
        )
    properties = {
        name: _strict(property_, root, f"{place}.{name}", seen)
        for name, property_ in node.get("properties", {}).items()
    }
    return {"properties": properties, "required": list(properties)}


def _inlined(node: Mapping[str, Any], root: Mapping[str, Any], place: str, seen: tuple[str, ...]) -> dict[str, Any]:
    """A reference may have no siblings in strict mode: the definition is copied in, unless it holds itself."""
    name = str(node["$ref"]).rpartition("/")[2]
    if name in seen:
        return {"$ref": node["$ref"]}
    siblings = {key: value for key, value in node.items() if key != "$ref"}
    return _strict({**root["$defs"][name], **siblings}, root, place, (*seen, name))


_TEXT = r'"[^"\\]*(?:\\.[^"\\]*)*'
"""A JSON string up to, but without, its closing quote."""
_OPENING = re.compile(rf'\{{\s*(?:\}}|{_TEXT}"\s*(?::|$)|{_TEXT}\\?$|$)', re.DOTALL)
"""How a JSON object begins: `{` and a key, or `{}`, or the end of the text. A brace in prose does not."""
_MARK = re.compile(rf'{_TEXT}"|["{{}}\[\]]', re.DOTALL)
MOST_OBJECTS = 20
"""Different objects in one text; more are no answer."""
_THINKING, _THOUGHT = "<think>", "</think>"


class JsonObjects(NamedTuple):
    """Outermost objects only: an object inside a broken one is never taken for the answer."""

    objects: tuple[str, ...]
    """Texts of the whole objects, in order, equal ones once. None when there is a broken one."""
    bare: bool
    """True when the text is one object and nothing else."""
    broken: Literal["no", "invalid", "truncated"]
    error: str
    """Why it is broken."""


class _DuplicateKey(ValueError):
    pass


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise _DuplicateKey(f"the key {json.dumps(twice)} appears twice in one object")
    return result


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_refuse_constant)


def find_json_objects(text: str) -> JsonObjects:
    """Looks through fences, prose and a leading thought."""
    said = text
    if text.startswith(_THINKING):
        _, closed, said = text.partition(_THOUGHT)
        if not closed:
            return JsonObjects((), False, "truncated", "the thought before the answer is not closed")
    found: list[tuple[str, Any]] = []
    at = 0
    while (start := said.find("{", at)) >= 0:
        if _OPENING.match(said, start) is None:
            at = _closing(said, start) or len(said)
            # What holds an object but does not begin like one has probably lost its beginning.
            if _OPENING.search(said, start + 1, at):
                return JsonObjects((), False, "invalid", "an object does not begin with a key in double quotes")
            continue
        try:
            value, at = _DECODER.raw_decode(said, start)
        except (ValueError, RecursionError) as problem:
            cut = _closing(said, start) is None
            return JsonObjects((), False, "truncated" if cut else "invalid", _decoding_error(problem))
        if all(value != other for _, other in found):
            found.append((said[start:at], value))
        if len(found) > MOST_OBJECTS:
            return JsonObjects((), False, "invalid", f"there are more than {MOST_OBJECTS} objects")
    objects = tuple(span for span, _ in found)
    return JsonObjects(objects, len(objects) == 1 and objects[0] == text.strip(), "no", "")


def _closing(text: str, start: int) -> int | None:
    """One past the bracket that closes the one at `start`; None when the text ends before it."""
    depth = 0
    for match in _MARK.finditer(text, start):
        mark = match[0]
        if mark == '"':
            return None
        if mark in "{[":
            depth += 1
        elif mark in "}]":
            depth -= 1
            if depth == 0:
                return match.end()
    return None


def _decoding_error(problem: Exception) -> str:
    if isinstance(problem, json.JSONDecodeError):
        return f"{problem.msg.removesuffix(' at')} at line {problem.lineno}, column {problem.colno}"
    if isinstance(problem, RecursionError):
        return "nested too deeply"
    return str(problem)


Out = TypeVar("Out", bound=BaseModel)

_DECLINED = re.compile(
    r"\W*(?:i['’]?m sorry|i am sorry|sorry\b|i apologi[sz]e|i can(?:no|['’])t\b|i am (?:not able|unable)\b|"
    r"i['’]m (?:not able|unable)\b|i won['’]t\b|i will not\b|as an ai\b)",
    re.IGNORECASE,
)
_SHOWN = 12
"""Validation errors told to the model at once."""


class ParsedAnswer(NamedTuple, Generic[Out]):
    value: Out | None
    fault: Fault | None
    errors: tuple[str, ...] = ()
    """What to tell the model, exactly."""


class _Checked(NamedTuple, Generic[Out]):
    value: Out | None
    coerced: bool = False
    errors: tuple[str, ...] = ()
    """With a coerced value: what had to be converted."""


def _failed(kind: FaultKind, *errors: str) -> ParsedAnswer[Out]:
    detail = one_line("; ".join(errors))
    shown = errors[:_SHOWN]
    if len(errors) > _SHOWN:
        shown = (*shown, f"… and {len(errors) - _SHOWN} more of the same kind.")
    return ParsedAnswer(None, Fault(kind=kind, detail=detail), shown)


def parse_answer(completion: Completion, output: type[Out]) -> ParsedAnswer[Out]:
    text = completion.text.strip().removeprefix("\ufeff")
    unsaid: ParsedAnswer[Out] | None = _not_answered(completion, text)
    if unsaid is not None:
        return unsaid
    found = find_json_objects(text)
    broken: ParsedAnswer[Out] | None = _broken(found, text, completion.finish_reason == "length")
    return _choose(found, output) if broken is None else broken


def _not_answered(completion: Completion, text: str) -> ParsedAnswer[Out] | None:
    if completion.refusal:
        return _failed("refusal", "the model declined to answer")
    if completion.finish_reason == "content_filter":
        return _failed("refusal", "the endpoint's content filter stopped the answer")
    if text:
        return None
    if completion.finish_reason == "length":
        return _failed("truncated", "cut off before the answer began")
    return _failed("empty", "the answer is empty")


def _broken(found: JsonObjects, text: str, cut: bool) -> ParsedAnswer[Out] | None:
    if found.broken == "truncated" or (cut and (found.broken == "invalid" or not found.objects)):
        return _failed("truncated", f"cut off after {len(text)} characters")
    if found.broken == "invalid":
        return _failed("invalid_json", f"not valid JSON: {found.error}")
    if found.objects:
        return None
    if _DECLINED.match(text):
        return _failed("refusal", "the model declined to answer")
    return _failed("invalid_json", "there is no JSON object in the answer")


def _choose(found: JsonObjects, output: type[Out]) -> ParsedAnswer[Out]:
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
        return ParsedAnswer(value, Fault(kind="coerced", detail=one_line(detail)))
    return ParsedAnswer(value, Fault(kind="wrapped", detail=around) if around else None)


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
    """Fields that the model left out and a default filled: a default is ours, not the model's word.

    Fields that the schema does not show were not asked for.
    """
    if isinstance(value, BaseModel):
        fields = [name for name, field in type(value).model_fields.items() if not _is_hidden(field)]
        here = [f"{place}{name}: Field required" for name in fields if name not in value.model_fields_set]
        return here + [line for name in fields for line in _missing(getattr(value, name), f"{place}{name}.")]
    if isinstance(value, list | tuple):
        return [line for i, item in enumerate(value) for line in _missing(item, f"{place}{i}.")]
    return []


def _is_hidden(field: FieldInfo) -> bool:
    # To type checkers it is a generic alias; what lies in the metadata is an instance of it.
    return any(isinstance(one, SkipJsonSchema) for one in field.metadata)  # type: ignore[misc]


class RepairConversation:
    """One question to a model, asked again after an answer that cannot be used, with what was wrong.

    Only the last unusable answer is kept, so that asking again does not grow the prompt without end.
    """

    def __init__(
        self,
        task: Task[Any, Any],
        model: str,
        messages: Sequence[Message],
        settings: LlmSettings,
        answers_of: str = "",
    ) -> None:
        self._most_tokens = settings.max_answer_tokens
        output: type[BaseModel] = task.output
        self.request = ChatRequest(
            model=model,
            task=task.name,
            messages=tuple(ChatMessage(message.role, message.content) for message in messages),
            repair_messages=(),
            schema=answer_schema(output).text,
            max_tokens=task.max_tokens,
            temperature=settings.temperature if task.temperature is None else task.temperature,
            # An endpoint that honours seeds would say the same again.
            seed=None if settings.seed is None else settings.seed + task.sample,
            sample=task.sample,
            answers_of=answers_of,
        )

    def repair(self, completion: Completion, parsed: ParsedAnswer[Any]) -> None:
        """Prepares to ask again: what was wrong, in the validator's words."""
        max_tokens = self.request.max_tokens
        if parsed.fault is not None and parsed.fault.kind == "truncated":
            max_tokens = max(max_tokens, min(2 * max_tokens, self._most_tokens))
            complaint = prompt_template("shorter").substitute()
        else:
            errors = "\n".join(f"- {error}" for error in parsed.errors)
            complaint = prompt_template("repair").substitute(errors=errors)
        answer = (completion.text or completion.refusal).strip()[:LONGEST_QUOTED] or _NO_ANSWER
        self.request = self.request._replace(
            repair_messages=(ChatMessage("assistant", answer), ChatMessage("user", complaint)),
            max_tokens=max_tokens,
            repair_attempt=self.request.repair_attempt + 1,
        )
