"""Convert the editor's review to the scores, parts and points that all methods' reports share."""

from collections.abc import Sequence

from assayer.citing.claim_quotes import PointKind
from assayer.citing.labels import build_marker
from assayer.criteria.part import JudgedCriterion, criteria_part, label_criteria
from assayer.evaluation_context import EvaluationContext
from assayer.methods.review import tasks
from assayer.methods.review.editing import Passages
from assayer.methods.review.options import ReviewOptions
from assayer.methods.review.schemas import (
    EditedCriterion,
    EditedReview,
    EditedReviewByCriteria,
    EditedScore,
    PlanScore,
    PlanScores,
    PlanScoringQuestion,
)
from assayer.models import (
    UNDERSPECIFIED,
    Absent,
    Assessment,
    Axis,
    Criterion,
    EvidenceRelation,
    FitLevel,
    PanelEvidence,
    PanelFinding,
    PanelReview,
    Part,
    Point,
    Reading,
    Score,
    Summary,
)
from assayer.run.concurrency import catch_failure

_MIN_SCORES: tuple[tuple[EvidenceRelation, int], ...] = (("already_has", 1), ("has_part", 3))
"""Minimum contribution score if a cited passage has this relation to what the plan claims as new."""
_MIN_SCORE_WITHOUT_PASSAGE = 5
"""Minimum contribution score if no such passage is cited, according to the rubric."""
_TITLES: dict[Axis, str] = {"soundness": "Soundness", "contribution": "Contribution"}
_STANCES: dict[EvidenceRelation, tuple[Axis, int]] = {
    "supports": ("soundness", 1),
    "weakens": ("soundness", -1),
    "contradicts": ("soundness", -1),
    "background": ("soundness", 0),
    "already_has": ("contribution", -1),
    "has_part": ("contribution", -1),
    "missing_comparison": ("contribution", 0),
}
"""The report part that lists a passage with this relation, and the passage's stance there."""
_STEPS = 10
"""Points on the editor's scale (10 to 100) per point on the report's scale (1 to 10)."""
_MAX_SCORE_IF_FATAL = 2.4
"""Maximum soundness score for a plan with a fatal finding, according to the rubric's anchor: the planned work does not
test the claim."""
_MAX_IN_SUMMARY = 3


async def ask_plan_scores(context: EvaluationContext[ReviewOptions]) -> PlanScores | None:
    """Ask a reader model for the scores, showing it only the plan and none of the panel's points. Returns None for a
    brief review. If there is no answer, records that in the journal and returns None."""
    if context.options.brief:
        return None
    outcome = await catch_failure(context.ask(tasks.SCORES, PlanScoringQuestion(idea=context.text)))
    successes = context.run.keep_successes([outcome], "score of the plan by itself")
    return successes[0] if successes else None


def replace_scores(answer: EditedReview, plan: PlanScores, passages: Passages) -> EditedReview:
    """Replace the editor's scores with those from the reader that saw only the plan.

    Shown some sixty objections, an editor gives nearly every plan the same scores (docs/adr/0077). Its contribution
    score is kept if it is lower and cites a passage that already has what the plan claims as new."""
    edited_score = answer.contribution
    lower = edited_score.score is not None and (
        plan.contribution.score is None or edited_score.score < plan.contribution.score
    )
    relations = {passages.by_label[label].relation for label in passages.keep_supported(edited_score.cites)}
    keep = lower and bool(relations & {"already_has", "has_part"})
    contribution = edited_score if keep else _combine_scores(edited_score, plan.contribution)
    return answer.model_copy(
        update={"soundness": _combine_scores(answer.soundness, plan.soundness), "contribution": contribution}
    )


def _combine_scores(edited_score: EditedScore, plan: PlanScore) -> EditedScore:
    """Combine the plan reader's score with the editor's reason; the review states that reason as a finding. If the plan
    reader gave no score, its own reason is used."""
    limited_by = edited_score.limited_by if plan.score is not None else plan.limited_by
    return edited_score.model_copy(update={"limited_by": limited_by, "cites": [], "score": plan.score})


def build_review_parts(
    answer: EditedReview,
    review: PanelReview,
    passages: Passages,
    fit: FitLevel,
    criteria: Sequence[Criterion] = (),
    no_scores_reason: Absent | None = None,
) -> tuple[Part, ...]:
    """Return the parts for soundness and contribution, with scores, points and readings, and the part that answers the
    criteria of the call for proposals, if it has any. `no_scores_reason` is the reason why there are no scores."""
    parts = (
        _build_part(
            "soundness", no_scores_reason or _build_soundness_score(answer.soundness, review, passages), review
        ),
        _build_part(
            "contribution", no_scores_reason or _build_contribution_score(answer.contribution, passages, fit), review
        ),
    )
    if not isinstance(answer, EditedReviewByCriteria):
        return parts
    answers = {item.label: item for item in answer.criteria}
    judged_criteria = [
        _build_judged_criterion(criterion, answers[labelled_criterion.label], passages)
        for criterion, labelled_criterion in zip(criteria, label_criteria(criteria), strict=True)
    ]
    return (*parts, criteria_part(judged_criteria))


