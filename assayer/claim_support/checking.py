"""Holds every claim of a report against its verified quotes of each paper, and writes beside it what came of that."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from assayer.citing.labels import MARKER, paper_of, plain
from assayer.claim_support.schemas import SupportItem, SupportQuestion, SupportVerdict
from assayer.claim_support.task import SUPPORT
from assayer.llm import Llm, ask
from assayer.models import Absent, Citation, ClaimCounts, ClaimSupport, Frozen, Paper, PaperId, Point
from assayer.run.run import Run
from assayer.run.structured_concurrency import Failed, each
from assayer.text.content_words import content_words
from assayer.text.scripts import UNSPACED_LETTER, unspaced_letters, words_of

__all__ = ["CLAIMS_PER_CALL", "CheckedClaims", "FoundSupport", "check_claims", "support_found", "support_of"]

CLAIMS_PER_CALL = 12
_MOST_MISSING_CHARS = 300
_LEAST_CARRIED = 3
"""Words of content that an outcome has to rest on."""

_NOTHING_CLAIMED = Absent(reason="it says nothing of this paper that a quote could bear out.")
_NOT_IN_QUOTE = Absent(reason="the check relied on words that the quote does not have.")
_UNKNOWN = Absent(reason="it was not asked about.")

ValueT = TypeVar("ValueT")


class _QuotedClaim(NamedTuple):
    claim: str
    """With markers."""
    paper: PaperId
    quotes: tuple[str, ...]
    """The first, then those that may carry what it does not."""
    advice: bool


class FoundSupport(NamedTuple):
    """What a verdict comes to."""

    support: ClaimSupport | Absent
    carried_by: tuple[str, ...] = ()
    """The passages that have the words on which it rests."""


@dataclass(frozen=True)
class CheckedClaims:
    """What the check came to, claim by claim."""

    outcomes: Mapping[_QuotedClaim, FoundSupport]

    def written_into(self, value: ValueT) -> ValueT:
        """The same value with the outcome at every citation of every point that has a verified quote. Of its further
        quotes those stay on which the outcome rests."""
        written: ValueT = _with_points(value, self._written)
        return written

    def _written(self, point: Point) -> Point:
        return point.model_copy(update={"citations": tuple(self._cited(point, one) for one in point.citations)})

    def _cited(self, point: Point, citation: Citation) -> Citation:
        quoted = _quoted_claim(point, citation)
        if quoted is None:
            return citation
        found = self.outcomes.get(quoted, FoundSupport(_UNKNOWN))
        kept = tuple(one for one in citation.further if one.quote in found.carried_by)
        return citation.model_copy(update={"support": found.support, "further": kept})

    @property
    def counts(self) -> ClaimCounts | None:
        if not self.outcomes:
            return None
        supports = [one.support for one in self.outcomes.values()]
        found = [one.outcome if isinstance(one, ClaimSupport) else None for one in supports]
        return ClaimCounts(
            supported=found.count("supports"),
            partly_supported=found.count("partly"),
            not_supported=found.count("not"),
            contradicted=found.count("contradicts"),
            unchecked=found.count(None),
        )


async def check_claims(llm: Llm, run: Run, findings: Sequence[Any], papers: Mapping[PaperId, Paper]) -> CheckedClaims:
    """`findings` hold points, at any depth, that cite by markers. A point that stands in several places is checked
    once. Raises what makes going on pointless for all; a call that fails leaves its claims unchecked."""
    quoted = (_quoted_claim(point, citation) for point in _points(findings) for citation in point.citations)
    claims = list(dict.fromkeys(one for one in quoted if one is not None))
    found = await support_of([_item(one, papers) for one in claims], llm, run, "support check of a claim")
    return CheckedClaims(dict(zip(claims, found, strict=True)))


async def support_of(
    asked: Sequence[SupportItem], llm: Llm, run: Run, what: str, per_call: int = CLAIMS_PER_CALL
) -> list[FoundSupport]:
    """In order; labels are given here, call by call. `what` one of them is called where answers are lost. Raises what
    makes going on pointless for all."""
    batches = [asked[start : start + per_call] for start in range(0, len(asked), per_call)]

    async def check(batch: Sequence[SupportItem]) -> list[FoundSupport]:
        items = tuple(one.model_copy(update={"label": f"C{number}"}) for number, one in enumerate(batch, start=1))
        answer = await ask(llm, SUPPORT, SupportQuestion(items=items), run)
        verdicts = {one.label: one for one in answer.verdicts}
        return [support_found(verdicts[item.label], item.passages, by_model=bool(llm.models)) for item in items]

    answered = await each(batches, check)
    run.keep_successes(answered, what, [len(batch) for batch in batches])
    outcomes: list[FoundSupport] = []
    for batch, found in zip(batches, answered, strict=True):
        if isinstance(found, Failed):
            outcomes += [FoundSupport(Absent(reason=f"{found.error.reason}."))] * len(batch)
        else:
            outcomes += found
    return outcomes


def _quoted_claim(point: Point, citation: Citation) -> _QuotedClaim | None:
    if citation.quote is None or citation.quote_state != "verified":
        return None
    quotes = (citation.quote, *(one.quote for one in citation.further))
    return _QuotedClaim(point.text, paper_of(citation.label), quotes, point.kind == "suggestion")


def _item(one: _QuotedClaim, papers: Mapping[PaperId, Paper]) -> SupportItem:
    claim = MARKER.sub(lambda found: f"[{'this' if paper_of(found[1]) == one.paper else 'another'} source]", one.claim)
    title = papers[one.paper].title if one.paper in papers else ""
    return SupportItem(
        label="",
        claim=claim,
        passage=one.quotes[0],
        more=one.quotes[1:],
        title=" ".join(title.split()) or "(unknown)",
        advice=one.advice,
    )


def support_found(verdict: SupportVerdict, passages: Sequence[str], by_model: bool) -> FoundSupport:
    """Nothing where it rests on words that none of the passages has."""
    if verdict.outcome == "nothing_claimed":
        return FoundSupport(_NOTHING_CLAIMED)
    carried_by = _with_words(passages, verdict.carried)
    if verdict.outcome != "not" and not carried_by:
        return FoundSupport(_NOT_IN_QUOTE)
    missing = "" if verdict.outcome == "supports" else plain(verdict.missing)
    support = ClaimSupport(
        outcome=verdict.outcome,
        missing=missing if len(missing) <= _MOST_MISSING_CHARS else f"{missing[:_MOST_MISSING_CHARS].rstrip()} …",
        judged_by="model" if by_model else "overlap",
    )
    return FoundSupport(support, carried_by)


_CUT = re.compile(r"…|\.\.\.|\n")


def _with_words(passages: Sequence[str], carried: str) -> tuple[str, ...]:
    """The passages in which the words stand, in one piece or in several around an ellipsis, each piece in the first
    that has it; none where a piece stands in none."""
    least = min(_LEAST_CARRIED, *map(_content, passages))
    pieces = [piece for piece in map(_spelled, _CUT.split(carried)) if piece]
    if _content(carried) < least:
        return ()
    there = [(passage, f" {_spelled(passage)} ") for passage in passages]
    found = [next((passage for passage, words in there if f" {piece} " in words), None) for piece in pieces]
    if None in found:
        return ()
    return tuple(passage for passage in passages if passage in found)


def _content(text: str) -> int:
    """Words of content; two letters of scripts without spaces count as one, instead of the run they stand in."""
    unspaced = unspaced_letters(text)
    spaced = UNSPACED_LETTER.sub(" ", text) if unspaced else text
    return len(content_words(spaced)) + unspaced // 2


def _spelled(text: str) -> str:
    """Of scripts without spaces each letter stands by itself, as a passage may be cut between any two of them."""
    return " ".join(words_of(text))


def _points(value: Any) -> Iterator[Point]:
    """All points in a value, in order."""
    if isinstance(value, Point):
        yield value
    elif isinstance(value, Frozen):
        for name in type(value).model_fields:
            yield from _points(getattr(value, name))
    elif isinstance(value, tuple | list):
        for one in value:
            yield from _points(one)


def _with_points(value: Any, change: Callable[[Point], Point]) -> Any:
    if isinstance(value, Point):
        return change(value)
    if isinstance(value, Frozen):
        fields = {name: getattr(value, name) for name in type(value).model_fields}
        return value.model_copy(update={name: _with_points(one, change) for name, one in fields.items()})
    if isinstance(value, tuple):
        return tuple(_with_points(one, change) for one in value)
    return value
