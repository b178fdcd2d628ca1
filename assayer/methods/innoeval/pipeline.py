"""InnoEval: an idea taken apart, held against papers, pages and code, and judged by a board of reviewers.

After "InnoEval: On Research Idea Evaluation as a Knowledge-Grounded, Multi-Perspective Reasoning Problem", section 3.
"""

from collections.abc import Mapping
from typing import NamedTuple

from assayer import account
from assayer.errors import NoFallback
from assayer.evaluation import Evaluation
from assayer.flow import attempt, both, measured
from assayer.library import Library
from assayer.methods.innoeval.background import background
from assayer.methods.innoeval.dossier import Board, Dossier, Knowledge
from assayer.methods.innoeval.excerpts import words_of
from assayer.methods.innoeval.extraction import digest, extract
from assayer.methods.innoeval.grounding import ground
from assayer.methods.innoeval.options import METHOD, Options
from assayer.methods.innoeval.reading import Reading
from assayer.methods.innoeval.searching import Search
from assayer.methods.innoeval.selection import Selection
from assayer.methods.innoeval.sources import Sources
from assayer.models import CorpusFit, Idea, IdeaCard, ModuleDepth, Paper, PaperId, Report
from assayer.numbering import Numbering
from assayer.run import Run
from assayer.world import World

__all__ = ["evaluate", "no_reviewers"]

_STAGES = 4


def no_reviewers() -> NoFallback:
    """For whoever finds out that there is no language model."""
    return NoFallback(
        "InnoEval's reviewers are language models: without one there is nobody on its board.",
        "Configure one, or use --method scholareval or --method grapheval, which can do without.",
    )


async def evaluate(idea: Idea, world: World, run: Run, options: Options, board: Board) -> Evaluation:
    """Raises NoFallback without a language model, else what the extraction, the corpus or the whole board raise."""
    if not world.llm.models:
        raise no_reviewers()
    started_at, started = run.clock.now(), run.clock.monotonic()
    library = Library(world.literature, world.full_texts, run, idea)
    (dossier, fit, search), search_depth = await measured(_investigate(idea, world, run, options, library))
    deliberation, board_depth = await measured(board.deliberate(dossier))
    run.tell("innoeval", _STAGES, _STAGES)

    numbering = Numbering()
    summary = numbering.apply(deliberation.summary)
    judged = tuple(map(numbering.apply, deliberation.parts))
    record = numbering.apply(deliberation.board) if deliberation.board else None
    parts = (*judged, numbering.apply(background(dossier, search)))
    known = {one.paper.id: one for one in (*dossier.before, *dossier.after)}
    papers = numbering.papers({key: one.paper for key, one in known.items()})
    papers = await _as_they_stand(library, papers, known)
    references = numbering.references(papers)
    depth = (
        ModuleDepth(module="search", levels=search_depth),
        ModuleDepth(module="board", levels=board_depth),
    )
    report = Report(
        evaluation_id=run.id,
        method=METHOD,
        idea=IdeaCard(id=idea.id, title=idea.title, source=idea.source, text=idea.text, flags=idea.flags),
        cutoff=run.cutoff,
        notices=(
            *account.notices(idea, world, run, fit, library.own_papers, judged, references),
            *deliberation.notices,
        ),
        summary=summary,
        parts=parts,
        board=record,
        references=references,
        coverage=account.coverage(run, fit, parts, references, depth),
        provenance=account.provenance(world, run),
        usage=account.usage(run, started_at, started),
    )
    return Evaluation(report, papers)


class _Investigation(NamedTuple):
    dossier: Dossier
    fit: CorpusFit
    """Of the corpus alone, whatever was found beyond it."""
    search: str
    """How it was searched and ranked, in a sentence or two."""


async def _investigate(idea: Idea, world: World, run: Run, options: Options, library: Library) -> _Investigation:
    """Everything before the board: extraction, search, slow reading, grounding."""
    text = idea.text[: options.idea_chars]
    run.unread_characters = len(idea.text) - len(text)
    six, fit = await both(extract(world.llm, run, text), library.fit(idea.text))
    run.tell("innoeval", 1, _STAGES)

    told = digest(idea.title, six)
    about = "\n".join([idea.title, six.tldr or "", *six.methods])
    sources = Sources(world, library, run, idea, options)
    selection = Selection(world, library, run, options, told, about)
    search = Search(world.llm, run, options, sources, selection, told)
    reading = Reading(world, library, sources, run, options, words_of(told))

    winners = await search.winners(six.parts)
    run.tell("innoeval", 2, _STAGES)
    before = await reading.read(winners, "before")
    covered = library.level(fit.level)

    async def later() -> tuple[Knowledge, ...]:
        return await reading.read(await search.later(), "after")

    groundings, after = await both(
        ground(world.llm, run, options, told, six.parts, before),
        attempt(later()),
    )
    run.tell("innoeval", 3, _STAGES)
    dossier = Dossier(
        idea=idea,
        text=text,
        six=six,
        before=before,
        after=next(iter(run.keep([after], "search for what came after the cutoff")), ()),
        groundings=groundings,
        fit=fit.model_copy(update={"level": covered}),
    )
    return _Investigation(dossier, fit, f"{search.account} {selection.account}")


async def _as_they_stand(
    library: Library, papers: tuple[Paper, ...], known: Mapping[PaperId, Knowledge]
) -> tuple[Paper, ...]:
    """Papers alone can be retracted; no source is asked about pages and repositories."""
    marked = await library.as_they_stand([paper for paper in papers if known[paper.id].kind == "literature"])
    notices = {paper.id: paper for paper in marked}
    return tuple(notices.get(paper.id, paper) for paper in papers)
