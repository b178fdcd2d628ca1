"""Review method. Language models play all roles: one referee judges the whole plan, another goes through it sentence by
sentence, and a reader scores it. Literature is read on the referees' points, an editor writes the review, and all
citations are checked.

If the editor's request fails, the report is partial: it contains the referees' points with their evidence, but no
scores.
"""

from assayer.claim_support.checking import count_claim_outcomes
from assayer.errors import AssayerError
from assayer.evaluation_context import EvaluationContext
from assayer.methods.review.editing import Passages, ask_editor, build_panel_review
from assayer.methods.review.literature import (
    FEW_ON_SUBJECT,
    LiteratureRead,
    choose_papers,
    label_recalled_works,
    read_literature,
)
from assayer.methods.review.options import METHOD, ReviewOptions
from assayer.methods.review.panel import Panel, ask_panel
from assayer.methods.review.passages import check_passages
from assayer.methods.review.prior_work import mask_titles
from assayer.methods.review.schemas import (
    EditedFinding,
    EditedParagraph,
    EditedReview,
    EditedScore,
    FurtherPoint,
    PanelPoint,
)
from assayer.methods.review.scores import ask_plan_scores, build_review_parts, build_review_summary, replace_scores
from assayer.methods.review.sizes import list_size_notices
from assayer.models import Absent, FitLevel
from assayer.reports.assembly import EvaluationResult, Findings, assemble_report
from assayer.reports.wording import format_count
from assayer.run.concurrency import Failed, catch_failure, gather_pair

_STAGES = 4
_LEVELS: tuple[FitLevel, ...] = ("poor", "partial", "good")


async def evaluate(context: EvaluationContext[ReviewOptions]) -> EvaluationResult:
    """Evaluate an idea with a language model. Raises LiteratureError if the corpus fails, or an LlmError if all
    referees fail."""
    run, backends = context.run, context.backends
    run.report_progress(METHOD, 0, _STAGES)
    fit, (panel, plan_scores) = await gather_pair(
        context.library.fit(context.idea.text), gather_pair(ask_panel(context), ask_plan_scores(context))
    )
    if plan_scores is not None:
        plan_scores = mask_titles(plan_scores, panel.prior_work, run)
    run.report_progress(METHOD, 1, _STAGES)
    chosen_papers = await choose_papers(context, panel, fit.level)
    run.report_progress(METHOD, 2, _STAGES)
    literature = await read_literature(context, panel, chosen_papers)
    run.report_progress(METHOD, 3, _STAGES)
    recalled_works = label_recalled_works(panel, literature)
    # The support check needs the editor's input, not its answer, so both run concurrently.
    answer, checked_passages = await gather_pair(
        catch_failure(ask_editor(context, panel, literature, recalled_works, plan_scores)),
        check_passages(literature.passages, backends.llm, run),
    )
    passages = Passages.label_passages(checked_passages)
    no_scores_reason = None
    if isinstance(answer, Failed):
        run.journal.record_failure("editor's review", answer.error)
        no_scores_reason = explain_missing_scores(answer.error)
        answer = build_unedited_review(panel, passages, no_scores_reason)
    elif plan_scores is not None:
        answer = replace_scores(answer, plan_scores, passages)
    elif not context.options.brief:
        no_scores_reason = Absent(reason="the request for the plan's scores failed.")
    review = build_panel_review(answer, context, panel, passages, recalled_works)
    run.report_progress(METHOD, 4, _STAGES)
    findings = Findings(
        summary=build_review_summary(review),
        parts=build_review_parts(answer, review, passages, literature.fit, run.criteria, no_scores_reason),
        corpus_fit=fit.model_copy(update={"level": min(fit.level, literature.fit, key=_LEVELS.index)}),
        papers=literature.papers,
        panel_review=review,
        claims=count_claim_outcomes([passage.quote.support for passage in checked_passages]),
        notices=list_size_notices(context.options),
        on_subject=_describe_few_on_subject(literature),
    )
    return await assemble_report(METHOD, context, findings)


def _describe_few_on_subject(literature: LiteratureRead) -> str:
    """Return a warning for the report if few of the papers that were read are on the plan's subject, otherwise an
    empty string."""
    if not literature.read or literature.on_subject >= FEW_ON_SUBJECT:
        return ""
    return f" On the plan's subject: {literature.on_subject} of {format_count(literature.read, 'paper')} read."


_SEVERITIES = ("fatal", "major", "minor", None)
_MAX_CITED = 2
_MAX_STRENGTHS = 5
_MAX_MAJOR = 6


def explain_missing_scores(error: AssayerError) -> Absent:
    """Return why there are no scores, after the editor's request failed."""
    return Absent(reason=f"the editor's review could not be obtained: {error.reason}.")


def build_unedited_review(panel: Panel, passages: Passages, reason: Absent) -> EditedReview:
    """Convert the referees' points to the form of an editor's answer. Nothing is merged, dropped or scored."""
    by_severity = sorted(panel.points, key=lambda point: _SEVERITIES.index(point.severity))
    strengths = [point for point in by_severity if point.kind == "strength"]
    weaknesses = [point for point in by_severity if point.kind == "weakness" and point.severity in ("fatal", "major")]
    first = {point.label for point in (*strengths[:_MAX_STRENGTHS], *weaknesses[:_MAX_MAJOR])}
    other_points = [point for point in by_severity if point.label not in first and point.kind != "strength"]
    empty_paragraph = EditedParagraph(labels=[], text="", cites=[], named=[])
    score = EditedScore(limited_by=reason.reason, cites=[], certainty_reason="", certainty="low", score=None)
    # Not validated: the length limits are meant for the editor, which can merge and drop points.
    return EditedReview.model_construct(
        strengths=[_build_finding(point, passages) for point in strengths[:_MAX_STRENGTHS]],
        newness=empty_paragraph,
        outlook=empty_paragraph,
        redesign=empty_paragraph,
        major=[_build_finding(point, passages) for point in weaknesses[:_MAX_MAJOR]],
        further=[_build_further_point(point, passages) for point in other_points],
        closest=[],
        soundness=score,
        contribution=score,
        dropped=[],
        verdict=f"There is no verdict: {reason.reason} The points are the referees' own, neither merged nor weighed.",
    )


def _build_finding(point: PanelPoint, passages: Passages) -> EditedFinding:
    return EditedFinding.model_construct(
        labels=[point.label],
        axis="soundness",
        quote="",
        severity="fatal" if point.severity == "fatal" else "major",
        lead="",
        text=f"{point.claim} {point.why}".strip(),
        fix=point.fix,
        cites=passages.find_supported_about(point.label)[:_MAX_CITED],
        named=[],
    )


def _build_further_point(point: PanelPoint, passages: Passages) -> FurtherPoint:
    return FurtherPoint.model_construct(
        labels=[point.label],
        axis="soundness",
        kind="question" if point.kind == "question" else "weakness",
        text=f"{point.claim} {point.fix}".strip(),
        cites=passages.find_supported_about(point.label)[:1],
        named=[],
    )
