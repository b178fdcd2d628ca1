"""A board in session, in memory: matrix, masks, failures, the control, registered dimensions, later work."""

import datetime as dt
import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from pydantic import BaseModel

from assayer.errors import AssayerError, InputError, MalformedAnswer
from assayer.ideas.parsing import parse_idea
from assayer.methods.innoeval.board.decision import CalibrationConditions, ScoredIdea, fit_decision
from assayer.methods.innoeval.board.session import BoardSession
from assayer.methods.innoeval.dimensions import load_built_in_dimensions
from assayer.methods.innoeval.evidence_pack import BoardResult, EvidencePack
from assayer.methods.innoeval.options import BoardOptions
from assayer.methods.innoeval.schemas import AdviceQuestion, JudgingQuestion, MetaQuestion, ReviewClaim
from assayer.methods.innoeval.tasks import JUDGING
from assayer.models import Absent, Agreement, BoardRecord, Decision, Score, ScoreInterval
from assayer.run.run import Run
from tests.unit.innoeval_evidence import BOARD_ANSWERS, answer_judging, make_evidence_pack
from tests.unit.twins import Answerer, TwinLlm, Watcher, make_run

CUTOFF = dt.date(2024, 6, 30)


def make_llm(
    scripted: Mapping[str, Answerer] | None = None, failing: Mapping[str, AssayerError] | None = None
) -> TwinLlm:
    return TwinLlm({**BOARD_ANSWERS, **(scripted or {})}, failing)


async def deliberate(
    model: TwinLlm,
    options: BoardOptions | None = None,
    evidence_pack: EvidencePack | None = None,
    run: Run | None = None,
) -> tuple[BoardResult, BoardRecord]:
    board = BoardSession(model, run or make_run(CUTOFF), options or BoardOptions())
    deliberation = await board.deliberate(evidence_pack or make_evidence_pack())
    assert deliberation.board is not None
    return deliberation, deliberation.board


async def test_every_reviewer_judges_all_dimensions_in_one_request() -> None:
    model, run = make_llm(), make_run(CUTOFF)
    deliberation, record = await deliberate(model, run=run)
    assert [question.reviewer.key for question in model.list_questions(JudgingQuestion)] == [
        "R1",
        "R2",
        "R3",
        "R4",
        "R5",
    ]
    assert all(question.dimensions == load_built_in_dimensions() for question in model.list_questions(JudgingQuestion))
    assert isinstance(run.progress, Watcher)
    assert [(event.done, event.total) for event in run.progress.events] == [(done, 5) for done in range(6)]
    assert [part.name for part in deliberation.parts] == [dimension.name for dimension in record.dimensions]
    assert all(
        [assessment.name.split()[0] for assessment in part.assessments] == ["R1", "R2", "R3", "R4", "R5"]
        for part in deliberation.parts
    )
    assert isinstance(record.score, Score)
    assert isinstance(record.interval, ScoreInterval)
    assert isinstance(record.agreement, Agreement)
    assert isinstance(record.decision, Absent)
    assert deliberation.summary.weaknesses


async def test_models_alternate_over_seats_and_each_review_uses_its_seat_model() -> None:
    model = make_llm()
    _, record = await deliberate(model, BoardOptions(models=("a", "b")))
    by_seat = [reviewer.model for reviewer in record.reviewers]
    assert by_seat in (["a", "b", "a", "b", "a"], ["b", "a", "b", "a", "b"])
    models_by_question = [
        (data, model_name) for (_, data), model_name in zip(model.requests, model.requested_models, strict=True)
    ]
    judging = [
        (data.reviewer.model, model_name)
        for data, model_name in models_by_question
        if isinstance(data, JudgingQuestion)
    ]
    assert len(judging) == 5
    assert all(seat_model == model_name for seat_model, model_name in judging)
    other_models = {model_name for data, model_name in models_by_question if not isinstance(data, JudgingQuestion)}
    assert other_models == {None}, "the meta-review and the advice are everybody's"


