"""Checks before any call to a model: what is no idea earns nothing, however gullible the judge."""

import re
from collections.abc import Callable
from typing import NamedTuple

from assayer.models.reward import RewardItem
from assayer.text.content_words import content_words
from assayer.text.sanitise import sanitise

__all__ = ["GuardStop", "stopped_by"]

_FEWEST_WORDS = 12
_MOST_CHARS = 40_000
_LEAST_NEW_SHARE = 0.25
_FEWEST_NEW_WORDS = 5
_PLACEHOLDERS_ALONE = 60
"""Words of an idea in which one placeholder is enough."""
_MOST_PLACEHOLDERS = 3
_SHINGLE = 6
_COPIED_SHARE = 0.5
_LIST_ITEMS = 12
_LIST_WORDS = 5
_LIST_SHARE = 0.7

_WORD = re.compile(r"[^\W_]+")
_BREAK = re.compile(r"[\n,;•|]|(?<=[.!?])\s|\band\b|\bor\b")
_PLACEHOLDER = re.compile(
    r"lorem ipsum|dolor sit amet|\b(?:TODO|TBD|TBA|FIXME)\b|\bN/A\b|"
    r"[\[<{(]{1,2}\s?(?:your|insert|add|fill|describe|enter|put|write|method|idea|proposal|placeholder|title)\b[^\]>})\n]{0,80}[\]>})]|"
    r"\b(?:your (?:idea|method|answer|text) (?:goes )?here|insert (?:your |the )?(?:idea|method|text)(?: here)?|"
    r"to be (?:determined|added|filled in|written|decided)|placeholder|coming soon|as an AI language model|"
    r"I (?:cannot|can't) (?:help|assist|provide)|no idea (?:given|provided)|content unavailable)\b|_{4,}|\.{6,}",
    re.IGNORECASE,
)
_HIDDEN_OR_ORDERS = frozenset({"hidden_text", "bidi_text", "suspected_injection"})


class GuardStop(NamedTuple):
    name: str
    reason: str
    leakage: bool = False


def stopped_by(item: RewardItem) -> GuardStop | None:
    """The first check that the idea fails; None for what a judge has to decide. Its time grows with the length of the
    idea, up to a limit."""
    if len(item.idea) > _MOST_CHARS:
        return GuardStop("too long", f"It has {len(item.idea):,} characters; no more than {_MOST_CHARS:,} are judged.")
    return next((stop for check in _CHECKS if (stop := check(item)) is not None), None)


def _empty(item: RewardItem) -> GuardStop | None:
    count = len(_WORD.findall(item.idea))
    if count >= _FEWEST_WORDS:
        return None
    what = f"It has only {count} words" if count else "It is empty"
    return GuardStop("empty" if not count else "too short", f"{what}: no method can be read from it.")


def _placeholder(item: RewardItem) -> GuardStop | None:
    found = [match[0] for _, match in zip(range(_MOST_PLACEHOLDERS), _PLACEHOLDER.finditer(item.idea), strict=False)]
    if not found or (len(found) < _MOST_PLACEHOLDERS and len(_WORD.findall(item.idea)) > _PLACEHOLDERS_ALONE):
        return None
    return GuardStop("placeholder", f"It holds a placeholder where an idea should stand: “{found[0][:60].strip()}”.")


def _orders(item: RewardItem) -> GuardStop | None:
    flags = [flag for flag in sanitise(item.idea)[1] if flag.kind in _HIDDEN_OR_ORDERS]
    if not flags:
        return None
    what = "text that gives orders to its judge" if flags[0].kind == "suspected_injection" else "hidden text"
    return GuardStop("orders", f"It holds {what}.")


def _copied_question(item: RewardItem) -> GuardStop | None:
    own, question = content_words(item.idea), content_words(item.question)
    new = own - question
    if not question or (len(new) >= _FEWEST_NEW_WORDS and len(new) >= _LEAST_NEW_SHARE * len(own)):
        return None
    return GuardStop("copied question", "It says little beyond the research question.")


def _copied_abstract(item: RewardItem) -> GuardStop | None:
    own, source = _shingles(item.idea), _shingles(item.abstract)
    shared = len(own & source)
    if not shared or shared < _COPIED_SHARE * min(len(own), len(source)):
        return None
    return GuardStop(
        "copied abstract", "It repeats the reference's own words: a match by definition, which shows nothing.", True
    )


def _shingles(text: str) -> set[tuple[str, ...]]:
    words = [word.casefold() for word in _WORD.findall(text)]
    return {tuple(words[at : at + _SHINGLE]) for at in range(len(words) - _SHINGLE + 1)}


def _list_of_methods(item: RewardItem) -> GuardStop | None:
    """Many things named and none described."""
    sizes = [count for part in _BREAK.split(item.idea) if (count := len(_WORD.findall(part)))]
    short = [size for size in sizes if size <= _LIST_WORDS]
    if len(short) < _LIST_ITEMS or sum(short) < _LIST_SHARE * sum(sizes):
        return None
    return GuardStop("list", f"It lists {len(short)} things and describes none of them.")


_CHECKS: tuple[Callable[[RewardItem], GuardStop | None], ...] = (
    _empty,
    _placeholder,
    _orders,
    _copied_question,
    _copied_abstract,
    _list_of_methods,
)
