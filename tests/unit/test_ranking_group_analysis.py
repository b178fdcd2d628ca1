"""The analysis of a small group: what it is shown, what it may say, and that an order stands without it."""

from typing import TypeVar

import pytest
from pydantic import BaseModel

from assayer.errors import LlmError, LlmRejected, LlmUnavailable, MalformedAnswer
from assayer.llm import Answer, Task
from assayer.models import Absent
from assayer.ranking.comparison import build_comparison_task
from assayer.ranking.group_analysis import ANALYSIS, GroupAnswer, GroupQuestion
from assayer.ranking.options import RankingOptions
from assayer.ranking.pipeline import CompletedRanking, rank_ideas
from assayer.reports.ranking_page import render_ranking_html, render_ranking_markdown
from assayer.run.run import Run
from assayer_client.rankings import GroupAnalysis
from tests.unit.judges import JudgeLlm, judge_correctly, make_ideas_of_worth, make_ranking_run

In = TypeVar("In", bound=BaseModel)
Out = TypeVar("Out", bound=BaseModel)
OPTIONS = RankingOptions(comparisons_per_idea=2, analysed_ideas=4)


class Analyst(JudgeLlm):
    """Judge that also writes the analysis of a small group."""

    def __init__(self, fails: Exception | None = None, text: str = "#1 says how it is tested.") -> None:
        super().__init__(judge_correctly, reason="A says how it is tested, B does not.")
        self._broken, self._text = fails, text
        self.group_questions: list[GroupQuestion] = []

    async def run(self, task: Task[In, Out], data: In, run: Run) -> Answer[Out]:
        if not isinstance(data, GroupQuestion):
            return await super().run(task, data, run)
        self.group_questions.append(data)
        if self._broken is not None:
            raise self._broken
        answer = task.output.model_validate(answer_group(data, self._text).model_dump())
        assert list(task.check(data, answer)) == []
        record = (
            await super().run(build_comparison_task(len(self.questions[-1].dimensions)), self.questions[-1], run)
        ).record
        return Answer(answer, record)


def answer_group(question: GroupQuestion, text: str) -> GroupAnswer:
    still_open = [pair.open for pair in question.pairs if pair.open][:2]
    return GroupAnswer.model_validate(
        {
            "overview": text,
            "by_dimension": [{"label": f"D{n}", "text": text} for n, _ in enumerate(question.dimensions, start=1)],
            "ideas": [
                {"label": f"I{n}", "standing": text, "to_rise": "Name a test."}
                for n, _ in enumerate(question.ideas, start=1)
            ],
            "close_calls": [{"label": label, "decides": text} for label in still_open],
        }
    )


async def rank(llm: JudgeLlm, count: int = 4) -> CompletedRanking:
    return await rank_ideas(make_ideas_of_worth(count), llm, make_ranking_run(), OPTIONS, cut=2)


async def test_small_group_is_analysed_after_ranking_is_final() -> None:
    analyst = Analyst()
    ranking = (await rank(analyst)).ranking
    assert [idea.id for idea in ranking.ideas] == [
        idea.id for idea in (await rank(JudgeLlm(judge_correctly), 4)).ranking.ideas
    ]
    assert isinstance(ranking.analysis, GroupAnalysis)
    assert [idea.id for idea in ranking.analysis.ideas] == [idea.id for idea in ranking.ideas]
    assert [item.dimension for item in ranking.analysis.dimensions] == [
        dimension.name for dimension in OPTIONS.dimensions
    ]
    (question,) = analyst.group_questions
    assert [idea.name for idea in question.ideas] == ["#1", "#2", "#3", "#4"]
    user_message = ANALYSIS.messages(question)[1].content
    assert "overall (A is #" in user_message
    assert "A says how it is tested, B does not." in user_message


async def test_failed_analysis_keeps_ranking_and_reports_reason() -> None:
    completed = await rank(Analyst(fails=MalformedAnswer("The answer did not fit.")))
    assert completed.ranking.analysis == Absent(reason="The answer did not fit.")
    assert len(completed.ranking.ideas) == 4
    assert "The answer did not fit." in render_ranking_html(completed.ranking, completed.comparisons)


@pytest.mark.parametrize("error", [LlmUnavailable("It is down."), LlmRejected("The key is wrong.")])
async def test_unavailable_or_rejecting_endpoint_error_is_raised(error: LlmError) -> None:
    with pytest.raises(type(error)):
        await rank(Analyst(fails=error))


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"overview": "#9 leads."}, "There is no idea #9."),
        ({"ideas": []}, "idea I1"),
        ({"by_dimension": []}, "respect D1"),
        ({"close_calls": [{"label": "O9", "decides": "A test."}]}, "O9 is not a pair whose order is open."),
    ],
)
async def test_analysis_answer_with_unknown_or_missing_labels_is_rejected(
    change: dict[str, object], complaint: str
) -> None:
    analyst = Analyst()
    await rank(analyst)
    answer = GroupAnswer.model_validate(answer_group(analyst.group_questions[0], "#1 leads.").model_dump() | change)
    assert any(complaint in item for item in ANALYSIS.check(analyst.group_questions[0], answer))


async def test_html_and_markdown_show_analysis_with_hostile_text_escaped() -> None:
    completed = await rank(Analyst(text="#1 leads <script>alert(1)</script> [x](javascript:alert(1))"))
    page = render_ranking_html(completed.ranking, completed.comparisons)
    assert "<script>alert" not in page
    assert "The group" in page
    text = render_ranking_markdown(completed.ranking, completed.comparisons)
    assert "## The group" in text
    assert "\\[x\\](javascript" in text
    assert " [x](javascript" not in text
