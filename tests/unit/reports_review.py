"""A report with a panel's review, every field in use."""

from assayer.models import (
    ClosestWork,
    NamedWork,
    OmittedPoint,
    PanelEvidence,
    PanelFinding,
    PanelParagraph,
    PanelReview,
    PlanQuote,
    Report,
)
from tests.unit.reports_fixture import cite, make_full_report
from tests.unit.reports_hostile import add_attacks

_PLAN = PlanQuote(quote="We report average accuracy and forgetting.", state="verified")
_NO_PLAN = PlanQuote(quote="", state="not_found")


def _make_review() -> PanelReview:
    evidence = (
        PanelEvidence(
            label=cite("P3").label,
            relation="supports",
            conclusion="halves forgetting",
            quote=cite("P3"),
        ),
        PanelEvidence(
            label=cite("P7").label,
            relation="weakens",
            conclusion="finds other orders",
            quote=cite("P7"),
        ),
        PanelEvidence(
            label=cite("P3").label,
            relation="already_has",
            conclusion="ranks by loss",
            quote=cite("P3"),
        ),
    )
    strength = PanelFinding(
        kind="strength",
        axis="contribution",
        severity=None,
        headline="An open question",
        text="Which examples to rehearse matters to whoever updates models.",
        fix="",
        plan=_PLAN,
        evidence=(0,),
    )
    fatal = PanelFinding(
        kind="weakness",
        axis="soundness",
        severity="fatal",
        headline="One order of domains",
        text="With one fixed order the ranking of methods is open.",
        fix="Run ten orders.",
        plan=_PLAN,
        evidence=(1,),
        works_from_memory=(0,),
    )
    question = PanelFinding(
        kind="question",
        axis="soundness",
        severity="minor",
        headline="",
        text="How often is the index asked?",
        fix="",
        plan=_NO_PLAN,
    )
    return PanelReview(
        verdict="Worth doing. One order carries no ranking. Ten orders would move us.",
        strengths=(strength,),
        novelty=PanelParagraph(
            text="Rehearsal by loss is known; the distance is new.", evidence=(2,), works_from_memory=(0,)
        ),
        outlook=PanelParagraph(
            text="A gain is likely on long streams, and a week of one GPU is enough.", evidence=(1,)
        ),
        redesign=PanelParagraph(text="Cross ten orders with two distances."),
        major_weaknesses=(fatal,),
        minor_points=(question,),
        closest_works=(ClosestWork(evidence=2, difference="distance to the incoming batch."),),
        evidence=evidence,
        works_from_memory=(
            NamedWork(
                title="Rehearsal in any order",
                author="Robins",
                year=1995,
                role="already_does",
                relevance="ran ten orders",
                lookup_complete=True,
            ),
        ),
        omitted_points=(
            OmittedPoint(
                kind="weakness",
                text="Forgetting is averaged over unequal domains.",
                plan=PlanQuote(quote="average accuracy", state="verified"),
            ),
        ),
    )


def make_review_report() -> Report:
    """Return the full report as a panel would have made it."""
    return make_full_report().model_copy(update={"method": "review", "panel_review": _make_review()})


def make_hostile_review_report() -> Report:
    """Return the same with an attack in front of every text from outside."""
    return Report.model_validate(add_attacks(make_review_report().model_dump()))
