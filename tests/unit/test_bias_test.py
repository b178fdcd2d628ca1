"""The bias test: variants that differ in one thing, paired differences, pages that say what was found."""

import datetime as dt
import json
from collections.abc import Mapping, Sequence

import jsonschema
import numpy as np
import pytest
from scipy import stats

from assayer.bias_test.authors import ORIGINS
from assayer.bias_test.differences import compute_mean_interval, measure_score_differences
from assayer.bias_test.record import BiasTestPlan, EvaluatedVariant, build_bias_test_report
from assayer.bias_test.variants import (
    ATTRIBUTES,
    Contrast,
    build_variants,
    list_contrasts,
    repeat_reference,
)
from assayer.blinding.blind import blind_idea
from assayer.ideas.parsing import idea_of_sections, parse_idea
from assayer.models import (
    Absent,
    BiasTestAttribute,
    BiasTestEvaluation,
    BiasTestReport,
    BiasTestScore,
    CitedWork,
    IdeaId,
    MeanInterval,
    ReleaseMinima,
    Report,
    Score,
    ScoreChanges,
    Section,
    TextFlag,
)
from assayer.reports.bias_test_page import BiasTestPage, render_bias_test_html, render_bias_test_markdown
from assayer.reports.json_and_csv import build_json_schema, render_json
from assayer.reports.release import apply_minima
from tests.unit.proposal_texts import PROPOSAL, PROPOSAL_WITH_BACK_MATTER
from tests.unit.reports_document import Document
from tests.unit.reports_fixture import make_full_report

IDEA = parse_idea(PROPOSAL, "idea.md")


def make_evaluation(idea: str, variant: str, value: float | None) -> BiasTestEvaluation:
    score = BiasTestScore(name="all", value=Absent(reason="no part has a score.") if value is None else value)
    return BiasTestEvaluation(idea=IdeaId(idea), variant=variant, scores=(score,))


def test_variant_names_are_unique_and_cover_every_contrast() -> None:
    names = [variant.name for variant in build_variants(IDEA, 0, ATTRIBUTES)]
    assert len(names) == len(set(names)) == 17
    for contrast in list_contrasts(ATTRIBUTES):
        assert {*contrast.compared_variants, *contrast.baseline_variants} <= set(names)


PARAGRAPH = " ".join(PROPOSAL.split("\n\n")[2:3] + PROPOSAL.split("\n\n")[4:5])
SHAPES = {
    "titled": parse_idea(PROPOSAL, "idea.md"),
    "untitled paragraph": parse_idea(PARAGRAPH, "idea.txt"),
    "title line": parse_idea(f"This Is How the Model Quotes\n\n{PARAGRAPH}\n\n{PARAGRAPH}", "idea.txt"),
    "underlined title": parse_idea(f"Quote, then abstain\n===\n\n{PARAGRAPH}", "idea.md"),
    "references and appendix": parse_idea(PROPOSAL_WITH_BACK_MATTER, "idea.md"),
    "given title": parse_idea(PARAGRAPH, "ideas.jsonl:1", "Quote, then abstain"),
    "sections of a PDF": idea_of_sections(
        (
            Section(title="Abstract", text=PARAGRAPH),
            Section(title="1 Method", text=PARAGRAPH),
            Section(title="References", text="[1] A. Author. Attention is all you need. 2017."),
        ),
        "idea.pdf",
        "Quote, then abstain",
    ).model_copy(update={"references": (CitedWork(title="Attention is all you need"),)}),
}


@pytest.mark.parametrize(
    ("shape", "number"), [(shape, number) for shape in SHAPES for number in range(12 if shape == "titled" else 3)]
)
def test_masked_variants_are_identical_except_language_variants(shape: str, number: int) -> None:
    reference, *variants = build_variants(SHAPES[shape], number, ATTRIBUTES)
    blinded_reference = blind_idea(reference.idea)
    assert [words for words in reference.planted if words in blinded_reference.text] == []
    for variant in variants:
        masked = blind_idea(variant.idea)
        is_identical = (masked.title, masked.text, masked.sections) == (
            blinded_reference.title,
            blinded_reference.text,
            blinded_reference.sections,
        )
        assert is_identical == (not variant.name.startswith("language")), variant.name


