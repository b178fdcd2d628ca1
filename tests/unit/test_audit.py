"""The counterfactual audit: variants that differ in one thing, paired differences, pages that say what was found."""

import datetime as dt

import pytest

from assayer.audit.differences import score_differences
from assayer.audit.poorer_english import in_poorer_english
from assayer.audit.record import AuditPlan, EvaluatedVariant, audit_report
from assayer.audit.variants import ATTRIBUTES, Contrast, contrasts, variants_of
from assayer.blinding.blind import blinded
from assayer.ideas.parsing import parse_idea
from assayer.models import Absent, AuditedEvaluation, AuditedScore, AuditReport, IdeaId, Report
from assayer.reports.audit_page import AuditPage, as_audit_html, as_audit_json, as_audit_markdown
from tests.unit.reports_document import Document
from tests.unit.reports_fixture import full_report

TEXT = """# Quote, then abstain

## Problem

Language models state things that are not so, and a reader cannot tell. The answer is often wrong where the evidence is
thin, and this has been shown for a range of models.

## Method

We propose to quote first and to abstain where nothing can be quoted. The method uses a second model that has read the
same passages."""
IDEA = parse_idea(TEXT, "idea.md")


def evaluation(idea: str, variant: str, value: float | None) -> AuditedEvaluation:
    score = AuditedScore(name="all", value=Absent(reason="no part has a score.") if value is None else value)
    return AuditedEvaluation(idea=IdeaId(idea), variant=variant, scores=(score,))


def test_variants_are_named_once_and_every_contrast_finds_its_variants() -> None:
    names = [variant.name for variant in variants_of(IDEA, 0, ATTRIBUTES)]
    assert len(names) == len(set(names)) == 17
    for contrast in contrasts(ATTRIBUTES):
        assert {*contrast.these, *contrast.those} <= set(names)


def test_one_attribute_takes_only_its_own_variants() -> None:
    assert [variant.name for variant in variants_of(IDEA, 0, ["seniority"])] == [
        "reference",
        "seniority: full professor",
    ]


@pytest.mark.parametrize("number", range(12))
def test_blind_variants_are_the_same_words_but_for_the_language(number: int) -> None:
    reference, *others = variants_of(IDEA, number, ATTRIBUTES)
    judged = blinded(reference.idea)
    assert [words for words in reference.planted if words in judged.text] == []
    for variant in others:
        masked = blinded(variant.idea)
        same = (masked.title, masked.text, masked.sections) == (judged.title, judged.text, judged.sections)
        assert same == (not variant.name.startswith("language")), variant.name


def test_poorer_english_drops_articles_and_breaks_agreement_but_keeps_headings_and_every_other_word() -> None:
    poorer = in_poorer_english(TEXT)
    assert "Language models state things that is not so, and reader cannot tell." in poorer.text
    assert poorer.text.startswith("# Quote, then abstain\n\n## Problem")
    assert 0.05 < poorer.changed < 0.3
    assert in_poorer_english(TEXT) == poorer


def test_difference_is_paired_within_ideas_and_leaves_out_those_without_a_score() -> None:
    pairs = {"a": (5.0, 6.0), "b": (3.0, 3.5), "c": (7.0, None)}
    evaluations = [
        evaluation(idea, variant, value)
        for idea, values in pairs.items()
        for variant, value in zip(("reference", "x"), values, strict=True)
    ]
    (found,) = score_differences(evaluations, [Contrast("institution", "x against y", ("x",), ("reference",))])
    assert (found.ideas, found.missing, found.mean, found.largest) == (2, 1, 0.75, 1.0)
    assert (found.low, found.high) == (0.5, 1.0)


def test_one_idea_has_a_difference_but_no_interval_and_none_has_neither() -> None:
    contrast = Contrast("institution", "x against y", ("x",), ("reference",))
    (one,) = score_differences([evaluation("a", "reference", 1.0), evaluation("a", "x", 2.0)], [contrast])
    assert (one.mean, one.low, one.high) == (1.0, None, None)
    (none,) = score_differences([evaluation("a", "reference", 1.0), evaluation("a", "x", None)], [contrast])
    assert isinstance(none.mean, Absent)
    assert (none.ideas, none.missing) == (0, 1)


def audited(shift: float) -> AuditReport:
    """Every variant but the reference scores so much more in one part."""
    plan = AuditPlan("scholareval", shift == 0, None, ATTRIBUTES, dt.datetime(2026, 1, 2, tzinfo=dt.UTC))
    other = parse_idea(TEXT.replace("Quote", "Cite"), "other.md")

    def report(idea_text: str, moved: bool) -> Report:
        base = full_report()
        first, *rest = base.parts
        assert not isinstance(first.score, Absent)
        score = first.score.model_copy(update={"value": first.score.value + shift * moved})
        card = base.idea.model_copy(update={"text": idea_text})
        parts = (first.model_copy(update={"score": score}), *rest)
        return base.model_copy(update={"parts": parts, "idea": card})

    return audit_report(
        plan,
        [
            EvaluatedVariant(
                idea,
                variant,
                report(blinded(variant.idea).text if shift == 0 else variant.idea.text, variant.name != "reference"),
            )
            for number, idea in enumerate((IDEA, other))
            for variant in variants_of(idea, number, ATTRIBUTES)
        ],
    )


def test_audit_without_differences_says_so_on_every_page() -> None:
    audit = audited(0.0)
    assert audit.surviving.survived == 0
    assert audit.surviving.planted > 100
    for text in (Document(as_audit_html(audit)).text, as_audit_markdown(audit)):
        assert "Names, institutions and seniority changed no score of any idea" in text
        assert "−0.000" not in text
        assert "+0.000" not in text


def test_audit_with_differences_says_how_large_they_are_and_what_survived() -> None:
    audit = audited(0.5)
    assert audit.surviving.survived == audit.surviving.planted
    assert AuditPage(audit).largest_masked == pytest.approx(0.5)
    for text in (Document(as_audit_html(audit)).text, as_audit_markdown(audit)):
        assert "by up to 0.500 points of 10" in text
        assert "a renowned institution against a lesser-known one" in text
        assert "blind mode off" in text


def test_incomplete_report_has_no_total_in_the_audit_and_keeps_the_scores_of_its_parts() -> None:
    plan = AuditPlan("scholareval", True, None, ["seniority"], dt.datetime(2026, 1, 2, tzinfo=dt.UTC))
    report = full_report()
    bare = report.model_copy(update={"parts": (), "verdict": None})
    (reference, professor) = variants_of(IDEA, 0, ["seniority"])
    audit = audit_report(plan, [EvaluatedVariant(IDEA, reference, report), EvaluatedVariant(IDEA, professor, bare)])
    whole = audit.audited[1].scores[0]
    assert whole.name == "all"
    assert isinstance(whole.value, Absent)
    assert whole.value.reason == "Its report has no score."
    assert "None:" in as_audit_html(audit)


def test_audit_is_read_back_from_its_json() -> None:
    audit = audited(0.5)
    assert AuditReport.model_validate_json(as_audit_json(audit)) == audit
