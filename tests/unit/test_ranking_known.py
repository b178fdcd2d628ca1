"""Comparisons that are used again are of the same judge, question and texts; what cannot be answered is asked once."""

import threading
from collections import Counter
from pathlib import Path
from typing import Any, TypeVar

import pytest
from pydantic import BaseModel

from assayer.errors import AnswerRefused
from assayer.llm import Answer, Task
from assayer.models import Idea
from assayer.ranking.comparison import describe_judging
from assayer.ranking.options import RankingOptions
from assayer.ranking.pipeline import rank_ideas
from assayer.reports.ranking_page import RankingPage, render_ranking_html
from assayer.run.run import Run
from assayer_client.comparisons import Comparison
from assayer_client.rankings import Dimension
from cluster.clock import SystemClock
from cluster.ranker import Ranker, RankingInputs
from cluster.settings import Settings
from tests.unit.judges import JudgeLlm, judge_correctly, make_ideas_of_worth, make_ranking_run
from tests.unit.twins import Watcher
from workers.embedding.hashing_embedder import HashingEmbedder
from workers.llm import LlmSettings

In = TypeVar("In", bound=BaseModel)
Out = TypeVar("Out", bound=BaseModel)
OPTIONS = RankingOptions(comparisons_per_idea=3)


class OtherJudge(JudgeLlm):
    """Judge that answers under another model name."""

    models = ("other",)

    async def run(self, task: Task[In, Out], data: In, run: Run) -> Answer[Out]:
        value, record = await super().run(task, data, run)
        return Answer(value, record.model_copy(update={"model": "other"}))


class FilteredJudge(JudgeLlm):
    """Judge whose content filter refuses every question about one idea."""

    def __init__(self, refused_text: str) -> None:
        super().__init__(judge_correctly)
        self.refused = refused_text
        self.pairs = Counter[tuple[str, str]]()

    async def run(self, task: Task[In, Out], data: In, run: Run) -> Answer[Out]:
        first, second = str(getattr(data, "first", "")), str(getattr(data, "second", ""))
        self.pairs[first, second] += 1
        if self.refused in (first, second):
            raise AnswerRefused("The endpoint's content filter refused the question (400).")
        return await super().run(task, data, run)

    @property
    def in_vain(self) -> int:
        return sum(count for pair, count in self.pairs.items() if self.refused in pair)


async def rank_known(options: RankingOptions = OPTIONS) -> tuple[Comparison, ...]:
    return (
        await rank_ideas(make_ideas_of_worth(6), JudgeLlm(judge_correctly), make_ranking_run(), options)
    ).comparisons


async def test_comparison_records_its_judge_question_and_text_digests() -> None:
    comparison, *other_comparisons = await rank_known()
    judging = comparison.judged_by
    assert judging is not None
    assert judging.model == "judge"
    assert judging.question == describe_judging(OPTIONS, None, None).question
    assert (
        len(
            {
                other_comparison.judged_by.question
                for other_comparison in other_comparisons
                if other_comparison.judged_by
            }
        )
        == 1
    )
    digests = {comparison.first: judging.first_text, comparison.second: judging.second_text}
    for other_comparison in other_comparisons:
        assert other_comparison.judged_by is not None
        digests |= {
            other_comparison.first: other_comparison.judged_by.first_text,
            other_comparison.second: other_comparison.judged_by.second_text,
        }
    assert len(set(digests.values())) == 6


DIMENSION = Dimension(name="overall", question="Which idea is cheaper to carry out?")
LONGER = [idea.model_copy(update={"text": f"{idea.text} And more."}) for idea in make_ideas_of_worth(6)]


@pytest.mark.parametrize(
    ("judge", "options", "ideas", "reason"),
    [
        (OtherJudge, OPTIONS, make_ideas_of_worth(6), "judged by judge and not by other"),
        (
            JudgeLlm,
            RankingOptions(comparisons_per_idea=3, dimensions=(DIMENSION,)),
            make_ideas_of_worth(6),
            "with another question",
        ),
        (JudgeLlm, OPTIONS, LONGER, "a text that differs from the idea"),
    ],
)
async def test_comparisons_with_other_judge_question_or_text_are_reported_and_ignored(
    judge: type[JudgeLlm], options: RankingOptions, ideas: list[Idea], reason: str
) -> None:
    known_comparisons = await rank_known()
    llm, run = judge(judge_correctly), make_ranking_run()
    ranked = await rank_ideas(ideas, llm, run, options, known_comparisons=known_comparisons)
    assert ranked.ranking.judge.submitted_comparisons == 0
    assert llm.calls == 18
    assert ranked.set_aside == known_comparisons
    (dropped,) = ranked.ranking.dropped
    assert (dropped.item_kind, dropped.count) == ("known comparison", len(known_comparisons))
    assert reason in dropped.reason
    assert reason in render_ranking_html(ranked.ranking, ())


@pytest.mark.parametrize(("count", "comparisons_per_idea"), [(4, 10.0), (10, 10.0), (30, 10.0), (100, 6.0)])
async def test_idea_always_refused_by_judge_is_skipped_after_few_tries(count: int, comparisons_per_idea: float) -> None:
    ideas = make_ideas_of_worth(count)
    llm = FilteredJudge(ideas[0].text)
    ranked = (
        await rank_ideas(ideas, llm, make_ranking_run(), RankingOptions(comparisons_per_idea=comparisons_per_idea))
    ).ranking
    assert max(llm.pairs.values()) == 1, "each pair at most once in each order"
    assert 4 <= llm.in_vain <= 8
    assert ranked.judge.failed == llm.in_vain
    (unjudged,) = [idea for idea in ranked.ideas if idea.unjudged]
    assert (unjudged.id, unjudged.comparisons) == (ideas[0].id, 0)
    assert unjudged.unjudged is not None
    assert "no further attempts were made). Last error: the LLM declined to answer." in unjudged.unjudged.reason
    assert any(caution.title == "Ideas without a verdict" for caution in RankingPage(ranked, ()).cautions)


async def test_judge_refusing_every_question_is_abandoned_before_budget_is_spent() -> None:
    llm = JudgeLlm(judge_correctly, fails=AnswerRefused("No."))
    ranked = (
        await rank_ideas(make_ideas_of_worth(20), llm, make_ranking_run(), RankingOptions(comparisons_per_idea=10))
    ).ranking
    assert llm.calls < 100
    assert all(idea.unjudged for idea in ranked.ideas)


class WatchedComparison(Comparison):
    """Comparison that records the threads in which it is serialised."""

    def model_dump_json(self, **options: Any) -> str:
        HASHING_THREADS.append(threading.current_thread())
        return super().model_dump_json(**options)


HASHING_THREADS: list[threading.Thread] = []


async def test_known_comparisons_are_hashed_off_main_thread_and_distinguish_run_ids(tmp_path: Path) -> None:
    ideas, known_comparisons = make_ideas_of_worth(6), await rank_known()
    settings = Settings(home=tmp_path, llm=LlmSettings(base_url="http://host/v1", model="judge"))
    ids = []
    for comparisons in (
        (),
        known_comparisons,
        known_comparisons[1:],
        [WatchedComparison.model_validate(item.model_dump()) for item in known_comparisons],
    ):
        ranker = Ranker(settings, JudgeLlm(judge_correctly), HashingEmbedder(), SystemClock())
        ids.append((await ranker.rank(RankingInputs(ideas, known=comparisons), Watcher())).ranking.id)
    assert ids[1] == ids[3]
    assert len(set(ids)) == 3
    assert HASHING_THREADS
    assert threading.main_thread() not in HASHING_THREADS
