"""A question to each LLM task of the program, and a simulated answer to it."""

import importlib
import pkgutil
from typing import Any

from pydantic import BaseModel

import assayer
from assayer.bias_test.persuasive import PERSUASIVE, PERSUASIVE_CHECK, PersuasiveQuestion, SameContentQuestion
from assayer.claim_support.task import SUPPORT, SupportItem, SupportQuestion
from assayer.content_reading.task import CONTENTS, ContentQuestion
from assayer.criteria.part import ShownCriterion
from assayer.criteria.task import JUDGE_CRITERIA, CriteriaQuestion, ShownFinding
from assayer.llm import Task
from assayer.methods.debate.composition import ROLES
from assayer.methods.debate.schemas import DebateQuestion
from assayer.methods.debate.tasks import DEBATE_TASKS
from assayer.name_reading.reading import NAMES, NamesQuestion
from assayer.plan_review.task import FLAWS, DoubtedPlan
from assayer.ranking.comparison import PairQuestion, build_comparison_task
from assayer.ranking.group_analysis import ANALYSIS, GroupQuestion, ShownIdea, ShownPair, ShownReason
from assayer.ranking.options import RankingOptions
from simulator.answers import compose, get_node
from simulator.prompt import parse_prompt
from tests.unit.curation_questions import QUESTIONS as CURATION
from tests.unit.debate_answers import ITEM
from tests.unit.grapheval_questions import GRAPHEVAL_QUESTIONS
from tests.unit.innoeval_board_questions import BOARD_QUESTIONS
from tests.unit.innoeval_questions import QUESTIONS as SEARCH
from tests.unit.review_questions import QUESTIONS as REVIEW_QUESTIONS
from tests.unit.scholareval_questions import IDEA
from tests.unit.scholareval_questions import QUESTIONS as SCHOLAREVAL
from tests.unit.scicompanion_questions import QUESTIONS as SCICOMPANION
from workers.llm.answer_schema import build_answer_schema

DEBATE: list[tuple[Task[Any, Any], BaseModel]] = [
    (DEBATE_TASKS[role], DebateQuestion(**dict(ITEM), round=1, rounds=2, seat=1, history=())) for role in ROLES
]
RANKING_DIMENSIONS = RankingOptions().dimensions
PAIR = PairQuestion(dimensions=RANKING_DIMENSIONS, first=IDEA, second="Count bees along a gradient of soil moisture.")
GROUP = GroupQuestion(
    dimensions=RANKING_DIMENSIONS,
    order_by="overall",
    ideas=tuple(ShownIdea(name=f"#{n}", title=f"Bees {n}", text=IDEA, lowest=2, highest=1) for n in (1, 2)),
    pairs=(
        ShownPair(
            open="O1",
            higher="#1",
            lower="#2",
            reasons=(ShownReason(dimension="overall", first="#2", second="#1", better="#1", text="B names a test."),),
        ),
    ),
)
CRITERION = ShownCriterion(label="C1", text="Use: who would use the result?")
FINDING = ShownFinding(label="F1", kind="weakness", text="It names no user.")
ALL_QUESTIONS: list[tuple[Task[Any, Any], BaseModel]] = [
    *SCHOLAREVAL,
    *REVIEW_QUESTIONS,
    *GRAPHEVAL_QUESTIONS,
    *SEARCH,
    *BOARD_QUESTIONS,
    *SCICOMPANION,
    *CURATION,
    *DEBATE,
    (build_comparison_task(len(RANKING_DIMENSIONS)), PAIR),
    (ANALYSIS, GROUP),
    (NAMES, NamesQuestion(idea=IDEA)),
    (FLAWS, DoubtedPlan(idea=IDEA)),
    (CONTENTS, ContentQuestion(title="Wild bees", abstract="We count wild bees. Hedges help them.")),
    (PERSUASIVE, PersuasiveQuestion(plan=IDEA)),
    (PERSUASIVE_CHECK, SameContentQuestion(plan=IDEA, reworded=IDEA)),
    (JUDGE_CRITERIA, CriteriaQuestion(idea=IDEA, criteria=(CRITERION,), findings=(FINDING,))),
    (SUPPORT, SupportQuestion(items=(SupportItem(label="C1", claim="It works.", passage="It works.", title="Works"),))),
]


def list_all_tasks() -> dict[str, Task[Any, Any]]:
    """Return the tasks of the program by name, wherever they are defined."""
    tasks = {task.name: task for task, _ in ALL_QUESTIONS}
    entry_points = ("assayer.__main__", "assayer.serving", "assayer.inspect_tasks")  # engine, Ray, Inspect AI
    for module in pkgutil.walk_packages(assayer.__path__, "assayer."):
        if module.name in entry_points:
            continue
        for value in vars(importlib.import_module(module.name)).values():
            values = value if isinstance(value, tuple) else (value,)
            tasks |= {task.name: task for task in values if isinstance(task, Task)}
    return tasks


def simulate_answer(task: Task[Any, Any], question: BaseModel, seed: int) -> Any:
    output: type[BaseModel] = task.output
    node = get_node(build_answer_schema(output).schema, strict=True)
    answer = compose(node, parse_prompt([message.content for message in task.messages(question)]), seed)
    return task.output.model_validate_json(answer.text)
