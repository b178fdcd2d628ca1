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
from tests.unit.innoeval_evidence import BOARD_ANSWERS, judgements, pack
from tests.unit.twins import Answerer, TwinLlm, Watcher, a_run

CUTOFF = dt.date(2024, 6, 30)


def llm(scripted: Mapping[str, Answerer] | None = None, failing: Mapping[str, AssayerError] | None = None) -> TwinLlm:
    return TwinLlm({**BOARD_ANSWERS, **(scripted or {})}, failing)


async def deliberated(
    model: TwinLlm, options: BoardOptions | None = None, given: EvidencePack | None = None, run: Run | None = None
) -> tuple[BoardResult, BoardRecord]:
    board = BoardSession(model, run or a_run(CUTOFF), options or BoardOptions())
    deliberation = await board.deliberate(given or pack())
    assert deliberation.board is not None
    return deliberation, deliberation.board


async def test_every_reviewer_judges_all_dimensions_in_one_request() -> None:
    model, run = llm(), a_run(CUTOFF)
    deliberation, record = await deliberated(model, run=run)
    assert [question.reviewer.key for question in model.questions(JudgingQuestion)] == ["R1", "R2", "R3", "R4", "R5"]
    assert all(question.dimensions == load_built_in_dimensions() for question in model.questions(JudgingQuestion))
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
    model = llm()
    _, record = await deliberated(model, BoardOptions(models=("a", "b")))
    by_seat = [reviewer.model for reviewer in record.reviewers]
    assert by_seat in (["a", "b", "a", "b", "a"], ["b", "a", "b", "a", "b"])
    asked = [(data, named) for (_, data), named in zip(model.asked, model.asked_of, strict=True)]
    judging = [(data.reviewer.model, named) for data, named in asked if isinstance(data, JudgingQuestion)]
    assert len(judging) == 5
    assert all(wanted == named for wanted, named in judging)
    others = {named for data, named in asked if not isinstance(data, JudgingQuestion)}
    assert others == {None}, "the meta-review and the advice are everybody's"


async def test_seed_determines_board_and_deliberation() -> None:
    first, second = await deliberated(llm()), await deliberated(llm())
    assert first == second
    _, other = await deliberated(llm(), BoardOptions(seed=1))
    assert [reviewer.persona for reviewer in other.reviewers] != [reviewer.persona for reviewer in first[1].reviewers]


async def test_prompts_contain_persona_but_not_hidden_or_later_sources() -> None:
    model = llm()
    given = pack()
    _, record = await deliberated(model, given=given)
    hidden = {
        reviewer.key: {paper for mask in reviewer.masking for paper in mask.hidden_papers}
        for reviewer in record.reviewers
    }
    later = {item.paper.id for item in given.after_cutoff}
    titles = {item.paper.id: item.paper.title for item in (*given.before_cutoff, *given.after_cutoff)}
    for question in model.questions(JudgingQuestion):
        text = JUDGING.messages(question)[1].content
        assert question.reviewer.background in text
        assert question.reviewer.goal in text
        papers = {find.label: find.paper_id for find in question.evidence}
        assert not any(f"{titles[paper]}\n" in text for paper in later)
        for dimension in question.dimensions:
            counting = {papers[label] for label in question.list_labels(dimension)}
            if dimension.masked:
                assert not counting & hidden[question.reviewer.key]
            else:
                assert hidden[question.reviewer.key] <= counting, "what is new is judged on all that was found"
        marked = re.findall(r"^\[(P\d+)\] .*; unknown to this reviewer, counts for Novelty alone$", text, re.MULTILINE)
        assert {papers[label] for label in marked} == hidden[question.reviewer.key]
        assert all(note.label in {find.label for find in question.evidence} for note in question.notes)
    assert any(hidden.values())
    assert [dimension.name for dimension in record.dimensions if not dimension.masked] == ["novelty"]


async def test_board_without_personas_has_a_single_unmasked_reviewer() -> None:
    model = llm()
    _, record = await deliberated(model, BoardOptions(board=0))
    assert [(reviewer.persona, reviewer.seat, reviewer.masking) for reviewer in record.reviewers] == [
        (None, "control", ())
    ]
    assert record.pool is None
    assert isinstance(record.score, Score)
    assert isinstance(record.interval, Absent)
    assert isinstance(record.agreement, Absent)
    (question,) = model.questions(JudgingQuestion)
    assert (len(question.evidence), question.unfamiliar) == (40, ())
    assert "Nobody in particular" in JUDGING.messages(question)[1].content


