"""Two reviews of one idea compared: prompt, orders, what a table makes of verdicts and failures."""

from pathlib import Path

import pytest

from assayer.errors import InputError, MalformedAnswer
from assayer.models import Absent, Report
from assayer.run.budget import Budget
from benchmarks.quality.kept import Kept
from benchmarks.quality.preferences.comparison import (
    PREFERENCE,
    RESPECTS,
    PreferenceAnswer,
    PreferenceOutcome,
    PreferenceQuestion,
    ReviewPair,
    ask_preferences,
    review_text,
    worth_of_second,
)
from benchmarks.quality.preferences.part import preferences_report, review_pairs
from tests.unit.reports_fixture import full_report
from tests.unit.twins import TwinLlm
from workers.embedding.hashing_embedder import HashingEmbedder


def pair(number: int = 0) -> ReviewPair:
    """The second says one thing less than the first."""
    first = full_report()
    second = first.model_copy(update={"summary": first.summary.model_copy(update={"suggestions": ()})})
    return ReviewPair(f"idea {number}", first, second)


def answer(better: str) -> PreferenceAnswer:
    verdict = {"in_a": "x", "in_b": "y", "better": better}
    return PreferenceAnswer.model_validate(dict.fromkeys(RESPECTS, verdict))


async def asked(tmp_path: Path, llm: TwinLlm, pairs: list[ReviewPair]) -> list[PreferenceOutcome]:
    kept = Kept(tmp_path / "preferences.jsonl", PreferenceOutcome, {})
    await ask_preferences(llm, pairs, 0, Budget(), kept)
    return kept.outcomes


async def test_a_judge_who_always_says_the_first_prefers_nobody(tmp_path: Path) -> None:
    llm = TwinLlm(HashingEmbedder(), {PREFERENCE.name: lambda _: answer("A")})
    outcomes = await asked(tmp_path, llm, [pair(number) for number in range(6)])
    assert {worth_of_second(one, respect) for one in outcomes for respect in RESPECTS} == {0.5}
    assert len(llm.asked) == 12
    assert len({one.second_shown_first for one in outcomes}) == 2, "who comes first is drawn by lot"
    lines = "\n".join(preferences_report([pair()], outcomes, False, 20))
    assert lines.count("| 6 |") == 3, "every pair was turned by its order"


async def test_a_judge_who_knows_prefers_the_same_review_in_both_orders(tmp_path: Path) -> None:
    whole = review_text(pair().first)

    def fuller(question: object) -> PreferenceAnswer:
        assert isinstance(question, PreferenceQuestion)
        return answer("A" if question.first == whole else "B")

    llm = TwinLlm(HashingEmbedder(), {PREFERENCE.name: fuller})
    outcomes = await asked(tmp_path, llm, [pair(number) for number in range(4)])
    assert {worth_of_second(one, "depth") for one in outcomes} == {0.0}
    assert "0.000 [0.000, 0.000]" in "\n".join(preferences_report([pair()], outcomes, True, 20))


async def test_a_failure_moves_nobody_ahead_and_is_counted(tmp_path: Path) -> None:
    llm = TwinLlm(HashingEmbedder(), failing={PREFERENCE.name: MalformedAnswer("no JSON")})
    outcomes = await asked(tmp_path, llm, [pair()])
    assert worth_of_second(outcomes[0], "evidence") is None
    text = "\n".join(preferences_report([pair()], outcomes, False, 20))
    assert "0.500 [0.500, 0.500] | 1 | 0" in text
    assert "1 × without: no JSON" in text


def test_the_prompt_shows_points_with_their_quotes_and_no_scores() -> None:
    one = pair()
    question = PreferenceQuestion(idea="An idea.", first=review_text(one.first), second=review_text(one.second))
    system, user = PREFERENCE.messages(question)
    assert "drawn by lot" in system.content
    assert "count neither for a review nor against it" in user.content
    assert user.content.index("# Review A") < user.content.index("# Review B") < user.content.index("# Task")
    quoted = next(
        citation.quote
        for point in one.first.summary.strengths
        for citation in point.citations
        if citation.quote_state == "verified"
    )
    assert f'"{quoted}"' in question.first
    assert "of 10" not in question.first
    plan = one.first.plan_review
    assert plan is not None
    assert not isinstance(plan.flaws, Absent)
    assert all(flaw.text in question.first for flaw in plan.flaws)


def test_pairs_are_ideas_with_a_report_in_both_folders(tmp_path: Path) -> None:
    report: Report = full_report()
    for name in ("one", "two", "none"):
        (tmp_path / name).mkdir()
    for name in ("one", "two"):
        (tmp_path / name / "report.json").write_text(report.model_dump_json())
    assert [one.first.idea.id for one in review_pairs(tmp_path / "one", tmp_path / "two")] == [report.idea.id]
    with pytest.raises(InputError, match="No idea has a report both in"):
        review_pairs(tmp_path / "one", tmp_path / "none")
