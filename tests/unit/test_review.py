"""A review: points, passages and findings are checked, and what cannot be shown is taken out and counted."""

import pytest
from pydantic import BaseModel

from assayer.citing.excerpts import cut_excerpt
from assayer.errors import LlmUnavailable, MalformedAnswer
from assayer.methods.review import ReviewOptions
from assayer.methods.review.editing import Passages
from assayer.methods.review.panel import Panel, is_repetition
from assayer.methods.review.pipeline import build_unedited_review
from assayer.methods.review.schemas import EditedReview, EditorQuestion, FurtherPoint, LookAnswer, NearWork, PanelPoint
from assayer.methods.review.tasks import EDITOR
from assayer.models import Absent, EvidenceRelation, Score
from assayer.reports.markdown import render_report_markdown
from assayer.reports.scores import compute_total_score
from tests.unit.review_answers import (
    PLAN,
    make_finding,
    plan_scores,
    run_panel_report,
    run_panel_review,
    score,
    script_editor,
    script_panel,
    script_reading,
    script_walkthrough,
)
from tests.unit.review_questions import EDITOR_QUESTION
from tests.unit.review_runs import review_idea, script_support
from tests.unit.scholareval_runs import make_twin_backends
from tests.unit.twins import make_run


async def test_review_makes_few_requests_in_expected_order_within_word_limit() -> None:
    backends, llm = make_twin_backends()
    report = await review_idea(backends)
    names = [name for name, _ in llm.requests]
    assert sorted(names[:3]) == ["review.referee", "review.scores", "review.walkthrough"]
    assert names[3] == "review.look"
    assert set(names[-2:]) == {"review.editor", "support.claims"}
    assert len(names) <= 10
    assert report.panel_review is not None
    assert report.panel_review.words <= 1_300


async def test_point_of_the_walkthrough_that_repeats_the_referee_is_dropped() -> None:
    backends, llm = make_twin_backends(scripted=script_panel())
    report = await review_idea(backends)
    question = llm.list_questions(EditorQuestion)[0]
    assert [(point.referee, point.claim) for point in question.points] == [
        ("whole", "Unclear to the referee."),
        ("whole", "The three baselines are not named."),
        ("walkthrough", "Annotated claims have unknown agreement."),
    ]
    assert [point.quoted for point in question.points] == [False, True, True]
    assert ("point", 1) in {(item.item_kind, item.count) for item in report.coverage.dropped}


@pytest.mark.parametrize(
    ("failing", "remaining_points"), [("review.referee", {"walkthrough"}), ("review.walkthrough", {"whole"})]
)
async def test_one_referee_is_enough(failing: str, remaining_points: set[str]) -> None:
    backends, llm = make_twin_backends()
    llm._failing = {failing: MalformedAnswer("nothing fits the schema")}
    report = await review_idea(backends)
    assert report.panel_review is not None
    (question,) = llm.list_questions(EditorQuestion)
    assert {point.referee for point in question.points} == remaining_points
    assert ("referee", 1) in {(item.item_kind, item.count) for item in report.coverage.dropped}


async def test_points_without_room_on_the_page_are_noted_after_it_unless_the_editor_found_them_wrong() -> None:
    texts = [f"{word} have unknown agreement." for word in ("Annotated claims", "Human ratings", "Quoted sentences")]
    review = await run_panel_review(walkthrough=script_walkthrough(*texts), editor=script_editor(dropped=["Q5"]))
    assert [(item.text, item.plan.state) for item in review.omitted_points] == [(texts[2], "verified")]
    report = await run_panel_report(walkthrough=script_walkthrough(*texts), editor=script_editor(dropped=["Q5"]))
    assert {item.reason: item.count for item in report.coverage.dropped}[
        "the editor judged it wrong, or already answered in the plan"
    ] == 1
    page = render_report_markdown(report)
    assert page.index("## Also noted") < page.index(texts[2])
    assert texts[1] not in page


async def test_every_finding_lists_its_evidence_and_plan_quote() -> None:
    review = await run_panel_review()
    (strength,), (weakness,), (question,) = review.strengths, review.major_weaknesses, review.minor_points
    assert [strength.evidence, weakness.evidence, question.evidence] == [(0,), (0,), ()]
    assert weakness.plan.quote == f"{PLAN} and measure accuracy"
    assert question.plan.state == "verified"
    evidence = review.evidence[0]
    assert evidence.label == "P1"
    assert evidence.quote.quote_state == "verified"
    assert [item.quote for item in evidence.quote.further]


async def test_labels_of_the_prompt_do_not_reach_the_report() -> None:
    review = await run_panel_review()
    assert review.major_weaknesses[0].text == "Baselines are not named, so the gain cannot be placed."
    assert review.major_weaknesses[0].fix == "Name them."


async def test_repeated_findings_and_works_are_dropped_and_counted() -> None:
    report = await run_panel_report()
    assert report.panel_review is not None
    assert len(report.panel_review.closest_works) == 1
    counted = {item.item_kind: item.count for item in report.coverage.dropped}
    assert counted["finding"] == 1
    assert counted["closest work"] == 1


