"""An audit put together from the reports of all variants."""

import datetime as dt
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from assayer import __version__
from assayer.audit.changes import score_changes
from assayer.audit.differences import score_differences
from assayer.audit.signing import poorer_text
from assayer.audit.variants import REFERENCE, Variant, contrasts
from assayer.blinding.blind import blinded
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
    repeats: int = 1
    """Evaluations of the reference."""


def audit_report(plan: AuditPlan, evaluated: Sequence[EvaluatedVariant]) -> AuditReport:
    """At least one of the variants has a report."""
    audited = [_audited(one) for one in evaluated]
    reports = [one.report for one in evaluated if one.report is not None]
    ideas = {one.idea.id: one.idea for one in evaluated}
    language = {one.variant.name for one in evaluated if one.variant.name in _of_language()}
    repetitions = {one.variant.name for one in evaluated if one.variant.repetition > 1}
    senders = [one for one in audited if one.variant not in {REFERENCE, *language, *repetitions}]
    again = [one for one in audited if one.variant in repetitions]
    return AuditReport(
        assayer_version=__version__,
        method=plan.method,
        blind=plan.blind,
        attributes=tuple(plan.attributes),
        cutoff=plan.cutoff,
        models=tuple(sorted({model for report in reports for model in report.provenance.models})),
        embedding_models=tuple(sorted({report.provenance.embedding_model for report in reports})),
        corpus_versions=tuple(sorted({report.provenance.corpus_version for report in reports})),
        ideas=len(ideas),
        evaluations=len(evaluated),
        failed=len(evaluated) - len(reports),
        words_changed=_words_changed(ideas.values()) if language else Absent(reason="the English was not varied."),
        differences=score_differences(audited, contrasts(plan.attributes)),
        by_sender=score_changes(audited, senders) if senders else Absent(reason="nothing of the sender was varied."),
        by_repeating=score_changes(audited, again) if again else Absent(reason="every text was evaluated once."),
        surviving=_surviving(evaluated, plan.blind),
        audited=tuple(audited),
        started_at=plan.started_at,
    )


def _of_language() -> set[str]:
    return {variant for contrast in contrasts(["language"]) for variant in contrast.these}


def _words_changed(ideas: Iterable[Idea]) -> float:
    shares = [poorer_text(idea).changed for idea in ideas]
    return sum(shares) / len(shares)


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


def _surviving(evaluated: Iterable[EvaluatedVariant], blind: bool) -> SurvivingWords:
    """Planted words in what was judged, and not in the idea as it came; capitals make no difference."""
    planted, survivors = 0, dict[str, None]()
    survived = 0
    for one in evaluated:
        if one.report is None:
            continue
        own = _words_of(one.idea)
        # The report shows title and text; the sections that methods read are those of the same rules.
        judged = _words_of(blinded(one.variant.idea) if blind else one.variant.idea)
        shown = f"{one.report.idea.title}\n{one.report.idea.text}\n{judged}".casefold()
        for words in one.variant.planted:
            if _stand_in(words, own):
                continue
            planted += 1
            if _stand_in(words, shown):
                survived += 1
                survivors[words] = None
    return SurvivingWords(planted=planted, survived=survived, examples=tuple(survivors)[:_MOST_EXAMPLES])


def _words_of(idea: Idea) -> str:
    parts = [idea.title, idea.text, *(words for one in idea.sections for words in (one.title, one.text))]
    return "\n".join(parts).casefold()


def _stand_in(words: str, text: str) -> bool:
    """As whole words: `Li` does not stand in `reliable`."""
    return re.search(rf"(?<!\w){re.escape(words.casefold())}(?!\w)", text) is not None
