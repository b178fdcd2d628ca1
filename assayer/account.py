"""The account of a run: coverage, provenance, usage and notices, drawn from its journal."""

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence

from assayer import __version__
from assayer.errors import BudgetExhausted
from assayer.models import (
    Absent,
    CallRecord,
    Citation,
    CorpusFit,
    Coverage,
    Idea,
    ModuleDepth,
    Notice,
    Paper,
    PaperId,
    Part,
    Provenance,
    Reference,
    Usage,
)
from assayer.run import Run
from assayer.world import World

__all__ = ["cost", "coverage", "general_notices", "notices", "provenance", "usage"]


def coverage(
    run: Run,
    fit: CorpusFit | Absent,
    parts: Sequence[Part],
    references: Sequence[Reference],
    depth: tuple[ModuleDepth, ...],
) -> Coverage:
    journal = run.journal
    states = [citation.quote_state for citation in _reading_quotes(parts)]
    return Coverage(
        corpus_fit=fit,
        sources=journal.sources(),
        troubles=journal.troubles(),
        papers_found=len(journal.found),
        papers_read=len(journal.read),
        papers_cited=len(references),
        full_texts=len(journal.full_texts),
        quotes_verified=states.count("verified"),
        quotes_unverified=states.count("not_found"),
        llm_calls=sum(call.model != "none" for call in journal.calls),
        faults=journal.faults(),
        dropped=journal.dropped(),
        depth=depth,
    )


def _reading_quotes(parts: Iterable[Part]) -> list[Citation]:
    return [
        reading.quote
        for part in parts
        for assessment in part.assessments
        for reading in assessment.readings
        if reading.quote is not None
    ]


def cost(calls: Iterable[CallRecord]) -> float | Absent:
    """What calls cost together, in US dollars."""
    costs = [(call.model, call.cost_usd) for call in calls]
    unknown = sorted({model for model, cost in costs if cost is None})
    if unknown:
        return Absent(reason=f"No price is configured for {', '.join(unknown)}.")
    return round(sum(cost for _, cost in costs if cost is not None), 6)


def provenance(world: World, run: Run) -> Provenance:
    calls = run.journal.calls
    return Provenance(
        assayer_version=__version__,
        models=tuple(sorted({call.model for call in calls if call.model != "none"})),
        embedding_model=world.embedder.name,
        reranking_model=world.reranker.name if world.reranker else None,
        prompts=run.journal.prompts(),
        corpus_version=world.literature.version,
        prompt_tokens=sum(call.prompt_tokens for call in calls),
        completion_tokens=sum(call.completion_tokens for call in calls),
        cost_usd=cost(calls),
    )


def usage(run: Run, started_at: dt.datetime, started: float) -> Usage:
    paid = [call for call in run.journal.calls if not call.cached and call.model != "none"]
    return Usage(
        started_at=started_at,
        wall_seconds=round(run.clock.monotonic() - started, 3),
        llm_calls_paid=len(paid),
        llm_calls_cached=sum(call.cached for call in run.journal.calls),
        paid_usd=_paid(run),
    )


def _paid(run: Run) -> float | Absent:
    """From the budget, which was also charged for answers that were no use."""
    priced = cost(call for call in run.journal.calls if not call.cached)
    return priced if isinstance(priced, Absent) else round(run.budget.spent_usd, 6)


def notices(
    idea: Idea,
    world: World,
    run: Run,
    fit: CorpusFit,
    own: Mapping[PaperId, Paper],
    parts: Sequence[Part],
    references: Sequence[Reference],
) -> tuple[Notice, ...]:
    """In the order in which a reader should meet them."""
    found = [
        _no_llm(world),
        _corpus_fit(fit, run.journal.searched_beyond(world.literature.source), run.journal.near_beyond),
        _budget(run),
        _retraction(parts, references),
        _injection(idea, run),
        _own_paper(own),
        _long_idea(run),
    ]
    absent = [
        Notice(kind="absent_part", text=f"There is no verdict on {part.title.lower()}: {part.score.reason}")
        for part in parts
        if isinstance(part.score, Absent)
    ]
    return tuple(notice for notice in [*found, *absent] if notice is not None)