async def test_seed_determines_board_and_deliberation() -> None:
    first, second = await deliberate(make_llm()), await deliberate(make_llm())
    assert first == second
    _, other_record = await deliberate(make_llm(), BoardOptions(seed=1))
    assert [reviewer.persona for reviewer in other_record.reviewers] != [
        reviewer.persona for reviewer in first[1].reviewers
    ]


async def test_prompts_contain_persona_but_not_hidden_or_later_sources() -> None:
    model = make_llm()
    evidence_pack = make_evidence_pack()
    _, record = await deliberate(model, evidence_pack=evidence_pack)
    hidden = {
        reviewer.key: {paper for mask in reviewer.masking for paper in mask.hidden_papers}
        for reviewer in record.reviewers
    }
    later_papers = {item.paper.id for item in evidence_pack.after_cutoff}
    titles = {item.paper.id: item.paper.title for item in (*evidence_pack.before_cutoff, *evidence_pack.after_cutoff)}
    for question in model.list_questions(JudgingQuestion):
        text = JUDGING.messages(question)[1].content
        assert question.reviewer.background in text
        assert question.reviewer.goal in text
        papers = {find.label: find.paper_id for find in question.evidence}
        assert not any(f"{titles[paper]}\n" in text for paper in later_papers)
        for dimension in question.dimensions:
            counting = {papers[label] for label in question.list_labels(dimension)}
            if dimension.masked:
                assert not counting & hidden[question.reviewer.key]
            else:
                assert hidden[question.reviewer.key] <= counting, "what is new is judged on all that was found"
        marked_labels = re.findall(
            r"^\[(P\d+)\] .*; unknown to this reviewer, counts for Novelty alone$", text, re.MULTILINE
        )
        assert {papers[label] for label in marked_labels} == hidden[question.reviewer.key]
        assert all(note.label in {find.label for find in question.evidence} for note in question.notes)
    assert any(hidden.values())
    assert [dimension.name for dimension in record.dimensions if not dimension.masked] == ["novelty"]


async def test_board_without_personas_has_a_single_unmasked_reviewer() -> None:
    model = make_llm()
    _, record = await deliberate(model, BoardOptions(board=0))
    assert [(reviewer.persona, reviewer.seat, reviewer.masking) for reviewer in record.reviewers] == [
        (None, "control", ())
    ]
    assert record.pool is None
    assert isinstance(record.score, Score)
    assert isinstance(record.interval, Absent)
    assert isinstance(record.agreement, Absent)
    (question,) = model.list_questions(JudgingQuestion)
    assert (len(question.evidence), question.unfamiliar) == (40, ())
    assert "Nobody in particular" in JUDGING.messages(question)[1].content


async def test_failed_review_is_absent_and_excluded_from_the_mean() -> None:
    def fail_second_reviewer(question: BaseModel) -> BaseModel:
        assert isinstance(question, JudgingQuestion)
        if question.reviewer.key == "R2":
            raise MalformedAnswer("No valid answer.", faults=())
        return answer_judging(question)

    run = make_run(CUTOFF)
    deliberation, _ = await deliberate(
        make_llm({"innoeval.judging": fail_second_reviewer}), BoardOptions(board=3), run=run
    )
    novelty = deliberation.parts[1]
    for part in deliberation.parts:
        second = part.assessments[1].score
        assert isinstance(second, Absent)
        assert second.reason.startswith("Not reviewed: ")
    other_scores = [assessment.score.value for assessment in novelty.assessments if isinstance(assessment.score, Score)]
    assert isinstance(novelty.score, Score)
    assert novelty.score.value == pytest.approx(sum(other_scores) / 2)
    assert any(item.item_kind == "review" and item.count == 1 for item in run.journal.list_dropped())