@pytest.mark.parametrize("shape", SHAPES)
def test_variant_keeps_whole_idea_and_has_a_unique_id(shape: str) -> None:
    idea = SHAPES[shape]
    variants = list(build_variants(idea, 0, ATTRIBUTES))
    assert len({variant.idea.id for variant in variants}) == len(variants)
    for variant in variants:
        assert (variant.idea.title, variant.idea.references, variant.idea.source) == (
            idea.title,
            idea.references,
            idea.source,
        )
        titles = [section.title for section in variant.idea.sections]
        assert titles[-len(idea.sections) :] == [section.title for section in idea.sections]
    signed = variants[0].idea
    assert "Gregory Walsh\nDoctoral student, Valdosta State University\n\n" in signed.text
    assert "Gregory Walsh" in signed.sections[0].text
    for section in idea.sections:
        assert section.text in signed.text
    before_references = signed.text.split("References")[0].rstrip("# \n")
    assert before_references.endswith(
        "The project will be led by Gregory Walsh, a doctoral student at Valdosta State University."
    )


def test_flag_offsets_are_shifted_to_same_words_in_variant() -> None:
    flag = TextFlag(kind="suspected_injection", excerpt="abstain", offset=PROPOSAL.index("to abstain"))
    flagged_idea = IDEA.model_copy(update={"flags": (flag,)})
    (reference, *_) = build_variants(flagged_idea, 0, ["seniority"])
    assert reference.idea.text[reference.idea.flags[0].offset :].startswith("to abstain")


def test_score_differences_are_paired_per_idea_and_exclude_missing_scores() -> None:
    pairs = {"a": (5.0, 6.0), "b": (3.0, 3.5), "c": (7.0, None)}
    evaluations = [
        make_evaluation(idea, variant, value)
        for idea, values in pairs.items()
        for variant, value in zip(("reference", "x"), values, strict=True)
    ]
    (difference,) = measure_score_differences(
        evaluations, [Contrast("institution", "x against y", ("x",), ("reference",))]
    )
    assert (difference.ideas, difference.missing, difference.mean, difference.largest) == (2, 1, 0.75, 1.0)
    assert difference.interval == Absent(reason="an interval needs 6 ideas with this score; there are 2.")


def test_confidence_interval_matches_students_t() -> None:
    differences = np.array([0.1, 0.4, -0.2, 0.3, 0.5, 0.1, 0.0])
    expected = stats.ttest_1samp(differences, 0.0).confidence_interval(0.95)
    interval = compute_mean_interval(differences)
    assert isinstance(interval, MeanInterval)
    assert (interval.low, interval.high) == pytest.approx((expected.low, expected.high))
    assert isinstance(compute_mean_interval(np.full(9, 0.25)), Absent)


@pytest.mark.parametrize("ideas", [6, 10, 15, 30])
@pytest.mark.parametrize(("kind", "min_coverage"), [("normal", 0.94), ("exponential", 0.87)])
def test_confidence_intervals_have_expected_coverage(kind: str, min_coverage: float, ideas: int) -> None:
    draws = np.random.default_rng(ideas)
    samples = draws.normal(0.3, 1.0, (2_000, ideas)) if kind == "normal" else draws.exponential(0.3, (2_000, ideas))
    intervals = [sample for sample in map(compute_mean_interval, samples) if isinstance(sample, MeanInterval)]
    covered = sum(interval.low <= 0.3 <= interval.high for interval in intervals) / len(samples)
    assert min_coverage <= covered <= 0.97


def run_bias_test(
    scores: Mapping[str, float | None], attributes: Sequence[BiasTestAttribute], repeats: int = 1
) -> BiasTestReport:
    """Return a bias test in which every variant scores 5, except those named; None means no score."""
    plan = BiasTestPlan("scholareval", False, None, attributes, dt.datetime(2026, 1, 2, tzinfo=dt.UTC), repeats)
    base = make_full_report()
    first = base.parts[0]
    assert not isinstance(first.score, Absent)

    def make_report(value: float | None) -> Report:
        score = Absent(reason="lost.") if value is None else Score(value=value, scale_min=0, scale_max=10, basis="")
        return base.model_copy(update={"parts": (first.model_copy(update={"score": score}),)})

    reference, *compared_variants = build_variants(IDEA, 0, attributes)
    variants = [reference, *compared_variants, *repeat_reference(reference, repeats)]
    return build_bias_test_report(
        plan, [EvaluatedVariant(IDEA, variant, make_report(scores.get(variant.name, 5.0))) for variant in variants]
    )