async def test_quote_not_in_paper_is_not_used_as_evidence() -> None:
    report = await run_panel_report(
        reading=script_reading("already_has", "words that this paper does not have anywhere")
    )
    assert report.panel_review is not None
    assert report.panel_review.evidence == ()
    assert report.references == ()


async def test_citation_of_unshown_passage_is_ignored() -> None:
    def answer_editor(question: BaseModel) -> BaseModel:
        cited = [make_finding(["Q2"], "Baselines are not named.", "E9")]
        return script_editor(major=cited, closest=[NearWork(work="E9", difference="nothing")])(question)

    review = await run_panel_review(look=lambda _: LookAnswer(labels=[]), editor=answer_editor)
    assert review.major_weaknesses[0].evidence == ()
    assert review.closest_works == ()


async def test_passage_not_supported_by_its_text_is_removed_from_findings() -> None:
    backends, _ = make_twin_backends(scripted={**script_panel(), "support.claims": script_support("not")})
    report = await review_idea(backends)
    assert report.panel_review is not None
    assert [item.evidence for _, item in report.panel_review.numbered] == [(), (), ()]
    assert report.coverage.claims is not None
    assert report.coverage.claims.not_supported == 1


async def test_low_contribution_score_is_kept_when_passage_already_has_idea() -> None:
    contribution = (await run_panel_report()).parts[1].score
    assert isinstance(contribution, Score)
    assert (contribution.value, contribution.scale_min, contribution.scale_max) == (3.4, 1, 10)
    assert "[P1]" in contribution.basis


@pytest.mark.parametrize("relation", ["background", "missing_comparison"])
async def test_low_contribution_score_without_prior_work_is_rejected(relation: EvidenceRelation) -> None:
    contribution = (await run_panel_report(reading=script_reading(relation))).parts[1].score
    assert isinstance(contribution, Score)
    assert (contribution.value, contribution.basis) == (6.0, "Unnamed baselines. Certainty: One plan.")


async def test_scores_are_those_of_the_reader_of_the_plan_alone() -> None:
    report = await run_panel_report(scores=plan_scores(57, 52), editor=script_editor(soundness=score(31)))
    soundness = report.parts[0].score
    assert isinstance(soundness, Score)
    assert (soundness.value, soundness.basis) == (5.7, "Unnamed baselines. Certainty: One plan.")


async def test_review_has_no_scores_if_the_plan_alone_was_not_scored() -> None:
    backends, llm = make_twin_backends(scripted=script_panel())
    llm._failing = {"review.scores": MalformedAnswer("no JSON")}
    report = await review_idea(backends)
    assert [part.score for part in report.parts] == [Absent(reason="the request for the plan's scores failed.")] * 2
    assert "No scores were obtained." in EDITOR.messages(llm.list_questions(EditorQuestion)[0])[1].content
    assert "score of the plan by itself" in {item.item_kind for item in report.coverage.dropped}


async def test_underspecified_plan_has_no_score_but_a_reason() -> None:
    soundness = (await run_panel_report(scores=plan_scores(None, 60))).parts[0].score
    assert soundness == Absent(reason="underspecified: The baselines are weak.")


async def test_overlong_review_drops_its_last_further_points() -> None:
    further = [
        FurtherPoint(
            labels=[],
            axis="soundness",
            kind="weakness",
            text=f"{word} is undefined.",
            cites=[],
            named=[],
        )
        for word in ("Reader", "Claim", "Domain", "Baseline")
    ]
    wordy = script_reading("already_has", shows=f"trains {'small ' * 80}readers")
    backends, _ = make_twin_backends(scripted=script_panel(editor=script_editor(further=further), reading=wordy))
    report = await review_idea(backends)
    assert report.panel_review is not None
    word_count = report.panel_review.words
    short = await review_idea(backends, options=ReviewOptions(words=word_count - 4))
    assert short.panel_review is not None
    assert [item.text for item in short.panel_review.minor_points] == [item.text for item in further[:2]]


async def test_off_topic_passage_is_dropped_and_lowers_corpus_fit() -> None:
    report = await run_panel_report(reading=script_reading("already_has", subject="off"))
    assert report.panel_review is not None
    assert report.panel_review.evidence == ()
    assert report.references == ()
    assert {item.reason: item.count for item in report.coverage.dropped}["not on the plan's subject"] == 1
    fit = report.coverage.corpus_fit
    assert not isinstance(fit, Absent)
    assert fit.level == "poor"
    (notice,) = (notice for notice in report.notices if notice.kind == "corpus_fit")
    assert notice.text.endswith("On the plan's subject: 0 of 1 paper read.")


async def test_editor_quotes_are_matched_to_plan_text() -> None:
    added = make_finding([], "Baselines are not named.").model_copy(update={"quote": PLAN.lower()})
    foreign = make_finding([], "The reader is small.").model_copy(
        update={"quote": "we compare it with ninety baselines"}
    )
    review = await run_panel_review(editor=script_editor(major=[added, foreign]))
    assert [(item.plan.quote, item.plan.state) for item in review.major_weaknesses] == [
        (f"{PLAN} and measure accuracy", "verified"),
        ("", "not_found"),
    ]