async def test_reviewer_unable_to_judge_states_a_reason_without_score() -> None:
    def answer_without_score(question: BaseModel) -> BaseModel:
        return answer_judging(question, score=None, rationale="Nothing to judge by.")

    deliberation, record = await deliberate(make_llm({"innoeval.judging": answer_without_score}), BoardOptions(board=2))
    assert deliberation.parts[0].assessments[0].score == Absent(reason="Nothing to judge by.")
    assert isinstance(record.score, Absent)
    assert isinstance(record.decision, Absent)


async def test_board_fails_when_all_reviews_fail() -> None:
    error = MalformedAnswer("No valid answer.", faults=())
    with pytest.raises(MalformedAnswer):
        await deliberate(make_llm(failing={"innoeval.judging": error}))


async def test_points_on_sources_that_do_not_count_for_their_dimension_are_dropped() -> None:
    claims = [ReviewClaim(text="Somebody did it [P1]."), ReviewClaim(text="It has no control.")]
    model, run = (
        make_llm({"innoeval.judging": lambda question: answer_judging(question, weaknesses=claims)}),
        make_run(CUTOFF),
    )
    deliberation, _ = await deliberate(model, BoardOptions(board=0), run=run)
    weaknesses = {
        part.name: [p.text for p in part.assessments[0].points if p.kind == "weakness"] for part in deliberation.parts
    }
    assert weaknesses["clarity"] == ["It has no control."], "clarity is judged on the author's text alone"
    assert len(weaknesses["novelty"]) == 2
    assert any(item.item_kind == "point of a review" and item.count == 1 for item in run.journal.list_dropped())


async def test_reviews_are_kept_when_meta_review_and_advice_fail() -> None:
    error = MalformedAnswer("No valid answer.", faults=())
    failing = {"innoeval.synthesis": error, "innoeval.advice": error}
    deliberation, record = await deliberate(make_llm(failing=failing))
    assert isinstance(record.meta_review, Absent)
    assert isinstance(record.advice, Absent)
    assert isinstance(record.score, Score)
    assert deliberation.summary.strengths


async def test_advice_is_based_only_on_later_work() -> None:
    model = make_llm()
    evidence_pack = make_evidence_pack(later_count=2)
    _, record = await deliberate(model, evidence_pack=evidence_pack)
    (question,) = model.list_questions(AdviceQuestion)
    assert {find.paper_id for find in question.evidence} == {item.paper.id for item in evidence_pack.after_cutoff}
    assert not isinstance(record.advice, Absent)
    (advice,) = record.advice
    assert advice.citations[0].quote_state == "verified"
    assert advice.text.startswith("On clarity: Take more reviews.")


async def test_advice_is_requested_for_weaknesses_of_every_dimension() -> None:
    missing_by_reviewer = {
        "R1": "a control",
        "R2": "two baselines",
        "R3": "raters from elsewhere",
        "R4": "funds",
        "R5": "a theory",
    }

    def name_own_weakness(question: BaseModel) -> BaseModel:
        assert isinstance(question, JudgingQuestion)
        weakness = ReviewClaim(text=f"It lacks {missing_by_reviewer[question.reviewer.key]}.")
        return answer_judging(question, weaknesses=[weakness])

    model = make_llm({"innoeval.judging": name_own_weakness})
    await deliberate(model)
    (advice_question,) = model.list_questions(AdviceQuestion)
    dimensions = [item.dimension for item in advice_question.weaknesses]
    assert dimensions == ["Clarity", "Novelty", "Feasibility", "Validity", "Significance"] * 3
    assert advice_question.weaknesses[5].text == "It lacks two baselines."


async def test_advice_is_requested_once_per_dimension_for_similar_weaknesses() -> None:
    model = make_llm()
    evidence_pack = make_evidence_pack()
    await deliberate(model, evidence_pack=evidence_pack)
    (advice_question,) = model.list_questions(AdviceQuestion)
    assert [weakness.dimension for weakness in advice_question.weaknesses] == [
        resolve_dimension.title for resolve_dimension in load_built_in_dimensions()
    ]
    assert advice_question.weaknesses[1].text == "Reviewer 1 misses a control (earlier work)."
    assert (advice_question.idea, advice_question.day) == (evidence_pack.text, CUTOFF)


