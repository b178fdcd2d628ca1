"""Generation of the simulated model's answers, sound or with a fault.

Only faults that have an effect are counted: if a kind cannot be applied to this schema or prompt, the next kind in the
drawn order is tried.
"""

import json
from functools import lru_cache
from random import Random
from typing import Any, Literal, NamedTuple

from simulator.draft import Draft
from simulator.prompt import Prompt
from simulator.scalars import Node
from simulator.schema import InvalidSchema, compile_schema
from simulator.settings import AnswerFault
from simulator.text import draw_passage

VALUE_FAULTS: frozenset[AnswerFault] = frozenset(
    {
        "wrong_enum",
        "string_number",
        "brackets_in_strings",
        "missing_field",
        "extra_field",
        "unknown_label",
        "respelled_choice",
    }
)
"""Kinds that change the JSON value; the others change its serialised text."""
_REFUSAL = "I'm sorry, but I can't help with that request."
_SCHEMA_MARK = '"properties"'


class GeneratedAnswer(NamedTuple):
    content: str | None
    refusal: str | None = None
    finish_reason: Literal["stop", "length"] = "stop"
    fault: AnswerFault | None = None
    """Kind that was applied; None for a sound answer."""

    @property
    def text(self) -> str:
        return self.content if self.content is not None else self.refusal or ""


def count_tokens(characters: int) -> int:
    """Return the number of tokens: one for every four characters, rounded up."""
    return -(-characters // 4)


def get_node(schema: Any, strict: bool = False) -> Node:
    """Return the compiled schema, from a cache. Raises InvalidSchema."""
    return _get_node(json.dumps(schema), strict)


@lru_cache(maxsize=256)
def _get_node(schema: str, strict: bool) -> Node:
    return compile_schema(json.loads(schema), strict)


def find_schema(texts: list[str]) -> Node | None:
    """Return the last JSON schema of an object in the messages, for requests without a response_format; None if there
    is none."""
    for text in reversed(texts):
        if _SCHEMA_MARK in text:
            for value in reversed(_find_schemas(text)):
                try:
                    return get_node(value)
                except InvalidSchema:
                    continue
    return None


@lru_cache(maxsize=256)
def _find_schemas(text: str) -> tuple[dict[str, Any], ...]:
    """Return the outermost JSON objects in a text that look like a schema of an object."""
    decoder = json.JSONDecoder()
    schemas = []
    position = text.find("{")
    while position >= 0:
        try:
            value, end = decoder.raw_decode(text, position)
        except ValueError:
            position = text.find("{", position + 1)
            continue
        if isinstance(value.get("properties", value.get("$defs")), dict):
            schemas.append(value)
        position = text.find("{", end)
    return tuple(schemas)


def compose(
    node: Node | None, prompt: Prompt, seed: int, kinds: tuple[AnswerFault, ...] = (), variation: float = 0.0
) -> GeneratedAnswer:
    """Return the answer: JSON if there is a schema, otherwise plain sentences. The first of `kinds` that can be applied
    is applied as a fault, varied by `variation` (0 to 1)."""
    if not kinds:
        return GeneratedAnswer(_serialise(node, Draft(prompt, seed)))
    draft = Draft(prompt, seed)
    draft.counts_faults = True
    sound_text = _serialise(node, draft)
    for kind in kinds:
        if kind in VALUE_FAULTS:
            answer = _apply_value_fault(node, draft, seed, kind, variation)
        elif node is not None or kind in {"truncated", "empty", "refusal"}:
            answer = _apply_text_fault(sound_text, kind, variation)
        else:
            answer = None
        if answer is not None:
            return answer
    return GeneratedAnswer(sound_text)


def _serialise(node: Node | None, draft: Draft) -> str:
    if node is not None:
        return json.dumps(node.make(draft), ensure_ascii=False)
    return f"{draft.draw_text(cites=False, max_length=300)} {draw_passage(draft.prompt.idea, draft.random)}"


def _apply_value_fault(
    node: Node | None, sound_draft: Draft, seed: int, kind: AnswerFault, variation: float
) -> GeneratedAnswer | None:
    """Generate the same answer again, with a fault at one of the places where it is possible; None if there is none."""
    if not sound_draft.chances[kind]:
        return None
    draft = Draft(sound_draft.prompt, seed)
    draft.counts_faults, draft.fault = True, kind
    draft.target = int(variation * sound_draft.chances[kind])
    return GeneratedAnswer(_serialise(node, draft), fault=kind)


def _apply_text_fault(sound_text: str, kind: AnswerFault, variation: float) -> GeneratedAnswer | None:
    match kind:
        case "fenced":
            return GeneratedAnswer(f"```json\n{sound_text}\n```", fault=kind)
        case "preamble":
            postamble = "\n\nLet me know if you need anything else!" if variation < 0.5 else ""
            return GeneratedAnswer(f"Sure! Here is the JSON you asked for:\n\n{sound_text}{postamble}", fault=kind)
        case "truncated":
            kept_chars = int(len(sound_text) * (0.1 + 0.85 * variation))
            return GeneratedAnswer(sound_text[:kept_chars], finish_reason="length", fault=kind) if kept_chars else None
        case "empty":
            return GeneratedAnswer("", fault=kind)
        case "refusal":
            return GeneratedAnswer(None, refusal=_REFUSAL, fault=kind)
        case "invalid_json" | "trailing_comma":
            return _break_json(sound_text, kind, variation)
    raise ValueError(f"{kind} changes the value, not its text")


def _break_json(
    sound_text: str, kind: Literal["invalid_json", "trailing_comma"], variation: float
) -> GeneratedAnswer | None:
    """Return text that is almost JSON but verifiably invalid; None if every variant is valid. Only a trailing comma
    leaves no doubt about the content."""
    variants = [
        sound_text[:-1],
        sound_text.replace('": ', "': ", 1).replace('"', "'", 1),
        sound_text.replace('", "', '" "', 1),
        sound_text.replace(": true", ": True").replace(": null", ": None"),
    ]
    if kind == "trailing_comma":
        variants = [f"{sound_text[:-1]},{sound_text[-1:]}"]
    Random(variation).shuffle(variants)
    for invalid_text in variants:
        try:
            json.loads(invalid_text)
        except ValueError:
            return GeneratedAnswer(invalid_text, fault=kind)
    return None
