"""Build a bias test's report from the reports on all variants."""

import datetime as dt
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from assayer.bias_test.differences import measure_score_changes, measure_score_differences
from assayer.bias_test.signing import write_poorer_text
from assayer.bias_test.variants import REFERENCE, Variant, list_contrasts
from assayer.blinding.blind import blind_idea
from assayer.models import (
    Absent,
    BiasTestAttribute,
    BiasTestEvaluation,
    BiasTestReport,
    BiasTestScore,
    Idea,
    InsertedWords,
    Report,
)
from assayer.reports.scores import compute_share, compute_total_score
from assayer.version import __version__

_SCALE_MAX = 10
_MAX_EXAMPLES = 10


class EvaluatedVariant(NamedTuple):
    idea: Idea
    """The idea as submitted, before any variation."""
    variant: Variant
    report: Report | None
    failure: str = ""


class BiasTestPlan(NamedTuple):
    method: str
    blind: bool
    cutoff: dt.date | None
    attributes: Sequence[BiasTestAttribute]
    started_at: dt.datetime
    repeats: int = 1
    """Number of times that the reference version is evaluated."""


def build_bias_test_report(plan: BiasTestPlan, variants: Sequence[EvaluatedVariant]) -> BiasTestReport:
    """Build a bias test's report. At least one variant must have a report."""
    results = [_build_result(item) for item in variants]
    reports = [item.report for item in variants if item.report is not None]
    ideas = {item.idea.id: item.idea for item in variants}
    names = {item.variant.name for item in variants}
    language = names & _list_variants("language")
    wording = language | _list_variants("persuasion")
    repetitions = {item.variant.name for item in variants if item.variant.repetition > 1}
    senders = [result for result in results if result.variant not in {REFERENCE, *wording, *repetitions}]
    repeats = [result for result in results if result.variant in repetitions]
    return BiasTestReport(
        assayer_version=__version__,
        method=plan.method,
        blind=plan.blind,
        attributes=tuple(plan.attributes),
        cutoff=plan.cutoff,
        models=tuple(sorted({model for report in reports for model in report.provenance.models})),
        embedding_models=tuple(sorted({report.provenance.embedding_model for report in reports})),
        corpus_versions=tuple(sorted({report.provenance.corpus_version for report in reports})),
        ideas=len(ideas),
        evaluations=len(variants),
        failed=len(variants) - len(reports),
        words_changed=_measure_changed_words(ideas.values())
        if language
        else Absent(reason="the quality of the English was not varied."),
        differences=measure_score_differences(results, list_contrasts(plan.attributes)),
        sender_changes=measure_score_changes(results, senders)
        if senders
        else Absent(reason="no detail about the sender was varied."),
        repetition_changes=measure_score_changes(results, repeats)
        if repeats
        else Absent(reason="every text was evaluated once."),
        inserted_words=_count_surviving_words(variants, plan.blind),
        results=tuple(results),
        started_at=plan.started_at,
    )


def _list_variants(attribute: BiasTestAttribute) -> set[str]:
    return {variant for contrast in list_contrasts([attribute]) for variant in contrast.compared_variants}


def _measure_changed_words(ideas: Iterable[Idea]) -> float:
    shares = [write_poorer_text(idea).changed for idea in ideas]
    return sum(shares) / len(shares)


def _build_result(evaluated_variant: EvaluatedVariant) -> BiasTestEvaluation:
    scores = () if evaluated_variant.report is None else tuple(_list_scores(evaluated_variant.report))
    return BiasTestEvaluation(
        idea=evaluated_variant.idea.id,
        variant=evaluated_variant.variant.name,
        scores=scores,
        failure=evaluated_variant.failure,
    )


def _list_scores(report: Report) -> Iterator[BiasTestScore]:
    """Yield the overall score and each part's score, on a 10-point scale."""
    overall_score = compute_total_score(report)
    yield BiasTestScore(
        name="all", value=overall_score if isinstance(overall_score, Absent) else _SCALE_MAX * overall_score
    )
    for part in report.parts:
        value = compute_share(part.score)
        reason = (
            part.score
            if isinstance(part.score, Absent)
            else Absent(reason="the minimum and maximum of its scale are equal.")
        )
        yield BiasTestScore(name=part.title, value=reason if value is None else _SCALE_MAX * value)


def _count_surviving_words(variants: Iterable[EvaluatedVariant], blind: bool) -> InsertedWords:
    """Count and list the planted words that are still in the text that was evaluated, ignoring case. Words that the
    submitted idea already contained do not count."""
    planted_count, survivors = 0, dict[str, None]()
    survivor_count = 0
    for item in variants:
        if item.report is None:
            continue
        original_text = _join_texts(item.idea)
        # The report shows title and text only; methods also read the sections, which are masked by the same rules.
        judged_text = _join_texts(blind_idea(item.variant.idea) if blind else item.variant.idea)
        visible_text = f"{item.report.idea.title}\n{item.report.idea.text}\n{judged_text}".casefold()
        for words in item.variant.planted:
            if _contains_words(words, original_text):
                continue
            planted_count += 1
            if _contains_words(words, visible_text):
                survivor_count += 1
                survivors[words] = None
    return InsertedWords(inserted=planted_count, unmasked=survivor_count, examples=tuple(survivors)[:_MAX_EXAMPLES])


def _join_texts(idea: Idea) -> str:
    parts = [idea.title, idea.text, *(words for section in idea.sections for words in (section.title, section.text))]
    return "\n".join(parts).casefold()


def _contains_words(words: str, text: str) -> bool:
    """Return whether the words occur in the text as whole words: `Li` does not occur in `reliable`."""
    return re.search(rf"(?<!\w){re.escape(words.casefold())}(?!\w)", text) is not None