def _build_judged_criterion(
    criterion: Criterion, edited_criterion: EditedCriterion, passages: Passages
) -> JudgedCriterion:
    evidence = [passages.by_label[label] for label in passages.keep_supported(edited_criterion.cites)]
    labels = "".join(f" [{label}]" for label in dict.fromkeys(build_marker(item.paper) for item in evidence))
    limit = Point(
        kind="weakness", text=f"{edited_criterion.limited_by}{labels}", citations=tuple(item.quote for item in evidence)
    )
    return JudgedCriterion(
        criterion,
        edited_criterion.answer,
        edited_criterion.score,
        edited_criterion.certainty,
        limit if edited_criterion.limited_by else None,
    )


def build_review_summary(findings: PanelReview) -> Summary:
    """Return the report's summary: the first findings of each kind."""
    return Summary(
        strengths=_build_points(findings, findings.strengths[:_MAX_IN_SUMMARY]),
        weaknesses=_build_points(findings, findings.major_weaknesses[:_MAX_IN_SUMMARY]),
        suggestions=_build_points(findings, findings.minor_points[:_MAX_IN_SUMMARY], kind="suggestion"),
    )


def _build_score(edited_score: EditedScore, passages: Passages) -> Score | Absent:
    if edited_score.score is None:
        return Absent(reason=f"{UNDERSPECIFIED}: {edited_score.limited_by}")
    cited_labels = dict.fromkeys(
        build_marker(passages.by_label[label].paper) for label in passages.keep_supported(edited_score.cites)
    )
    basis = " ".join((edited_score.limited_by.rstrip("."), *(f"[{label}]" for label in cited_labels))) + "."
    return Score(
        value=edited_score.score / _STEPS,
        scale_min=1,
        scale_max=10,
        basis=f"{basis} Certainty: {edited_score.certainty_reason.rstrip('.')}.",
        certainty=edited_score.certainty,
    )


def _build_soundness_score(edited_score: EditedScore, review: PanelReview, passages: Passages) -> Score | Absent:
    """Return the soundness score, capped at `_MAX_SCORE_IF_FATAL` if the review has a fatal finding."""
    score = _build_score(edited_score, passages)
    fatal = next((finding for finding in review.major_weaknesses if finding.severity == "fatal"), None)
    if isinstance(score, Absent) or fatal is None or score.value <= _MAX_SCORE_IF_FATAL:
        return score
    limit = f"{(fatal.headline or fatal.text).rstrip('.')}. A fatal finding limits soundness to {_MAX_SCORE_IF_FATAL}"
    return score.model_copy(
        update={"value": _MAX_SCORE_IF_FATAL, "basis": f"{limit}; without it, the score is {score.value:g}."}
    )


def _build_contribution_score(edited_score: EditedScore, passages: Passages, fit: FitLevel) -> Score | Absent:
    """Return the contribution score, raised to the minimum that the cited passages allow."""
    score = _build_score(edited_score, passages)
    if isinstance(score, Absent):
        return score
    cited_relations = {passages.by_label[label].relation for label in passages.keep_supported(edited_score.cites)}
    lowest = next((limit for relation, limit in _MIN_SCORES if relation in cited_relations), _MIN_SCORE_WITHOUT_PASSAGE)
    if score.value < lowest:
        reason = f"The editor gave {score.value:g}, but cited no passage that has what is claimed as new"
        basis = f"{score.basis} {reason}; the lowest score is then {lowest}."
        return score.model_copy(update={"value": lowest, "basis": basis, "certainty": "low"})
    return score if fit != "poor" else score.model_copy(update={"certainty": "low"})


def _build_part(axis: Axis, score: Score | Absent, review: PanelReview) -> Part:
    def select_findings(findings: Sequence[PanelFinding]) -> list[PanelFinding]:
        return [finding for finding in findings if finding.axis == axis]

    strengths = _build_points(review, select_findings(review.strengths))
    weaknesses = _build_points(review, select_findings(review.major_weaknesses))
    minor = _build_points(review, select_findings(review.minor_points), kind="suggestion")
    assessment = Assessment(
        name=_TITLES[axis],
        statement=review.verdict if axis == "soundness" else "",
        score=score,
        points=(*strengths, *weaknesses, *minor),
        readings=tuple(_build_reading(item) for item in review.evidence if _STANCES[item.relation][0] == axis),
    )
    summary = Summary(
        strengths=strengths[:_MAX_IN_SUMMARY],
        weaknesses=weaknesses[:_MAX_IN_SUMMARY],
        suggestions=minor[:_MAX_IN_SUMMARY],
    )
    return Part(name=axis, title=_TITLES[axis], score=score, summary=summary, assessments=(assessment,))


def _build_reading(evidence: PanelEvidence) -> Reading:
    stance = _STANCES[evidence.relation][1]
    return Reading(
        label=evidence.label,
        stance=-1 if stance < 0 else 1 if stance else 0,
        text=evidence.conclusion,
        quote=evidence.quote,
    )


def _build_points(
    review: PanelReview, findings: Sequence[PanelFinding], kind: PointKind | None = None
) -> tuple[Point, ...]:
    return tuple(
        _build_point(review, finding, kind or ("strength" if finding.kind == "strength" else "weakness"))
        for finding in findings
    )


def _build_point(review: PanelReview, finding: PanelFinding, kind: PointKind) -> Point:
    evidence = [review.evidence[number] for number in finding.evidence]
    lead = f"{finding.headline}: " if finding.headline else ""
    fix = f" Fix: {finding.fix}" if finding.fix else ""
    cited_labels = dict.fromkeys(item.label for item in evidence)
    labels = "".join(f" [{label}]" for label in cited_labels)
    return Point(kind=kind, text=f"{lead}{finding.text}{fix}{labels}", citations=tuple(item.quote for item in evidence))
