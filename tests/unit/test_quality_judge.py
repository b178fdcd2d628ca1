"""Tests of the judge: planted flaws, equal lengths, prompts without makers' names, failures counted in tables."""

import json
from pathlib import Path
from typing import get_args

import pytest

from assayer.ideas.parsing import parse_idea
from benchmarks.quality.__main__ import main
from benchmarks.quality.judge.answering import cut_words, make_neutral_copy
from benchmarks.quality.judge.coverage import CoverageOutcome, JudgedReview, format_coverage
from benchmarks.quality.judge.sensitivity import PairReview, SensitivityOutcome, format_sensitivity
from benchmarks.quality.judge.stability import StabilityOutcome, format_persuasion, format_repeatability
from benchmarks.quality.judge.tasks import (
    COMPARISON,
    FLAW,
    FLAW_CHECK,
    ComparisonAnswer,
    ComparisonQuestion,
    Edit,
    FlawCheckQuestion,
    FlawName,
    FlawQuestion,
    PlantedFlaw,
    ReviewVerdict,
    ShownReview,
    apply_edits,
    list_offered_kinds,
)
from benchmarks.quality.outcome_file import Spending
from benchmarks.quality.recorded import RecordedLlm, run_while_answered
from benchmarks.quality.rubrics import Rubric
from benchmarks.records import DATA
from tests.unit.proposal_texts import PROPOSAL
from tests.unit.twins import make_run

PLAN = "We train on set A. We test on set B. We compare with a control group."
SPENDING = Spending(calls=3, prompt_tokens=1_000, completion_tokens=100, usd=None)


def make_flaw(*edits: tuple[str, str]) -> PlantedFlaw:
    planted = [Edit(quote=quote, replacement=replacement) for quote, replacement in edits]
    return PlantedFlaw(edits=planted, statement="It tests on what it trained on.", kind="leak")


def list_complaints(*edits: tuple[str, str]) -> list[str]:
    return FLAW.complaints(FlawQuestion(plan=PLAN, kinds=list_offered_kinds(0)), make_flaw(*edits))


def test_edits_replace_only_the_quoted_passages() -> None:
    assert apply_edits(PLAN, make_flaw(("on set B", "on set A, too")).edits) == PLAN.replace(
        "on set B", "on set A, too"
    )
    assert list_complaints(("on set B", "on set A, too")) == []


@pytest.mark.parametrize(
    ("quote", "complaint"), [("on set C", "occurs 0 times"), ("on set", "occurs 2 times"), ("", "not once")]
)
def test_edit_with_non_unique_passage_is_rejected(quote: str, complaint: str) -> None:
    assert complaint in list_complaints((quote, "x"))[0]


def test_edits_changing_nothing_or_rewriting_whole_plan_are_rejected() -> None:
    assert "change nothing" in list_complaints(("set B", "set B"))[0]
    assert "rewrite" in list_complaints((PLAN, "Something else altogether."))[0]


def test_each_flaw_kind_is_offered_first_for_every_twelfth_plan() -> None:
    firsts = [list_offered_kinds(number)[0].name for number in range(24)]
    assert sorted(firsts) == sorted([*get_args(FlawName)] * 2)
    assert len({kind.name for kind in list_offered_kinds(5)}) == 12


def test_reviews_are_cut_at_line_ends_or_within_single_long_line() -> None:
    assert cut_words("one two\nthree four\nfive", 4) == "one two\nthree four"
    assert cut_words("one two three", 2) == "one two"


def test_modified_copy_gets_neutral_name() -> None:
    idea = parse_idea(PROPOSAL, "ai_1")
    name = make_neutral_copy(idea, f"{PROPOSAL}\n\nNo controls are used.").source
    assert name.startswith("ai_1-")
    assert len(name) == len("ai_1-") + 4


def test_prompts_contain_all_texts_but_no_method_names() -> None:
    reviews = tuple(ShownReview(label=f"R{place}", text=f"text {place}") for place in (1, 2))
    prompts = [
        FLAW.messages(FlawQuestion(plan=PLAN, kinds=list_offered_kinds(3))),
        FLAW_CHECK.messages(
            FlawCheckQuestion(plan=PLAN, edits=tuple(make_flaw(("B", "")).edits), statement="It leaks.")
        ),
        COMPARISON.messages(ComparisonQuestion(plan=PLAN, reviews=reviews)),
    ]
    assert all(PLAN in user.content for _, user in prompts)
    assert "(removed)" in prompts[1][1].content
    assert "[R2]" in prompts[2][1].content
    assert not any(name in user.content for _, user in prompts for name in ("paragraph", "scholareval"))


def make_verdict(label: str, rank: int) -> ReviewVerdict:
    return ReviewVerdict(label=label, wrong=[], readability=5, author_rank=rank, officer_rank=rank)