def general_notices(idea: Idea, run: Run) -> tuple[Notice, ...]:
    """Those that concern a method without literature too."""
    found = (_budget(run), _injection(idea, run), _long_idea(run))
    return tuple(notice for notice in found if notice is not None)


def _no_llm(world: World) -> Notice | None:
    if world.llm.models:
        return None
    text = (
        "Made without a language model: methods, dimensions and points are extracts of the idea and of papers, "
        "matched by sentence embeddings. Similar words are not the same as similar claims; read it as a guided "
        "search of the literature, and its scores as measures of overlap, not as verdicts."
    )
    return Notice(kind="no_llm", text=text)


def _corpus_fit(fit: CorpusFit, beyond: Sequence[str], near: Mapping[PaperId, str]) -> Notice | None:
    """A search in remote sources adds papers, and takes nothing from what the corpus lacks: it is rationed, sees
    titles and abstracts, and returns what it was asked for."""
    if fit.level == "good":
        return None
    extent = "covers the field of this idea only in part" if fit.level == "partial" else "does not cover the field"
    if beyond:
        text = (
            f"The local corpus {extent} (fit {fit.value:.2f}). Searches in {', '.join(beyond)} found {len(near)} "
            "paper(s) near what they were asked. What none of them returned may well exist: nothing here counts as "
            "new because they are silent about it."
        )
    else:
        text = (
            f"The searched corpus {extent} (fit {fit.value:.2f}). What it does not contain may well exist: nothing "
            "here counts as new because the corpus is silent about it."
        )
    return Notice(kind="corpus_fit", text=text)


def _retraction(parts: Sequence[Part], references: Sequence[Reference]) -> Notice | None:
    marked = {one.label: one for one in references if one.retraction is not None}
    points = [point for part in parts for assessment in part.assessments for point in assessment.points]
    carried = [{citation.label for citation in point.citations} & marked.keys() for point in points]
    carriers = sorted(set().union(*carried), key=lambda label: int(label[1:]))
    if not carriers:
        return None
    text = (
        f"{sum(map(bool, carried))} point(s) rest on papers that no longer stand as published: "
        f"{', '.join(f'[{label}]' for label in carriers)}. Each is marked where it is cited; the notices stand in the "
        "references."
    )
    return Notice(kind="retraction", text=text)


def _budget(run: Run) -> Notice | None:
    spent = next((error for error in run.journal.errors if isinstance(error, BudgetExhausted)), None)
    if spent is None:
        return None
    return Notice(kind="budget", text=f"{spent.message} The report holds what had been answered by then.")


def _injection(idea: Idea, run: Run) -> Notice | None:
    in_idea = [flag for flag in idea.flags if flag.kind != "label_lookalike"]
    suspects = sorted(run.journal.suspects.values())
    if not in_idea and not suspects:
        return None
    places = [f"{len(in_idea)} in the idea, shown beside it"] if in_idea else []
    if suspects:
        named = ", ".join(f"“{title}”" for title in suspects[:3])
        places.append(f"in {len(suspects)} of the papers read, among them {named}")
    text = (
        f"Suspicious text was found ({'; '.join(places)}): hidden characters or instructions to reviewers. It was "
        "treated as data."
    )
    return Notice(kind="injection", text=text)


def _long_idea(run: Run) -> Notice | None:
    if not run.unread_characters:
        return None
    text = f"The idea is too long to be judged as a whole: its last {run.unread_characters:,} characters were not read."
    return Notice(kind="long_idea", text=text)


def _own_paper(own: Mapping[PaperId, Paper]) -> Notice | None:
    if not own:
        return None
    return Notice(
        kind="own_paper",
        text=f"{len(own)} paper(s) in the corpus look like this idea's own publication and were left out.",
    )
