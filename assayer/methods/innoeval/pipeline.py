"""InnoEval: an idea taken apart, held against papers, pages and code, and judged by a board of reviewers.

After "InnoEval: On Research Idea Evaluation as a Knowledge-Grounded, Multi-Perspective Reasoning Problem", section 3.
"""

from typing import NamedTuple

from assayer.backends import Backends
from assayer.errors import NoFallback
from assayer.literature.library import Library, field_coverage
from assayer.methods.innoeval.evidence_pack import EvidencePack, ReadSource, ReviewBoard
from assayer.methods.innoeval.extraction import digest, extract
from assayer.methods.innoeval.grounding import background_part, ground
from assayer.methods.innoeval.options import METHOD, InnoEvalOptions
from assayer.methods.innoeval.search.excerpts import words_of
from assayer.methods.innoeval.search.fast_search import FastSearch
from assayer.methods.innoeval.search.hybrid_selection import HybridSelection
from assayer.methods.innoeval.search.iterative_search import IterativeSearch
from assayer.methods.innoeval.search.slow_reading import SlowReader
from assayer.models import Absent, CorpusFit, Idea, ModuleDepth, Notice
from assayer.plan_review.review import review_plan
from assayer.reports.assembly import EvaluationResult, Findings, assemble_report
from assayer.run.accounting import Started
from assayer.run.run import Run
from assayer.run.structured_concurrency import attempt, both, measured

__all__ = ["evaluate", "no_reviewers_error"]

_STAGES = 4
_UNGROUNDED = Notice(
    kind="weak_signal",
    text="Left out by the settings: what was found was not matched to the idea's parts, so nothing is quoted.",
)


def no_reviewers_error() -> NoFallback:
    """What callers raise when there is no language model."""
    return NoFallback(
        "InnoEval's reviewers are language models: without one there is nobody on its board.",
        "Configure one, or use --method scholareval or --method grapheval, which can do without.",
    )


async def evaluate(
    idea: Idea, backends: Backends, run: Run, options: InnoEvalOptions, board: ReviewBoard
) -> EvaluationResult:
    """Raises NoFallback without a language model, else what the extraction, the corpus or the whole board raise."""
    if not backends.llm.models:
        raise no_reviewers_error()
    started = Started.now(run.clock)
    library = Library(backends.literature, backends.full_texts, run, idea)
    run.report_progress("innoeval", 0, _STAGES)
    ((pack, fit, search), search_depth), (plan, plan_depth) = await both(
        measured(_collect_evidence(idea, backends, run, options, library)),
        measured(review_plan(idea.text[: options.idea_chars], backends.llm, library, run)),
    )
    if not isinstance(plan.review.flaws, Absent):
        pack = pack.model_copy(update={"plan_flaws": plan.review.flaws})
    board_result, board_depth = await measured(board.deliberate(pack))
    run.report_progress("innoeval", _STAGES, _STAGES)

    sources = (*pack.before_cutoff, *pack.after_cutoff)
    findings = Findings(
        summary=board_result.summary,
        parts=board_result.parts,
        depth=(
            ModuleDepth(module="search", levels=search_depth),
            ModuleDepth(module="board", levels=board_depth),
            *([ModuleDepth(module="plan", levels=plan_depth)] if plan_depth else []),
        ),
        corpus_fit=fit,
        papers={one.paper.id: one.paper for one in sources} | plan.papers,
        not_papers={one.paper.id for one in sources if one.kind != "literature"},
        board=board_result.board,
        background=(background_part(pack, search),),
        notices=(*board_result.notices, *([] if options.grounding else [_UNGROUNDED])),
        plan_review=plan.review,
    )
    return await assemble_report(METHOD, idea, backends, run, started, findings, library)


class _Collected(NamedTuple):
    pack: EvidencePack
    fit: CorpusFit
    """Of the corpus alone, whatever was found beyond it."""
    search: str
    """How it was searched and ranked, in a sentence or two."""


async def _collect_evidence(
    idea: Idea, backends: Backends, run: Run, options: InnoEvalOptions, library: Library
) -> _Collected:
    """Everything before the board: extraction, search, slow reading, grounding."""
    text = idea.text[: options.idea_chars]
    run.unread_characters = len(idea.text) - len(text)
    six_tuple, fit = await both(extract(backends.llm, run, text), library.fit(idea.text))
    run.report_progress("innoeval", 1, _STAGES)

    idea_digest = digest(idea.title, six_tuple)
    idea_summary = "\n".join([idea.title, six_tuple.tldr or "", *six_tuple.methods])
    sources = FastSearch(backends, library, run, idea, options)
    selection = HybridSelection(backends, library, run, options, idea_digest, idea_summary)
    search = IterativeSearch(backends.llm, run, options, sources, selection, idea_digest)
    reading = SlowReader(backends, library, sources, run, options, words_of(idea_digest))

    selected = await search.best_sources(six_tuple.parts)
    run.report_progress("innoeval", 2, _STAGES)
    before = await reading.read(selected, "before")
    covered = field_coverage(fit.level, run.journal.near_remote_papers)  # every search that judges is done

    async def read_later_sources() -> tuple[ReadSource, ...]:
        return await reading.read(await search.later_sources(), "after")

    groundings, after = await both(
        ground(backends.llm, run, options, idea_digest, six_tuple.parts, before if options.grounding else ()),
        attempt(read_later_sources()),
    )
    run.report_progress("innoeval", 3, _STAGES)
    pack = EvidencePack(
        idea=idea,
        text=text,
        six_tuple=six_tuple,
        before_cutoff=before,
        after_cutoff=next(iter(run.keep_successes([after], "search for later work")), ()),
        groundings=groundings,
        fit=fit.model_copy(update={"level": covered}),
    )
    return _Collected(pack, fit, f"{search.summary} {selection.summary}")