def test_comparison_missing_a_review_is_rejected() -> None:
    reviews = tuple(ShownReview(label=label, text="x") for label in ("R1", "R2"))
    answer = ComparisonAnswer(reviews=[make_verdict("R1", 1)])
    assert COMPARISON.complaints(ComparisonQuestion(plan=PLAN, reviews=reviews), answer)


def read_cells(lines: list[str], name: str) -> list[str]:
    return next(line for line in lines if line.startswith(f"| {name} | ")).strip("| ").split(" | ")


def test_failed_review_covers_no_rubrics_and_loses_preference() -> None:
    rubrics = [Rubric("ai_1", number, "x", "soundness", "weakness", "major") for number in range(4)]
    paragraph = JudgedReview(words=9, spent=SPENDING, scores={0: 5, 1: 3}, verdict=make_verdict("R1", 1))
    failed = JudgedReview(words=0, spent=SPENDING, failure="no answer")
    outcome = CoverageOutcome(item="ai_1", seed=0, reviews={"review": failed, "paragraph": paragraph})
    lines = [*format_coverage([outcome], rubrics, ["review", "paragraph"], 20)]
    assert read_cells(lines, "review")[2] == "1"
    assert [cell[:5] for cell in read_cells(lines, "review")[7:10]] == ["0.000", "0.000", "1.000"]
    assert read_cells(lines, "review")[12].startswith("0.000")
    assert [cell[:5] for cell in read_cells(lines, "paragraph")[7:10]] == ["0.250", "0.250", "0.500"]


def test_failed_pair_review_counts_as_flaw_missed_and_score_unchanged() -> None:
    good = PairReview(named=True, named_in_original=False, score=6, score_of_copy=3)
    outcomes = [
        SensitivityOutcome(item="a", seed=0, kind="leak", reviews={"review": good}),
        SensitivityOutcome(item="b", seed=0, kind="leak", reviews={"review": PairReview(failure="no answer")}),
        SensitivityOutcome(item="c", seed=0, kind="leak", rejected="it was there before"),
    ]
    lines = [*format_sensitivity(outcomes, ["review"], 20)]
    assert lines[0].startswith("3 plans, 2 pairs; rejected by the check: 1; not made: 0.")
    cells = read_cells(lines, "review")
    assert cells[1:4] == ["2", "1", "1"]
    assert [cell[:5] for cell in (cells[4], cells[7])] == ["0.500", "0.500"]
    assert cells[10].startswith("-3.000")


def make_stability_outcome(name: str, first: float | None, second: float | None) -> StabilityOutcome:
    runs = tuple({} if score is None else {"soundness": score} for score in (first, second))
    return StabilityOutcome(item=name, seed=0, words=100, words_of_copy=110, scores={"review": runs})  # type: ignore[dict-item]


def test_score_shift_and_spread_are_printed_with_missing_counts() -> None:
    outcomes = [
        make_stability_outcome("a", 2, 3),
        make_stability_outcome("b", 5, 5),
        make_stability_outcome("c", 9, 8),
        make_stability_outcome("d", None, 4),
    ]
    shift = read_cells([*format_persuasion(outcomes, ["review"], 20)], "review")
    assert shift[1:4] == ["soundness", "4", "1"]
    assert shift[6] == "1.00"
    spread = read_cells([*format_repeatability(outcomes, ["review"], 20)], "review")
    assert spread[3] == "1"
    assert spread[6] == "2.0 to 9.0"
    assert float(spread[8][:5]) > 0.7


async def test_recorded_answers_are_stored_separately_per_label(tmp_path: Path) -> None:
    llm = RecordedLlm(tmp_path)
    question = ComparisonQuestion(plan=PLAN, reviews=(ShownReview(label="R1", text="x"),))

    async def ask(label: str) -> None:
        await llm.use_label(label).run(COMPARISON, question, make_run())

    assert not await run_while_answered(ask("ai_1"), llm, 0.1)
    (name,) = llm.waiting
    assert name.startswith("ai_1.quality.comparison.")
    answer = json.dumps({"reviews": [make_verdict("R1", 1).model_dump()]})
    (tmp_path / "answers" / f"{name}.json").write_text(answer, "utf-8")
    assert await run_while_answered(ask("ai_1"), llm, 0.1)
    assert not await run_while_answered(ask("ai_1.run2"), llm, 0.1)


@pytest.mark.skipif(not DATA.is_dir(), reason="the data folder is not beside the clone")
def test_judge_without_a_model_reports_the_missing_setting(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["judge", "--no-llm", "--out", str(tmp_path / "out"), "--vectors", str(tmp_path / "vectors")]) == 1
    assert "need a language model" in capsys.readouterr().err
