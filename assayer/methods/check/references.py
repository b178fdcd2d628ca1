"""Find works that a plan may have missed: several of its closest papers cite them, and the plan does not."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from assayer.citing.evidence import build_citation
from assayer.citing.labels import build_marker
from assayer.evaluation_context import EvaluationContext
from assayer.methods.check.options import CheckOptions
from assayer.models import OftenCited, OwnReferences, Paper, PaperId

_MIN_CITING = 2
_MIN_TITLE_CHARS = 12
"""Minimum length of a title, in characters; a shorter one that occurs in the plan's text does not count as a
mention."""


class CitedWorks(NamedTuple):
    works: tuple[OftenCited, ...]
    papers: Mapping[PaperId, Paper]
    """The papers in `works`, by id."""


async def collect_own_papers(context: EvaluationContext[CheckOptions]) -> frozenset[PaperId] | None:
    """Return the ids of the papers identified in the plan's own references; None if no reference could be checked."""
    own_references = await context.run.own_references_check if context.run.own_references_check else None
    if not isinstance(own_references, OwnReferences):
        return None
    return frozenset(entry.record.id for entry in own_references.entries if entry.record is not None)


async def find_often_cited(context: EvaluationContext[CheckOptions], closest: Sequence[PaperId]) -> CitedWorks:
    """Return works that several of the closest papers cite and the plan does not name, most cited first."""
    if not closest or not context.options.references:
        return CitedWorks((), {})
    references_by_paper = await context.library.references(closest, context.options.references)
    own_papers = await collect_own_papers(context) or frozenset()
    text = _normalise(context.text)
    citing_by_work: dict[PaperId, list[PaperId]] = {}
    papers: dict[PaperId, Paper] = {}
    for paper in closest:
        for work in references_by_paper.get(paper, []):
            papers[work.id] = work
            citing_by_work.setdefault(work.id, []).append(paper)
    missed_works = [
        work
        for work, citing_papers in citing_by_work.items()
        if len(citing_papers) >= _MIN_CITING
        and work not in own_papers
        and work not in closest
        and not _is_named(papers[work], text)
    ]
    most_cited = sorted(missed_works, key=lambda work: (-len(citing_by_work[work]), work))[: context.options.listed]
    context.run.journal.record_dropped(
        "often-cited work",
        "cited by fewer of the closest papers than those listed",
        len(missed_works) - len(most_cited),
    )
    works = (
        OftenCited(
            label=build_marker(work),
            cited_by=tuple(build_citation(citing_papers, None) for citing_papers in citing_by_work[work]),
        )
        for work in most_cited
    )
    return CitedWorks(tuple(works), {work: papers[work] for work in most_cited})


def _is_named(paper: Paper, text: str) -> bool:
    title = _normalise(paper.title)
    return len(title) >= _MIN_TITLE_CHARS and title in text


def _normalise(text: str) -> str:
    return " ".join("".join(letter if letter.isalnum() else " " for letter in text.casefold()).split())