async def test_failed_review_is_absent_and_excluded_from_the_mean() -> None:
    def moody(question: BaseModel) -> BaseModel:
        assert isinstance(question, JudgingQuestion)
        if question.reviewer.key == "R2":
            raise MalformedAnswer("No valid answer.", faults=())
        return judgements(question)

    run = a_run(CUTOFF)
    deliberation, _ = await deliberated(llm({"innoeval.judging": moody}), BoardOptions(board=3), run=run)
    novelty = deliberation.parts[1]
    for part in deliberation.parts:
        second = part.assessments[1].score
        assert isinstance(second, Absent)
        assert second.reason.startswith("Not reviewed: ")
    rest = [assessment.score.value for assessment in novelty.assessments if isinstance(assessment.score, Score)]
    assert isinstance(novelty.score, Score)
    assert novelty.score.value == pytest.approx(sum(rest) / 2)
    assert any(item.item_kind == "review" and item.count == 1 for item in run.journal.list_dropped())


async def test_reviewer_unable_to_judge_states_a_reason_without_score() -> None:
    def silent(question: BaseModel) -> BaseModel:
        return judgements(question, score=None, rationale="Nothing to judge by.")

    deliberation, record = await deliberated(llm({"innoeval.judging": silent}), BoardOptions(board=2))
    assert deliberation.parts[0].assessments[0].score == Absent(reason="Nothing to judge by.")
    assert isinstance(record.score, Absent)
    assert isinstance(record.decision, Absent)


async def test_board_fails_when_all_reviews_fail() -> None:
    error = MalformedAnswer("No valid answer.", faults=())
    with pytest.raises(MalformedAnswer):
        await deliberated(llm(failing={"innoeval.judging": error}))


async def test_points_on_sources_that_do_not_count_for_their_dimension_are_left_out() -> None:
    claims = [ReviewClaim(text="Somebody did it [P1]."), ReviewClaim(text="It has no control.")]
    model, run = llm({"innoeval.judging": lambda question: judgements(question, weaknesses=claims)}), a_run(CUTOFF)
    deliberation, _ = await deliberated(model, BoardOptions(board=0), run=run)
    weaknesses = {
        part.name: [p.text for p in part.assessments[0].points if p.kind == "weakness"] for part in deliberation.parts
    }
    assert weaknesses["clarity"] == ["It has no control."], "clarity is judged on the author's text alone"
    assert len(weaknesses["novelty"]) == 2
    assert any(item.item_kind == "point of a review" and item.count == 1 for item in run.journal.list_dropped())


async def test_reviews_are_kept_when_meta_review_and_advice_fail() -> None:
    error = MalformedAnswer("No valid answer.", faults=())
    failing = {"innoeval.synthesis": error, "innoeval.advice": error}
    deliberation, record = await deliberated(llm(failing=failing))
    assert isinstance(record.meta_review, Absent)
    assert isinstance(record.advice, Absent)
    assert isinstance(record.score, Score)
    assert deliberation.summary.strengths


async def test_advice_is_based_only_on_later_work() -> None:
    model = llm()
    given = pack(later_count=2)
    _, record = await deliberated(model, given=given)
    (asked,) = model.questions(AdviceQuestion)
    assert {find.paper_id for find in asked.evidence} == {item.paper.id for item in given.after_cutoff}
    assert not isinstance(record.advice, Absent)
    (advice,) = record.advice
    assert advice.citations[0].quote_state == "verified"
    assert advice.text.startswith("On clarity: Take more reviews.")


async def test_advice_is_asked_about_weaknesses_of_every_dimension() -> None:
    missing = {"R1": "a control", "R2": "two baselines", "R3": "raters from elsewhere", "R4": "funds", "R5": "a theory"}

    def different(question: BaseModel) -> BaseModel:
        assert isinstance(question, JudgingQuestion)
        weakness = ReviewClaim(text=f"It lacks {missing[question.reviewer.key]}.")
        return judgements(question, weaknesses=[weakness])

    model = llm({"innoeval.judging": different})
    await deliberated(model)
    (asked,) = model.questions(AdviceQuestion)
    named = [item.dimension for item in asked.weaknesses]
    assert named == ["Clarity", "Novelty", "Feasibility", "Validity", "Significance"] * 3
    assert asked.weaknesses[5].text == "It lacks two baselines."