@pytest.mark.parametrize(
    ("text", "is_advised"),
    [
        ("The plan has no control.", True),
        ("The design lacks a baseline.", True),
        ("The authors fail to randomise.", True),
        ("The plan does not state a control.", False),
        ("Earlier work has no control of this kind.", False),
    ],
)
def test_omission_stated_as_fact_triggers_advice(text: str, is_advised: bool) -> None:
    answer = script_editor(major=[make_finding(["Q2"], text)])(EDITOR_QUESTION)
    assert isinstance(answer, EditedReview)
    assert any("silence is no fact" in advice for advice in EDITOR.advice(EDITOR_QUESTION, answer)) is is_advised


async def test_fatal_finding_caps_soundness_score() -> None:
    fatal = make_finding(["Q2"], "Baselines are not named, so nothing can be concluded.").model_copy(
        update={"severity": "fatal"}
    )
    review = script_editor(major=[fatal])
    soundness = (await run_panel_report(editor=review, scores=plan_scores(62, 60))).parts[0].score
    assert isinstance(soundness, Score)
    assert soundness.value == 2.4
    assert soundness.basis == (
        "Headline of Baselines. A fatal finding limits soundness to 2.4; without it, the score is 6.2."
    )
    lower = (await run_panel_report(editor=review, scores=plan_scores(12, 60))).parts[0].score
    assert isinstance(lower, Score)
    assert (lower.value, lower.basis) == (1.2, "Unnamed baselines. Certainty: One plan.")


async def test_report_without_editor_answer_has_referee_points_and_no_scores() -> None:
    backends, llm = make_twin_backends(scripted=script_panel(reading=script_reading("weakens", point="Q3")))
    llm._failing = {"review.editor": MalformedAnswer("no JSON")}
    report = await review_idea(backends, make_run())
    assert [part.score for part in report.parts] == [
        Absent(reason="the editor's review could not be obtained: the LLM gave no valid answer.")
    ] * 2
    assert [notice.kind for notice in report.notices if notice.kind != "corpus_fit"] == ["absent_part"] * 2
    review = report.panel_review
    assert review is not None
    assert review.verdict.startswith("There is no verdict: the editor's review could not be obtained")
    assert review.major_weaknesses[1].text == "The three baselines are not named. Nothing follows."
    assert review.major_weaknesses[1].evidence == (0,)
    assert {item.item_kind for item in report.coverage.dropped} >= {"editor's review"}
    assert isinstance(compute_total_score(report), Absent)
    assert "There is no verdict" in render_report_markdown(report)


def test_review_without_an_editor_has_no_more_main_points_than_an_editor_may_give() -> None:
    point = PanelPoint(
        label="Q1", referee="one", kind="weakness", severity="major", claim="It fails.", why="", fix="", quoted=False
    )
    points = [point.model_copy(update={"label": f"Q{n}", "kind": ("strength", "weakness")[n % 2]}) for n in range(16)]
    review = build_unedited_review(Panel("A plan.", tuple(points)), Passages.label_passages([]), Absent(reason="none."))
    for name in ("strengths", "major"):
        (limit,) = EditedReview.model_fields[name].metadata
        assert len(getattr(review, name)) <= limit.max_length


async def test_review_fails_when_llm_endpoint_is_unavailable() -> None:
    backends, llm = make_twin_backends()
    llm._failing = {"review.editor": LlmUnavailable("gone")}
    with pytest.raises(LlmUnavailable):
        await review_idea(backends, make_run())


def test_editor_sees_passages_and_named_works_with_their_state() -> None:
    text = EDITOR.messages(EDITOR_QUESTION)[1].content
    assert "[E1] already_has, for Q1: checks claims against abstracts with a small reader (Checking claims" in text
    assert "Soundness 52, limited by: The baselines are weak." in text
    assert "published up to 2024-09-24" in text
    assert "covers this field only in part" in text
    assert "(Lee, 2019): checks quotes with a small reader. Not found in the sources searched" in text


def test_editor_prompt_states_when_no_passages_or_works_exist() -> None:
    question = EDITOR_QUESTION.model_copy(update={"passages": (), "novelty": (), "named": ()})
    text = EDITOR.messages(question)[1].content
    assert "No passage bears on any point." in text
    assert "Nothing was named." in text
    assert "from memory" not in text


def test_repetition_is_detected_by_word_overlap_with_longer_text() -> None:
    assert is_repetition("The baselines are not named.", "Baselines are not named here")
    assert not is_repetition("GPT-4 is dated.", "GPT-4 is dated, and the open model was chosen without a criterion.")


@pytest.mark.parametrize(
    ("quote", "excerpt"),
    [
        ("Bees live there", "It rains. Bees live there. They sting."),
        ("It rains", "It rains. Bees live there."),
        ("They sting", "Bees live there. They sting."),
        ("It rains … They sting", "It rains … They sting"),
    ],
)
def test_an_excerpt_is_the_quote_with_the_sentences_around_it(quote: str, excerpt: str) -> None:
    assert cut_excerpt(quote, "It rains. Bees live there.\nThey sting.") == excerpt
