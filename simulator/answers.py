"""Answers: what the model says to a prompt, and how it goes wrong when it is told to.

A fault is counted only where it has an effect: a kind that this schema or prompt gives no hold for is
passed over, and the next kind in the drawn order is tried.
"""

import json
from functools import lru_cache
from random import Random
from typing import Any, Literal, NamedTuple

from simulator.draft import Draft
from simulator.prompt import Prompt
from simulator.scalars import Node
from simulator.schema import InvalidSchema, compiled
from simulator.settings import AnswerFault
from simulator.text import passage

IN_VALUE: frozenset[AnswerFault] = frozenset(
    {
        "wrong_enum",
        "string_number",
        "brackets_in_strings",
        "missing_field",
        "extra_field",
        "unknown_label",
    }
)
"""Kinds that change the value itself; the others change the text that carries it."""
_REFUSAL = "I'm sorry, but I can't help with that request."
_MARK = '"properties"'


class Made(NamedTuple):
    content: str | None
    refusal: str | None = None
    finish_reason: Literal["stop", "length"] = "stop"
    fault: AnswerFault | None = None
    """The kind that was really applied."""

    @property
    def text(self) -> str:
        return self.content if self.content is not None else self.refusal or ""


def tokens(characters: int) -> int:
    """Four characters a token, rounded up."""
    return -(-characters // 4)


def node_for(schema: Any, strict: bool = False) -> Node:
    """The compiled schema, remembered. Raises InvalidSchema."""
    return _node_for(json.dumps(schema), strict)


@lru_cache(maxsize=256)
def _node_for(schema: str, strict: bool) -> Node:
    return compiled(json.loads(schema), strict)


def find_schema(texts: list[str]) -> Node | None:
    """The last JSON schema of an object written out in the messages: how it is asked for without a response_format."""
    for text in reversed(texts):
        if _MARK in text:
            for value in reversed(_objects(text)):
                try:
                    return node_for(value)
                except InvalidSchema:
                    continue
    return None


@lru_cache(maxsize=256)
def _objects(text: str) -> tuple[dict[str, Any], ...]:
    """The outermost JSON objects in a text that look like a schema of an object."""
    decoder = json.JSONDecoder()
    found = []
    at = text.find("{")
    while at >= 0:
        try:
            value, end = decoder.raw_decode(text, at)
        except ValueError:
            at = text.find("{", at + 1)
            continue
        if isinstance(value.get("properties", value.get("$defs")), dict):
            found.append(value)
        at = text.find("{", end)
    return tuple(found)


def compose(
    node: Node | None, prompt: Prompt, seed: int, kinds: tuple[AnswerFault, ...] = (), spare: float = 0.0
) -> Made:
    """The answer: JSON for a schema, plain sentences without one. `spare` (0 to 1) varies a fault."""
    if not kinds:
        return Made(_written(node, Draft(prompt, seed)))
    draft = Draft(prompt, seed)
    draft.counting = True
    sound = _written(node, draft)
    for kind in kinds:
        if kind in IN_VALUE:
            made = _struck(node, draft, seed, kind, spare)
        elif node is not None or kind in {"truncated", "empty", "refusal"}:
            made = _distorted(sound, kind, spare)
        else:
            made = None
        if made is not None:
            return made
    return Made(sound)


def _written(node: Node | None, draft: Draft) -> str:
    if node is not None:
        return json.dumps(node.make(draft), ensure_ascii=False)
    return f"{draft.text(cites=False, longest=300)} {passage(draft.prompt.idea, draft.random)}"


def _struck(node: Node | None, sound: Draft, seed: int, kind: AnswerFault, spare: float) -> Made | None:
    """The same answer made again with a fault at one of the places that offered themselves."""
    if not sound.chances[kind]:
        return None
    draft = Draft(sound.prompt, seed)
    draft.counting, draft.fault = True, kind
    draft.target = int(spare * sound.chances[kind])
    return Made(_written(node, draft), fault=kind)


def _distorted(sound: str, kind: AnswerFault, spare: float) -> Made | None:
    match kind:
        case "fenced":
            return Made(f"```json\n{sound}\n```", fault=kind)
        case "preamble":
            after = "\n\nLet me know if you need anything else!" if spare < 0.5 else ""
            return Made(f"Sure! Here is the JSON you asked for:\n\n{sound}{after}", fault=kind)
        case "truncated":
            kept = int(len(sound) * (0.1 + 0.85 * spare))
            return Made(sound[:kept], finish_reason="length", fault=kind) if kept else None
        case "empty":
            return Made("", fault=kind)
        case "refusal":
            return Made(None, refusal=_REFUSAL, fault=kind)
        case "invalid_json":
            return _broken(sound, spare)
    raise ValueError(f"{kind} changes the value, not its text")


def _broken(sound: str, spare: float) -> Made | None:
    """Text that is nearly JSON; verified not to be."""
    variants = [
        sound[:-1],
        f"{sound[:-1]},{sound[-1:]}",
        sound.replace('": ', "': ", 1).replace('"', "'", 1),
        sound.replace('", "', '" "', 1),
        sound.replace(": true", ": True").replace(": null", ": None"),
    ]
    Random(spare).shuffle(variants)
    for broken in variants:
        try:
            json.loads(broken)
        except ValueError:
            return Made(broken, fault="invalid_json")
    return None