def test_finding_names_only_varied_attributes() -> None:
    assert (
        BiasTestPage(run_bias_test({}, ["institution"])).finding.headline == "Institutions changed no score of any idea"
    )
    assert BiasTestPage(run_bias_test({}, ["gender", "seniority"])).finding.headline.startswith(
        "Names and seniority changed"
    )
    assert BiasTestPage(run_bias_test({}, ["language"])).finding.headline == "No detail about the sender was varied."


def test_score_changes_that_cancel_out_are_still_reported() -> None:
    shifted_scores = {
        f"name: {origin}, {gender}": 6.0 if gender == "female" else 4.0
        for origin in list(ORIGINS)[1:]
        for gender in ("female", "male")
    }
    bias_test = run_bias_test(shifted_scores, ["origin"])
    assert {difference.largest for difference in bias_test.differences} == {0.0}
    headline = BiasTestPage(bias_test).finding.headline
    assert headline == (
        "Names changed 24 of 26 scores by up to 1.000 points of 10, 0.923 on average; some were up to 2.000 apart from "
        "each other."
    )


def test_lost_and_gained_scores_are_reported_as_changes() -> None:
    lost_score_report = run_bias_test({"seniority: full professor": None}, ["seniority"])
    assert BiasTestPage(lost_score_report).finding.headline == "Seniority removed 2 scores."
    assert isinstance(lost_score_report.sender_changes, ScoreChanges)
    assert (
        lost_score_report.sender_changes.compared_pairs,
        lost_score_report.sender_changes.scores_lost,
        lost_score_report.sender_changes.scores_gained,
    ) == (
        0,
        2,
        0,
    )
    gained = run_bias_test({"reference": None}, ["seniority"])
    assert BiasTestPage(gained).finding.headline == "Seniority added 2 scores that the reference lacks."


def test_score_change_is_reported_with_change_on_repeat_evaluation() -> None:
    bias_test = run_bias_test(
        {"seniority: full professor": 5.5, "reference, evaluation 2": 4.6}, ["seniority"], repeats=2
    )
    text = BiasTestPage(bias_test).finding.text
    assert "Seniority changed 2 of 2 scores by up to 0.500 points of 10, 0.500 on average." in text
    assert "evaluating the same text again changed 2 of 2 scores by up to 0.400 points" in text
    assert bias_test.inserted_words.inserted == run_bias_test({}, ["seniority"]).inserted_words.inserted


def test_failed_variant_is_not_counted_as_lost_score() -> None:
    plan = BiasTestPlan("scholareval", True, None, ["seniority"], dt.datetime(2026, 1, 2, tzinfo=dt.UTC))
    (reference, professor) = build_variants(IDEA, 0, ["seniority"])
    evaluated = [
        EvaluatedVariant(IDEA, reference, make_full_report()),
        EvaluatedVariant(IDEA, professor, None, "The endpoint is down."),
    ]
    finding = BiasTestPage(build_bias_test_report(plan, evaluated)).finding
    assert finding.headline == "No score could be compared, so the effect of seniority is unknown."
    assert "1 evaluation produced no report and could not be compared." in finding.remarks


def test_planted_words_match_case_insensitively_as_whole_words() -> None:
    plan = BiasTestPlan("scholareval", False, None, ["seniority"], dt.datetime(2026, 1, 2, tzinfo=dt.UTC))
    (reference, professor) = build_variants(IDEA, 0, ["seniority"])
    assert "Full professor" in professor.planted
    card = make_full_report().idea.model_copy(update={"title": "Quote", "text": "A FULL PROFESSOR who walshes."})
    report = make_full_report().model_copy(update={"idea": card})
    idea_without_variant = reference._replace(idea=IDEA)
    bias_test = build_bias_test_report(
        plan,
        [
            EvaluatedVariant(IDEA, idea_without_variant, report),
            EvaluatedVariant(IDEA, professor._replace(idea=IDEA), report),
        ],
    )
    assert bias_test.inserted_words.examples == ("Full professor",)


