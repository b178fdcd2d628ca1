"""Reviews in memory: every question is answered by the simulator, or by what a test scripted for its task."""

from pydantic import BaseModel

from assayer.backends import Backends
from assayer.claim_support.task import SupportAnswer, SupportQuestion, SupportVerdict
from assayer.evaluation_context import EvaluationContext
from assayer.ideas.parsing import parse_idea
from assayer.methods.review import ReviewOptions
from assayer.methods.review.pipeline import evaluate
from assayer.models import Report
from assayer.run.run import Run
from tests.unit.scholareval_questions import IDEA
from tests.unit.twins import Answerer, make_run

OPTIONS = ReviewOptions()


async def review_idea(backends: Backends, run: Run | None = None, options: ReviewOptions = OPTIONS) -> Report:
    """Review the idea of the tests."""
    idea = parse_idea(IDEA, source="idea.md")
    return (await evaluate(EvaluationContext.open(idea, backends, run or make_run(), options))).report


def script_support(outcome: str) -> Answerer:
    def answer(question: BaseModel) -> SupportAnswer:
        assert isinstance(question, SupportQuestion)
        return SupportAnswer(
            verdicts=[
                SupportVerdict.model_validate(
                    {"label": item.label, "carried": item.passage, "missing": "", "outcome": outcome}
                )
                for item in question.items
            ]
        )

    return answer
