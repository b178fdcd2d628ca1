"""Queries for parts of the idea and kinds of sources, and what is made of them when they fall short."""

from collections.abc import Sequence
from typing import NamedTuple

from assayer.evidence import plain
from assayer.methods.innoeval.dossier import IdeaPart, Kind
from assayer.methods.innoeval.schemas import (
    AskedPart,
    PartQueries,
    QueriesQuestion,
    RefinementQuestion,
    Tried,
    TriedFind,
)
from assayer.methods.innoeval.sources import Query
from assayer.methods.innoeval.tasks import QUERIES, refining
from assayer.ports import Llm
from assayer.run import Run
from assayer.tasks import ask

__all__ = ["Outcome", "asked", "first_queries", "refined_queries"]


class Outcome(NamedTuple):
    """A query and what it found."""

    query: Query
    found: int
    relevant: int
    finds: tuple[TriedFind, ...]
    """The best of them."""


def asked(parts: Sequence[IdeaPart]) -> tuple[AskedPart, ...]:
    """Parts under labels of one prompt, from S1."""
    return tuple(AskedPart(label=f"S{n}", name=part.name, text=part.text) for n, part in enumerate(parts, start=1))


async def first_queries(
    llm: Llm, run: Run, digest: str, parts: Sequence[IdeaPart], kinds: Sequence[Kind]
) -> list[Query]:
    """Raises an LlmError, BudgetExhausted or RunCancelled."""
    shown = asked(parts)
    answer = await ask(llm, QUERIES, QueriesQuestion(digest=digest, parts=shown, kinds=tuple(kinds)), run)
    names = {part.label: part.name for part in shown}
    return [
        Query(names[entry.part], kind, text)
        for entry in answer.queries
        for kind in kinds
        for text in map(plain, _of_kind(entry, kind))
        if text
    ]


def _of_kind(entry: PartQueries, kind: Kind) -> list[str]:
    return {"literature": entry.literature, "web": entry.web, "code": entry.code}[kind]


async def refined_queries(llm: Llm, run: Run, digest: str, outcomes: Sequence[Outcome], limit: int) -> list[Query]:
    """What to ask instead of or beside what was asked, of the same kind for the same part. Raises as
    `first_queries`."""
    tried = {
        f"Q{number}": Tried(
            label=f"Q{number}",
            kind=one.query.kind,
            part=one.query.part,
            query=one.query.text,
            found=one.found,
            relevant=one.relevant,
            finds=one.finds,
        )
        for number, one in enumerate(outcomes, start=1)
    }
    question = RefinementQuestion(digest=digest, tried=tuple(tried.values()), limit=limit)
    answer = await ask(llm, refining(limit), question, run)
    refined = [(tried[one.tried], plain(one.query)) for one in answer.queries]
    return [Query(origin.part, origin.kind, text) for origin, text in refined if text][:limit]