def run_bias_test_of_two_ideas(shift: float) -> BiasTestReport:
    """Return a bias test of two ideas in which variants score `shift` more than the reference in one part."""
    plan = BiasTestPlan("scholareval", shift == 0, None, ATTRIBUTES, dt.datetime(2026, 1, 2, tzinfo=dt.UTC))
    second_idea = parse_idea(PROPOSAL.replace("Quote", "Cite"), "other.md")

    def make_report(idea_text: str, is_shifted: bool) -> Report:
        base = make_full_report()
        first, *other_parts = base.parts
        assert not isinstance(first.score, Absent)
        score = first.score.model_copy(update={"value": first.score.value + shift * is_shifted})
        card = base.idea.model_copy(update={"text": idea_text})
        parts = (first.model_copy(update={"score": score}), *other_parts)
        return base.model_copy(update={"parts": parts, "idea": card})

    return build_bias_test_report(
        plan,
        [
            EvaluatedVariant(
                idea,
                variant,
                make_report(
                    blind_idea(variant.idea).text if shift == 0 else variant.idea.text, variant.name != "reference"
                ),
            )
            for number, idea in enumerate((IDEA, second_idea))
            for variant in build_variants(idea, number, ATTRIBUTES)
        ],
    )


def test_bias_test_without_differences_states_this_on_every_page() -> None:
    bias_test = run_bias_test_of_two_ideas(0.0)
    assert bias_test.inserted_words.unmasked == 0
    assert bias_test.inserted_words.inserted > 100
    for text in (Document(render_bias_test_html(bias_test)).text, render_bias_test_markdown(bias_test)):
        assert "Names, institutions and seniority changed no score of any idea" in text
        assert "Blind mode masks the words that identify the sender" in text
        assert "−0.000" not in text
        assert "+0.000" not in text


def test_bias_test_with_differences_reports_their_size_and_blinding_state() -> None:
    bias_test = run_bias_test_of_two_ideas(0.5)
    assert bias_test.inserted_words.unmasked == bias_test.inserted_words.inserted
    for text in (Document(render_bias_test_html(bias_test)).text, render_bias_test_markdown(bias_test)):
        assert "by up to 0.500 points of 10" in text
        assert "a renowned institution against a lesser-known one" in text
        assert "blind mode off" in text


def test_incomplete_report_has_absent_scores_with_reason_in_bias_test() -> None:
    plan = BiasTestPlan("scholareval", True, None, ["seniority"], dt.datetime(2026, 1, 2, tzinfo=dt.UTC))
    report = make_full_report()
    incomplete = apply_minima(report, ReleaseMinima(judged=1, answered=1, quotes_found=1, points_traced=1))
    assert incomplete.release is not None
    assert incomplete.release.state == "incomplete"
    (reference, professor) = build_variants(IDEA, 0, ["seniority"])
    bias_test = build_bias_test_report(
        plan, [EvaluatedVariant(IDEA, reference, report), EvaluatedVariant(IDEA, professor, incomplete)]
    )
    before, after = bias_test.results[0].scores, bias_test.results[1].scores
    assert (
        [item.name for item in after]
        == [item.name for item in before]
        == ["all", *(part.title for part in report.parts)]
    )
    for item in after:
        assert isinstance(item.value, Absent)
    assert isinstance(after[0].value, Absent)
    assert "incomplete" in after[0].value.reason
    assert "None:" in render_bias_test_html(bias_test)
    assert BiasTestPage(bias_test).finding.headline.startswith("Seniority removed")


@pytest.mark.parametrize("shift", [0.0, 0.5])
def test_bias_test_json_matches_published_schema(shift: float) -> None:
    schema = build_json_schema(BiasTestReport)
    jsonschema.validate(
        json.loads(render_json(run_bias_test_of_two_ideas(shift))), schema, cls=jsonschema.Draft202012Validator
    )
