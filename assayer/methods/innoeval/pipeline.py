"""InnoEval: divide an idea into parts, compare it with papers, pages and code, and have a board of reviewers judge it.

It follows "InnoEval: On Research Idea Evaluation as a Knowledge-Grounded, Multi-Perspective Reasoning Problem", section
3."""

from typing import NamedTuple

from assayer.errors import NoFallback
from assayer.evaluation_context import EvaluationContext
from assayer.literature.library import rate_field_coverage
from assayer.methods.innoeval.evidence_pack import EvidencePack, ReadSource, ReviewBoard
from assayer.methods.innoeval.extraction import extract_parts, format_digest
from assayer.methods.innoeval.grounding import build_background_part, ground_parts
from assayer.methods.innoeval.options import METHOD, InnoEvalOptions
from assayer.methods.innoeval.search.excerpts import collect_words
from assayer.methods.innoeval.search.fast_search import FastSearch
from assayer.methods.innoeval.search.hybrid_selection import HybridSelection
from assayer.methods.innoeval.search.iterative_search import IterativeSearch
from assayer.methods.innoeval.search.slow_reading import SlowReader
from assayer.models import Absent, CorpusFit
from assayer.plan_review.review import review_plan
from assayer.reports.assembly import EvaluationResult, Findings, assemble_report
from assayer.run.concurrency import catch_failure, gather_pair

_STAGES = 4


def build_no_reviewers_error() -> NoFallback:
    """Return the error to raise if no language model is configured."""
    return NoFallback(
        "InnoEval needs a language model: its reviewers are language models.",
        "Configure one, or use --method scholareval or --method grapheval, which work without one.",
    )


async def evaluate(context: EvaluationContext[InnoEvalOptions], board: ReviewBoard) -> EvaluationResult:
    """Evaluate an idea. Raises NoFallback if no language model is configured, and an AssayerError if the extraction,
    the corpus or the whole board fails."""
    if not context.has_model:
        raise build_no_reviewers_error()
    run = context.run
    run.report_progress("innoeval", 0, _STAGES)
    (pack, fit, search), plan = await gather_pair(_collect_evidence(context), review_plan(context))
    if not isinstance(plan.review.flaws, Absent):
        pack = pack.model_copy(update={"plan_flaws": plan.review.flaws})
    board_result = await board.deliberate(pack)
    run.report_progress("innoeval", _STAGES, _STAGES)

    sources = (*pack.before_cutoff, *pack.after_cutoff)
    findings = Findings(
        summary=board_result.summary,
        parts=board_result.parts,
        corpus_fit=fit,
        papers={source.paper.id: source.paper for source in sources} | plan.papers,
        not_papers={source.paper.id for source in sources if source.kind != "literature"},
        board=board_result.board,
        background=(build_background_part(pack, search),),
        notices=board_result.notices,
        plan_review=plan.review,
    )
    return await assemble_report(METHOD, context, findings)


class _Collected(NamedTuple):
    pack: EvidencePack
    fit: CorpusFit
    """Coverage of the field by the local corpus alone, regardless of results from other sources."""
    search: str
    """Description of how sources were searched and ranked, in a sentence or two."""


async def _collect_evidence(context: EvaluationContext[InnoEvalOptions]) -> _Collected:
    """Run all steps before the board: extraction, search, slow reading and grounding."""
    idea, run = context.idea, context.run
    six_tuple, fit = await gather_pair(extract_parts(context), context.library.fit(idea.text))
    run.report_progress("innoeval", 1, _STAGES)

    idea_digest = format_digest(idea.title, six_tuple)
    idea_summary = "\n".join([idea.title, six_tuple.tldr or "", *six_tuple.methods])
    sources = FastSearch(context)
    selection = HybridSelection(context, idea_digest, idea_summary)
    search = IterativeSearch(context, sources, selection, idea_digest)
    reading = SlowReader(context, sources, collect_words(idea_digest))

    selected_sources = await search.find_best_sources(six_tuple.parts)
    run.report_progress("innoeval", 2, _STAGES)
    sources_before = await reading.read(selected_sources, "before")
    fit_level = rate_field_coverage(fit.level, run.journal.near_remote_papers)  # all searches for the board are done

    async def read_later_sources() -> tuple[ReadSource, ...]:
        return await reading.read(await search.find_later_sources(), "after")

    groundings, sources_after = await gather_pair(
        ground_parts(context, idea_digest, six_tuple.parts, sources_before),
        catch_failure(read_later_sources()),
    )
    run.report_progress("innoeval", 3, _STAGES)
    pack = EvidencePack(
        idea=idea,
        text=context.text,
        six_tuple=six_tuple,
        before_cutoff=sources_before,
        after_cutoff=next(iter(run.keep_successes([sources_after], "search for later work")), ()),
        groundings=groundings,
        fit=fit.model_copy(update={"level": fit_level}),
    )
    return _Collected(pack, fit, f"{search.summary} {selection.summary}")
