"""Write revision advice based on work published after the cutoff, which no reviewer saw."""

import datetime as dt
import re
from collections.abc import Sequence, Set
from decimal import Decimal
from itertools import product

from assayer.citing.claim_numbers import KnownNumbers, collect_numbers
from assayer.citing.evidence import build_point, check_quote
from assayer.citing.labels import MARKER, strip_citations
from assayer.llm import Llm, ask
from assayer.methods.innoeval.board.review import ReviewsByDimension
from assayer.methods.innoeval.evidence_pack import EvidencePack
from assayer.methods.innoeval.extraction import format_digest
from assayer.methods.innoeval.prompt_evidence import label_evidence
from assayer.methods.innoeval.schemas import AdviceQuestion, EvidenceItem, LaterStep, Weakness
from assayer.methods.innoeval.search.excerpts import collect_words
from assayer.methods.innoeval.tasks import ADVICE
from assayer.models import Point
from assayer.run.run import Run

_MAX_WEAKNESSES = 15
_MAX_PER_REVIEW = 3
"""Maximum number of weaknesses taken from each review."""
_SIMILAR_SHARE = 0.6
"""Minimum Jaccard similarity of their words at which two weaknesses count as the same."""
_CITED = re.compile(rf"(?:\s*{MARKER.pattern})+")


async def write_advice(
    llm: Llm, run: Run, pack: EvidencePack, reviews_by_dimension: ReviewsByDimension, chars: int, day: dt.date
) -> tuple[Point, ...]:
    """Write revision advice. `day` is the date as of which the idea is judged. Raises LlmError or BudgetExhausted if
    the request fails."""
    weaknesses = _order_weaknesses(reviews_by_dimension)
    evidence = label_evidence(pack.after_cutoff, chars)
    question = AdviceQuestion(
        digest=format_digest(pack.idea.title, pack.six_tuple),
        idea=pack.text,
        day=day,
        weaknesses=weaknesses,
        evidence=evidence,
    )
    answer = await ask(llm, ADVICE, question, run)
    items_by_label = {item.label: item for item in evidence}
    weaknesses_by_label = {weakness.label: weakness for weakness in weaknesses}
    idea_numbers = collect_numbers(pack.idea.text)
    return tuple(_build_point(step, items_by_label, weaknesses_by_label, idea_numbers) for step in answer.steps)


def _order_weaknesses(reviews_by_dimension: ReviewsByDimension) -> tuple[Weakness, ...]:
    """Return distinct weaknesses: every review's first, then every review's second, and so on. Dimensions alternate, so
    that none crowds out the others."""
    board = max(len(reviews) for _, reviews in reviews_by_dimension)
    titled_texts = [
        (dimension.title, _replace_citations(text))
        for rank, seat in product(range(_MAX_PER_REVIEW), range(board))
        for dimension, reviews in reviews_by_dimension
        for text in reviews[seat].list_texts("weakness")[rank : rank + 1]
    ]
    distinct = _remove_repeated_weaknesses(titled_texts)[:_MAX_WEAKNESSES]
    return tuple(
        Weakness(label=f"W{number}", dimension=title, text=text)
        for number, (title, text) in enumerate(distinct, start=1)
    )


def _remove_repeated_weaknesses(titled_texts: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Remove weaknesses that nearly repeat an earlier one in the same dimension. Each pair holds a dimension's title
    and a weakness."""
    kept_weaknesses: list[tuple[str, str]] = []
    for title, text in titled_texts:
        words = collect_words(text)
        if not any(
            _are_similar(words, collect_words(other_text))
            for other_title, other_text in kept_weaknesses
            if other_title == title
        ):
            kept_weaknesses.append((title, text))
    return kept_weaknesses


def _are_similar(words: Set[str], other_words: Set[str]) -> bool:
    return len(words & other_words) >= _SIMILAR_SHARE * len(words | other_words)


def _replace_citations(text: str) -> str:
    """Replace citations with "(earlier work)": the cited papers were found before the cutoff and are not in this
    prompt."""
    return _CITED.sub(" (earlier work)", text)


def _build_point(
    step: LaterStep, items_by_label: dict[str, EvidenceItem], weaknesses: dict[str, Weakness], idea: Set[Decimal]
) -> Point:
    item = items_by_label[step.label]
    weakness = weaknesses.get(step.weakness or "")
    aim = f"On {weakness.dimension.lower()}: " if weakness else ""
    quote = check_quote(step.quote, item)
    return build_point(
        "suggestion",
        f"{aim}{strip_citations(step.change)} Later work shows: {strip_citations(step.shows)} [{step.label}]",
        {step.label: item.paper_id},
        {item.paper_id: quote} if quote else {},
        KnownNumbers(idea, {item.paper_id: item.numbers}),
    )
