"""Checklist of what a plan states and does not state, based on its wording alone, without a language model.

It reports that no wording was recognised, never that an item is missing, and it gives no score. A two-page plan need
not state its budget, and a plan that states it can still be poor. Error rates: docs/evidence/plans.md."""

import re
import tomllib
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from functools import cache, reduce
from importlib.resources import files
from typing import Literal, NamedTuple, get_args

from assayer.models import Absent, ChecklistItem, ChecklistRow, Frozen
from assayer.text.content_words import is_grammar
from assayer.text.sentences import sentence_spans

PlanKind = Literal["empirical", "meeting", "living", "nothing_living"]
"""Kind of plan:
- `empirical`: something is measured, tested or collected.
- `meeting`: people meet or travel, and nothing is studied.
- `living`: people or animals are involved, or their data or tissue.
- `nothing_living`: words that only sound as if living things were involved."""


class _File(Frozen):
    parts: dict[str, tuple[str, ...]]
    kinds: dict[PlanKind, tuple[str, ...]]
    stated: dict[ChecklistItem, tuple[str, ...]]


class Wordings(NamedTuple):
    kinds: dict[PlanKind, re.Pattern[str]]
    stated: dict[ChecklistItem, re.Pattern[str]]


def _join_alternatives(options: Sequence[str]) -> str:
    return f"(?:{'|'.join(options)})"


@cache
def load_wordings() -> Wordings:
    """Load the patterns from `wordings.toml` and fill in the parts that they refer to by name.

    A superfluous pattern hides a gap from the reader; a missing pattern reports a gap that the plan does not have. If
    in doubt, include a pattern."""
    file = _File.model_validate(tomllib.loads((files("assayer.plan_review") / "wordings.toml").read_text("utf-8")))
    parts = {f"{{{name}}}": _join_alternatives(options) for name, options in file.parts.items()}

    def compile_options(options: Sequence[str]) -> re.Pattern[str]:
        text = reduce(lambda text, name: text.replace(name, parts[name]), parts, _join_alternatives(options))
        return re.compile(rf"\b{text}", re.IGNORECASE)

    return Wordings(
        {kind: compile_options(options) for kind, options in file.kinds.items()},
        {item: compile_options(options) for item, options in file.stated.items()},
    )


ENGLISH_SHARE = 0.2
"""Minimum share of function words for a text to count as English. Running English text has about twice this share."""
_MIN_WORDS = 30
_MAX_QUOTE_CHARS = 240
_WORD = re.compile(r"[^\W\d_]{1,40}")
_HEADING = re.compile(r"\s{0,9}#")
_LAYOUT = re.compile(r"(?:^|\n)\s{0,9}(?:#{1,6}|[-*•])\s")

_NOT_ENGLISH = Absent(reason="the checklist recognises only English, and the text does not appear to be English.")
_TOO_SHORT = Absent(reason=f"the text has fewer than {_MIN_WORDS} words.")
_NOT_EMPIRICAL = "The text does not mention anything to be measured, tested or collected."
_MEETING = "The text is about a meeting or travel to one, not about a study."
_NOTHING_LIVING = "The text does not mention people, animals, personal data or human material."


GAP_ERRORS: Mapping[ChecklistItem, tuple[int, int]] = {
    "sample_size": (8, 23),
    "comparator": (3, 11),
    "uncertainty": (6, 31),
    "sharing": (0, 48),
    "ethics": (6, 18),
    "resources": (2, 46),
    "timeline": (5, 53),
    "risks": (1, 35),
}
"""Number of wrong "not stated" results, and number of all "not stated" results, in the 60 labelled plans described in
docs/evidence/plans.md. A result is wrong if the plan did state the item, or if the item did not apply."""
_MAX_WRONG = 0.2
"""Maximum share of wrong results at which an item may still be reported as not stated."""


class _Kind(NamedTuple):
    """Kind of plan, judging by its wording."""

    meeting: bool
    empirical: bool
    living: bool
    """Whether the plan involves people or animals, or their data or tissue."""


