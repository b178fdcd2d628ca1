"""Evidence reports, made without a language model from a small corpus in memory."""

from dataclasses import replace

from assayer.evaluation_context import EvaluationContext
from assayer.ideas.parsing import parse_idea
from assayer.llm import NoLlm
from assayer.methods.check import CheckOptions
from assayer.methods.check.pipeline import evaluate
from assayer.models import Report
from tests.unit.scholareval_questions import IDEA
from tests.unit.scholareval_runs import POOR_FIT, make_twin_backends
from tests.unit.twins import make_run


async def make_evidence_report(text: str = IDEA, is_poor: bool = False, with_checklist: bool = False) -> Report:
    backends, _ = make_twin_backends(fit=POOR_FIT if is_poor else None)
    idea = parse_idea(text, source="idea.md")
    backends = replace(backends, llm=NoLlm())
    context = EvaluationContext.open(idea, backends, make_run(), CheckOptions())
    return (await evaluate(context, "check", with_checklist)).report
