"""Advice on revision from what was published after the cutoff. No reviewer saw it."""

import datetime as dt
import re
from collections.abc import Sequence, Set
from itertools import product

from assayer.evidence import MARKER, check_quote, plain, point
from assayer.methods.innoeval.board_schemas import AdviceQuestion, LaterStep, Weakness
from assayer.methods.innoeval.board_tasks import ADVICE
from assayer.methods.innoeval.dossier import Dossier
from assayer.methods.innoeval.excerpts import words_of
from assayer.methods.innoeval.extraction import digest
from assayer.methods.innoeval.reviewing import Judged, shown
from assayer.methods.innoeval.schemas import Find
from assayer.models import Point
from assayer.ports import Llm
from assayer.run import Run
from assayer.tasks import ask

__all__ = ["advise"]

_MOST_WEAKNESSES = 15
_MOST_RANKS = 3
"""Weaknesses that a review can name."""
_ALIKE = 0.6
"""Of the words of two weaknesses: so many in common, and they are one."""
_CITED = re.compile(rf"(?:\s*{MARKER.pattern})+")


async def advise(llm: Llm, run: Run, dossier: Dossier, judged: Judged, chars: int, day: dt.date) -> tuple[Point, ...]:
    """`day` is the one by which the idea is judged. Raises an LlmError, BudgetExhausted or RunCancelled."""
    weaknesses = _weaknesses(judged)
    evidence = shown(dossier.after, chars)
    question = AdviceQuestion(
        digest=digest(dossier.idea.title, dossier.six),
        idea=dossier.text,
        day=day,
        weaknesses=weaknesses,
        evidence=evidence,
    )
    answer = await ask(llm, ADVICE, question, run)
    finds = {find.label: find for find in evidence}
    named = {one.label: one for one in weaknesses}
    return tuple(_point(step, finds, named) for step in answer.steps)


def _weaknesses(judged: Judged) -> tuple[Weakness, ...]:
    """Each review's weightiest first, dimensions in turn, so that none crowds out the others."""
    board = max(len(reviews) for _, reviews in judged)
    named = [
        (dimension.title, _without_citations(text))
        for rank, seat in product(range(_MOST_RANKS), range(board))
        for dimension, reviews in judged
        for text in reviews[seat].texts("weakness")[rank : rank + 1]
    ]
    distinct = _apart(named)[:_MOST_WEAKNESSES]
    return tuple(
        Weakness(label=f"W{number}", dimension=title, text=text)
        for number, (title, text) in enumerate(distinct, start=1)
    )


def _apart(named: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Of those that say nearly the same on one dimension, the first."""
    kept: list[tuple[str, str]] = []
    for title, text in named:
        words = words_of(text)
        if not any(_alike(words, words_of(other)) for where, other in kept if where == title):
            kept.append((title, text))
    return kept


def _alike(one: Set[str], other: Set[str]) -> bool:
    return len(one & other) >= _ALIKE * len(one | other)


def _without_citations(text: str) -> str:
    """What they cite was found before the cutoff, and is no part of the prompt."""
    return _CITED.sub(" (earlier work)", text)


def _point(step: LaterStep, finds: dict[str, Find], weaknesses: dict[str, Weakness]) -> Point:
    find = finds[step.label]
    answered = weaknesses.get(step.weakness or "")
    aim = f"On {answered.dimension.lower()}: " if answered else ""
    quoted = check_quote(step.quote, find.shown)
    return point(
        "suggestion",
        f"{aim}{plain(step.change)} Later work shows: {plain(step.shows)} [{step.label}]",
        {step.label: find.paper_id},
        {find.paper_id: quoted} if quoted else {},
    )
