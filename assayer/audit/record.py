"""An audit put together from the reports of all variants."""

import datetime as dt
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from assayer import __version__
from assayer.audit.differences import DRAWS, SEED, score_differences
from assayer.audit.poorer_english import in_poorer_english
from assayer.audit.variants import Variant, contrasts
from assayer.models import (
    Absent,
    AuditAttribute,
    AuditedEvaluation,
    AuditedScore,
    AuditReport,
    Idea,
    Report,
    SurvivingWords,
)
from assayer.reports.scores import score_of, share

__all__ = ["AuditPlan", "EvaluatedVariant", "audit_report"]

_POINTS = 10
_MOST_EXAMPLES = 10


class EvaluatedVariant(NamedTuple):
    idea: Idea
    """As it came in."""
    variant: Variant
    report: Report | None
    failure: str = ""


class AuditPlan(NamedTuple):
    method: str
    blind: bool
    cutoff: dt.date | None
    attributes: Sequence[AuditAttribute]
    started_at: dt.datetime


def audit_report(plan: AuditPlan, evaluated: Sequence[EvaluatedVariant]) -> AuditReport:
    """At least one of the variants has a report."""
    audited = [_audited(one) for one in evaluated]
    reports = [one.report for one in evaluated if one.report is not None]
    ideas = {one.idea.id: one.idea for one in evaluated}
    changed = [in_poorer_english(idea.text).changed for idea in ideas.values()]
    return AuditReport(
        assayer_version=__version__,
        method=plan.method,
        blind=plan.blind,
        cutoff=plan.cutoff,
        models=tuple(sorted({model for report in reports for model in report.provenance.models})),
        embedding_model=reports[0].provenance.embedding_model,
        corpus_version=reports[0].provenance.corpus_version,
        ideas=len(ideas),
        evaluations=len(evaluated),
        failed=len(evaluated) - len(reports),
        words_changed=sum(changed) / len(changed),
        differences=score_differences(audited, contrasts(plan.attributes)),
        surviving=_surviving(evaluated),
        bootstrap_draws=DRAWS,
        seed=SEED,
        audited=tuple(audited),
        started_at=plan.started_at,
    )


def _audited(one: EvaluatedVariant) -> AuditedEvaluation:
    scores = () if one.report is None else tuple(_scores(one.report))
    return AuditedEvaluation(idea=one.idea.id, variant=one.variant.name, scores=scores, failure=one.failure)


def _scores(report: Report) -> Iterator[AuditedScore]:
    """Of all parts, and their mean."""
    whole = score_of(report)
    yield AuditedScore(name="all", value=whole if isinstance(whole, Absent) else _POINTS * whole)
    for part in report.parts:
        value = share(part.score)
        reason = part.score if isinstance(part.score, Absent) else Absent(reason="its scale has no width.")
        yield AuditedScore(name=part.title, value=reason if value is None else _POINTS * value)


def _surviving(evaluated: Iterable[EvaluatedVariant]) -> SurvivingWords:
    """Planted words in the text that was judged, and not in the idea as it came."""
    planted, survivors = 0, dict[str, None]()
    survived = 0
    for one in evaluated:
        if one.report is None:
            continue
        for words in one.variant.planted:
            if words in one.idea.text:
                continue
            planted += 1
            if words in one.report.idea.text or words in one.report.idea.title:
                survived += 1
                survivors[words] = None
    return SurvivingWords(planted=planted, survived=survived, examples=tuple(survivors)[:_MOST_EXAMPLES])
