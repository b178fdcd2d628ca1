"""Check every claim in a report against its verified quotes from each paper, and store the outcome with the claim."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from pydantic import BaseModel

from assayer.citing.excerpts import join_excerpts
from assayer.citing.labels import MARKER, parse_marker, strip_citations
from assayer.claim_support.task import SUPPORT, SupportItem, SupportQuestion, SupportVerdict
from assayer.llm import Llm, ask
from assayer.models import Absent, Citation, ClaimCounts, ClaimSupport, Paper, PaperId, Point
from assayer.run.concurrency import Failed, gather_settled
from assayer.run.run import Run
from assayer.text.content_words import content_words
from assayer.text.sanitise import sanitise
from assayer.text.scripts import UNSPACED_LETTER, count_unspaced_letters, normalise_words

CLAIMS_PER_CALL = 64
_MAX_MISSING_CHARS = 300
_MIN_CARRIED_WORDS = 3
"""Minimum number of content words that must be quoted as the basis for an outcome."""

_NOTHING_CLAIMED = Absent(reason="the claim says nothing about this paper that a quote could support.")
_NOT_IN_QUOTE = Absent(reason="the check relied on words that the quote does not contain.")
_UNKNOWN = Absent(reason="the claim was not checked.")

ValueT = TypeVar("ValueT")


class _QuotedClaim(NamedTuple):
    claim: str
    """Text of the claim, with the markers of the papers it cites."""
    paper: PaperId
    quotes: tuple[str, ...]
    """Quotes from the paper: the main quote, then further quotes that may cover what it lacks."""
    advice: bool


class FoundSupport(NamedTuple):
    """Support found for one claim, or the reason why it is unknown."""

    support: ClaimSupport | Absent
    carried_by: tuple[str, ...] = ()
    """Passages that contain the words quoted as the basis for the outcome."""


@dataclass(frozen=True)
class CheckedClaims:
    """Support-check outcomes, keyed by claim."""

    outcomes: Mapping[_QuotedClaim, FoundSupport]

    def write_into(self, value: ValueT) -> ValueT:
        """Return a copy of the value that has the outcome at every citation with a verified quote. Further quotes are
        kept only if the outcome is based on them."""

        def update_point(point: Point) -> Point:
            return point.model_copy(
                update={"citations": tuple(self._add_support(point, item) for item in point.citations)}
            )

        updated_value: ValueT = _replace_points(value, update_point)
        return updated_value

    def _add_support(self, point: Point, citation: Citation) -> Citation:
        claim = _build_quoted_claim(point, citation)
        if claim is None:
            return citation
        support = self.outcomes.get(claim, FoundSupport(_UNKNOWN))
        kept_quotes = tuple(
            item for item in citation.further if any(item.quote in passage for passage in support.carried_by)
        )
        return citation.model_copy(update={"support": support.support, "further": kept_quotes})

    @property
    def counts(self) -> ClaimCounts | None:
        return count_claim_outcomes([outcome.support for outcome in self.outcomes.values()])


def count_claim_outcomes(supports: Sequence[ClaimSupport | Absent | None]) -> ClaimCounts | None:
    """Count the support-check outcomes. Returns None if there was nothing to check."""
    if not supports:
        return None
    outcomes = [support.outcome if isinstance(support, ClaimSupport) else None for support in supports]
    return ClaimCounts(
        supported=outcomes.count("supports"),
        partly_supported=outcomes.count("partly"),
        not_supported=outcomes.count("not"),
        contradicted=outcomes.count("contradicts"),
        unchecked=outcomes.count(None),
    )


async def check_claims(llm: Llm, run: Run, findings: Sequence[Any], papers: Mapping[PaperId, Paper]) -> CheckedClaims:
    """Check all claims in `findings`: points, at any depth, whose markers cite papers. A repeated point is checked
    once. Errors that would affect every claim are raised; any other failed request leaves its claims unchecked."""
    quoted_claims = (
        _build_quoted_claim(point, citation) for point in _find_points(findings) for citation in point.citations
    )
    distinct = dict.fromkeys(item for item in quoted_claims if item is not None)
    passages = _collect_passages(distinct, papers)
    # A prompt shows identical passages of successive claims only once.
    claims = sorted(distinct, key=lambda item: (item.paper, passages[item], item.quotes))
    items = [_build_item(claim, papers, passages[claim]) for claim in claims]
    outcomes = await check_support(items, llm, run, "support check of a claim")
    return CheckedClaims(dict(zip(claims, outcomes, strict=True)))


async def check_support(
    support_items: Sequence[SupportItem], llm: Llm, run: Run, item_kind: str, per_call: int = CLAIMS_PER_CALL
) -> list[FoundSupport]:
    """Return the support found for each item, in order. Items are relabelled in each request. `item_kind` names an item
    in the journal if its answer is lost. Raises errors that would affect every item."""
    batches = [support_items[start : start + per_call] for start in range(0, len(support_items), per_call)]

    async def check_batch(batch: Sequence[SupportItem]) -> list[FoundSupport]:
        items = tuple(entry.model_copy(update={"label": f"C{number}"}) for number, entry in enumerate(batch, start=1))
        verdicts: dict[str, SupportVerdict] = {}
        remaining_items = items
        while remaining_items:  # runs once, unless the question was cut to fit the context window
            answer = await ask(llm, SUPPORT, SupportQuestion(items=remaining_items), run)
            verdicts |= {verdict.label: verdict for verdict in answer.verdicts}
            remaining_items = remaining_items[len(answer.verdicts) or len(remaining_items) :]
        return [convert_verdict(verdicts[item.label], item.passages) for item in items]

    batch_answers = await gather_settled(batches, check_batch)
    run.keep_successes(batch_answers, item_kind, [len(batch) for batch in batches])
    return [
        FoundSupport(Absent(reason=f"{answers.error.reason}.")) if isinstance(answers, Failed) else answers[index]
        for batch, answers in zip(batches, batch_answers, strict=True)
        for index in range(len(batch))
    ]


def _build_quoted_claim(point: Point, citation: Citation) -> _QuotedClaim | None:
    if citation.quote is None or citation.quote_state != "verified":
        return None
    quotes = (citation.quote, *(item.quote for item in citation.further))
    return _QuotedClaim(point.text, parse_marker(citation.label), quotes, point.kind == "suggestion")


def _collect_passages(
    claims: Iterable[_QuotedClaim], papers: Mapping[PaperId, Paper]
) -> dict[_QuotedClaim, tuple[str, ...]]:
    """Return the passages to show for each claim. Conditions are often stated next to a quote; a claim that respects
    them must not count as only partly supported, so each quote is shown with the sentences around it."""
    by_paper: dict[PaperId, list[_QuotedClaim]] = defaultdict(list)
    for claim in claims:
        by_paper[claim.paper].append(claim)
    passages: dict[_QuotedClaim, tuple[str, ...]] = {}
    for paper_id, paper_items in by_paper.items():
        paper = papers.get(paper_id)
        quotes = dict.fromkeys(quote for claim in paper_items for quote in claim.quotes)
        excerpts = join_excerpts(quotes, sanitise(paper.abstract)[0] if paper else "")
        passages |= {claim: tuple(dict.fromkeys(excerpts[quote] for quote in claim.quotes)) for claim in paper_items}
    return passages


def _build_item(quoted_claim: _QuotedClaim, papers: Mapping[PaperId, Paper], passages: Sequence[str]) -> SupportItem:
    claim = MARKER.sub(
        lambda found: f"[{'this' if parse_marker(found[1]) == quoted_claim.paper else 'another'} source]",
        quoted_claim.claim,
    )
    paper = papers.get(quoted_claim.paper)
    title = paper.title if paper else ""
    return SupportItem(
        label="",
        claim=claim,
        passage=passages[0],
        more=tuple(passages[1:]),
        title=" ".join(title.split()) or "(unknown)",
        advice=quoted_claim.advice,
    )


def convert_verdict(verdict: SupportVerdict, passages: Sequence[str]) -> FoundSupport:
    """Convert the model's verdict to a support outcome. The support is absent if the verdict is based on words that no
    passage contains."""
    if verdict.outcome == "nothing_claimed":
        return FoundSupport(_NOTHING_CLAIMED)
    carried_by = _find_passages_with(passages, verdict.carried)
    if verdict.outcome != "not" and not carried_by:
        return FoundSupport(_NOT_IN_QUOTE)
    missing = "" if verdict.outcome == "supports" else strip_citations(verdict.missing)
    support = ClaimSupport(
        outcome=verdict.outcome,
        missing=missing if len(missing) <= _MAX_MISSING_CHARS else f"{missing[:_MAX_MISSING_CHARS].rstrip()} …",
    )
    return FoundSupport(support, carried_by)


_PIECE_SEPARATOR = re.compile(r"…|\.\.\.|\n")


def _find_passages_with(passages: Sequence[str], carried: str) -> tuple[str, ...]:
    """Return the passages that contain the quoted words. Pieces separated by an ellipsis are matched separately, each
    in the first passage that contains it. Returns an empty tuple if a piece occurs in no passage."""
    min_words = min(_MIN_CARRIED_WORDS, *map(_count_content_words, passages))
    pieces = [piece for piece in map(_space_words, _PIECE_SEPARATOR.split(carried)) if piece]
    if _count_content_words(carried) < min_words:
        return ()
    spaced_passages = [(passage, f" {_space_words(passage)} ") for passage in passages]
    matching_passages = [
        next((passage for passage, words in spaced_passages if f" {piece} " in words), None) for piece in pieces
    ]
    if None in matching_passages:
        return ()
    return tuple(passage for passage in passages if passage in matching_passages)


def _count_content_words(text: str) -> int:
    """Count a text's content words. In scripts without spaces, two letters count as one word."""
    unspaced_count = count_unspaced_letters(text)
    spaced_text = UNSPACED_LETTER.sub(" ", text) if unspaced_count else text
    return len(content_words(spaced_text)) + unspaced_count // 2


def _space_words(text: str) -> str:
    """Return a text's words separated by spaces. In scripts without spaces, letters are separated, because a passage
    may be cut between any two of them."""
    return " ".join(normalise_words(text))


def _find_points(value: Any) -> Iterator[Point]:
    """Yield all points in a value, at any depth, in order."""
    if isinstance(value, Point):
        yield value
    elif isinstance(value, BaseModel):
        for name in type(value).model_fields:
            yield from _find_points(getattr(value, name))
    elif isinstance(value, tuple | list):
        for item in value:
            yield from _find_points(item)


def _replace_points(value: Any, change: Callable[[Point], Point]) -> Any:
    if isinstance(value, Point):
        return change(value)
    if isinstance(value, BaseModel):
        fields = {name: getattr(value, name) for name in type(value).model_fields}
        return value.model_copy(update={name: _replace_points(field, change) for name, field in fields.items()})
    if isinstance(value, tuple):
        return tuple(_replace_points(item, change) for item in value)
    return value