_NEEDS_DATA: frozenset[ChecklistItem] = frozenset(("sample_size", "comparator", "measure", "uncertainty", "sharing"))
_NEEDS_STUDY: frozenset[ChecklistItem] = _NEEDS_DATA | {"ethics", "risks"}


def build_checklist(text: str) -> tuple[ChecklistRow, ...] | Absent:
    """Return the checklist, one row per item in a fixed order, or Absent if the text is too short or not English.
    Running time is linear in the length of the text."""
    words = _WORD.findall(text.casefold())
    if len(words) < _MIN_WORDS:
        return _TOO_SHORT
    if sum(map(is_grammar, words)) < ENGLISH_SHARE * len(words):
        return _NOT_ENGLISH
    known_wordings, spans = load_wordings(), sentence_spans(text)
    kind = _classify_plan(text, known_wordings)
    return tuple(_build_row(item, text, kind, known_wordings, spans) for item in get_args(ChecklistItem))


def find_reliable_gaps(text: str) -> tuple[ChecklistRow, ...] | Absent:
    """Return the checklist rows that report an item as not stated, limited to items for which this is seldom wrong."""
    rows = build_checklist(text)
    if isinstance(rows, Absent):
        return rows
    reliable = {item for item, (wrong, total) in GAP_ERRORS.items() if wrong <= _MAX_WRONG * total}
    return tuple(row for row in rows if row.outcome == "not_stated" and row.item in reliable)


def _classify_plan(text: str, known_wordings: Wordings) -> _Kind:
    meeting = known_wordings.kinds["meeting"].search(text) is not None
    has_living_subjects = (
        known_wordings.kinds["living"].search(known_wordings.kinds["nothing_living"].sub(" ", text)) is not None
    )
    return _Kind(
        meeting,
        not meeting and known_wordings.kinds["empirical"].search(text) is not None,
        not meeting and has_living_subjects,
    )


def _build_row(
    item: ChecklistItem, text: str, kind: _Kind, known_wordings: Wordings, spans: list[tuple[int, int]]
) -> ChecklistRow:
    matches = list(known_wordings.stated[item].finditer(text))
    if matches:
        return ChecklistRow(item=item, outcome="stated", quote=_choose_sentence(matches, text, spans))
    if item in _NEEDS_STUDY and kind.meeting:
        return ChecklistRow(item=item, outcome="not_applicable", reason=_MEETING)
    if item in _NEEDS_DATA and not kind.empirical:
        return ChecklistRow(item=item, outcome="not_applicable", reason=_NOT_EMPIRICAL)
    if item == "ethics" and not kind.living:
        return ChecklistRow(item=item, outcome="not_applicable", reason=_NOTHING_LIVING)
    return ChecklistRow(item=item, outcome="not_stated")


def _choose_sentence(matches: list[re.Match[str]], text: str, spans: list[tuple[int, int]]) -> str:
    """Return the sentence with the most matches, or the first of several. A heading is returned only if no other
    sentence matches."""
    by_sentence: dict[int, list[re.Match[str]]] = {}
    for match in matches:
        index = max(0, bisect_right(spans, (match.start(), len(text))) - 1)
        by_sentence.setdefault(index, []).append(match)
    best = max(
        by_sentence, key=lambda index: (not _HEADING.match(text, spans[index][0]), len(by_sentence[index]), -index)
    )
    return _trim_sentence(by_sentence[best][0], text, spans[best])


def _trim_sentence(match: re.Match[str], text: str, span: tuple[int, int]) -> str:
    """Return the sentence without layout marks. A long sentence is cut to a passage around the match."""
    start, end = span
    if end - start > _MAX_QUOTE_CHARS:
        middle = (match.start() + match.end()) // 2
        start = max(start, middle - _MAX_QUOTE_CHARS // 2)
        end = min(end, start + _MAX_QUOTE_CHARS)
    return " ".join(_LAYOUT.sub(" ", text[start:end].replace("**", "")).split())