async def test_similar_weaknesses_are_asked_about_once_per_dimension() -> None:
    model = llm()
    given = pack()
    await deliberated(model, given=given)
    (asked,) = model.questions(AdviceQuestion)
    assert [weakness.dimension for weakness in asked.weaknesses] == [
        resolve_dimension.title for resolve_dimension in load_built_in_dimensions()
    ]
    assert asked.weaknesses[1].text == "Reviewer 1 misses a control (earlier work)."
    assert (asked.idea, asked.day) == (given.text, CUTOFF)


async def test_meta_review_question_includes_cited_sources_and_reviewers() -> None:
    model = llm()
    given = pack()
    _, record = await deliberated(model, given=given)
    (asked,) = model.questions(MetaQuestion)
    cited = {find.paper_id: find.text for find in asked.evidence}
    assert cited.keys() <= {item.paper.id for item in given.before_cutoff}
    noted = {grounding.paper_id: grounding.analysis for grounding in given.groundings}
    read = {item.paper.id: item.text for item in given.before_cutoff}
    assert cited
    assert all(text == noted.get(paper, read[paper]) for paper, text in cited.items())
    assert asked.reviewers == record.reviewers


async def test_long_proposal_is_judged_by_section_and_sections_are_reported() -> None:
    text = "# Motivation\n\n" + "Quotes are wrong. " * 20 + "Nobody noticed."
    text += "\n\n# Budget\n\n" + "Two years. " * 20 + "\n\n# Related work\n\n" + "Some was done. " * 20
    given = pack(idea=parse_idea(text, source="long.md"))
    model = llm()
    run = a_run(CUTOFF)
    run.unread_characters = 7
    deliberation, record = await deliberated(model, BoardOptions(board=1, long_idea_chars=1), given, run)
    (notice,) = deliberation.notices
    assert notice.kind == "long_idea"
    assert notice.text == "The idea is long, so each dimension was judged on the sections that are relevant to it."
    assert run.unread_characters == 0
    read = {dimension.name: dimension.sections for dimension in record.dimensions}
    assert read["feasibility"] == ("Budget",)
    assert read["significance"] == ("Motivation",)
    (question,) = model.questions(JudgingQuestion)
    prompt = JUDGING.messages(question)[1].content
    assert re.search(
        r"^For Clarity, Feasibility, Validity:\n<section \w+>\nBudget\n\nTwo years\.", prompt, re.MULTILINE
    )
    assert re.search(
        r"^For Clarity, Novelty, Validity, Significance:\n<section \w+>\nMotivation\n", prompt, re.MULTILINE
    )
    assert prompt.count("Nobody noticed.") == 1
    assert given.six_tuple.methods[0] in prompt


async def test_calibration_applies_only_to_boards_it_was_fitted_on(tmp_path: Path) -> None:
    _, record = await deliberated(llm(), BoardOptions(board=2))
    ideas = [ScoredIdea(2 + 6 * (n % 2) + n / 100, ("Reject", "Accept")[n % 2]) for n in range(40)]
    made = dt.date(2026, 3, 1)
    calibration = fit_decision(
        "spring", made, "40 made-up ideas.", CalibrationConditions.from_board(record), ("Reject", "Accept"), ideas, 0, 0
    )
    path = tmp_path / "spring.json"
    path.write_text(calibration.model_dump_json(), encoding="utf-8")
    _, decided = await deliberated(llm(), BoardOptions(board=2, calibration=path))
    assert isinstance(decided.decision, Decision)
    assert decided.decision.calibration == "spring"
    _, undecided = await deliberated(llm(), BoardOptions(board=3, calibration=path))
    assert isinstance(undecided.decision, Absent)
    assert "different board" in undecided.decision.reason


def test_invalid_board_configuration_is_rejected_before_any_llm_request(tmp_path: Path) -> None:
    model = llm()
    with pytest.raises(InputError, match="has 52 personas, too few for a board of 53"):
        BoardSession(model, a_run(), BoardOptions(board=53))
    with pytest.raises(InputError, match=r"none\.json"):
        BoardSession(model, a_run(), BoardOptions(calibration=tmp_path / "none.json"))
    assert model.asked == []