async def test_meta_review_question_includes_cited_sources_and_reviewers() -> None:
    model = make_llm()
    evidence_pack = make_evidence_pack()
    _, record = await deliberate(model, evidence_pack=evidence_pack)
    (meta_question,) = model.list_questions(MetaQuestion)
    cited = {find.paper_id: find.text for find in meta_question.evidence}
    assert cited.keys() <= {item.paper.id for item in evidence_pack.before_cutoff}
    analysis_by_paper = {grounding.paper_id: grounding.analysis for grounding in evidence_pack.groundings}
    read = {item.paper.id: item.text for item in evidence_pack.before_cutoff}
    assert cited
    assert all(text == analysis_by_paper.get(paper, read[paper]) for paper, text in cited.items())
    assert meta_question.reviewers == record.reviewers


async def test_long_proposal_is_judged_by_section_and_sections_are_reported() -> None:
    text = "# Motivation\n\n" + "Quotes are wrong. " * 20 + "Nobody noticed."
    text += "\n\n# Budget\n\n" + "Two years. " * 20 + "\n\n# Related work\n\n" + "Some was done. " * 20
    evidence_pack = make_evidence_pack(idea=parse_idea(text, source="long.md"))
    model = make_llm()
    run = make_run(CUTOFF)
    run.unread_characters = 7
    deliberation, record = await deliberate(model, BoardOptions(board=1, long_idea_chars=1), evidence_pack, run)
    (notice,) = deliberation.notices
    assert notice.kind == "long_idea"
    assert notice.text == "The idea is long, so each dimension was judged on the sections that are relevant to it."
    assert run.unread_characters == 0
    read = {dimension.name: dimension.sections for dimension in record.dimensions}
    assert read["feasibility"] == ("Budget",)
    assert read["significance"] == ("Motivation",)
    (question,) = model.list_questions(JudgingQuestion)
    prompt = JUDGING.messages(question)[1].content
    assert re.search(
        r"^For Clarity, Feasibility, Validity:\n<section \w+>\nBudget\n\nTwo years\.", prompt, re.MULTILINE
    )
    assert re.search(
        r"^For Clarity, Novelty, Validity, Significance:\n<section \w+>\nMotivation\n", prompt, re.MULTILINE
    )
    assert prompt.count("Nobody noticed.") == 1
    assert evidence_pack.six_tuple.methods[0] in prompt


async def test_calibration_applies_only_to_boards_it_was_fitted_on(tmp_path: Path) -> None:
    _, record = await deliberate(make_llm(), BoardOptions(board=2))
    ideas = [ScoredIdea(2 + 6 * (n % 2) + n / 100, ("Reject", "Accept")[n % 2]) for n in range(40)]
    fitted_on = dt.date(2026, 3, 1)
    calibration = fit_decision(
        "spring",
        fitted_on,
        "40 made-up ideas.",
        CalibrationConditions.from_board(record),
        ("Reject", "Accept"),
        ideas,
        0,
        0,
    )
    path = tmp_path / "spring.json"
    path.write_text(calibration.model_dump_json(), encoding="utf-8")
    _, decided = await deliberate(make_llm(), BoardOptions(board=2, calibration=path))
    assert isinstance(decided.decision, Decision)
    assert decided.decision.calibration == "spring"
    _, undecided = await deliberate(make_llm(), BoardOptions(board=3, calibration=path))
    assert isinstance(undecided.decision, Absent)
    assert "different board" in undecided.decision.reason


def test_invalid_board_configuration_is_rejected_before_any_llm_request(tmp_path: Path) -> None:
    model = make_llm()
    with pytest.raises(InputError, match="has 52 personas, too few for a board of 53"):
        BoardSession(model, make_run(), BoardOptions(board=53))
    with pytest.raises(InputError, match=r"none\.json"):
        BoardSession(model, make_run(), BoardOptions(calibration=tmp_path / "none.json"))
    assert model.requests == []
