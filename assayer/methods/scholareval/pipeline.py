"""ScholarEval: assess an idea's soundness and contribution, in parallel and grounded in literature.

It follows "ScholarEval: Research Idea Evaluation Grounded in Literature" (2025), sections 2.1 and 2.2."""

from assayer.evaluation_context import EvaluationContext
from assayer.methods.scholareval.aggregation import build_report_summary
from assayer.methods.scholareval.contribution import ContributionModule
from assayer.methods.scholareval.options import METHOD, ScholarEvalOptions
from assayer.methods.scholareval.soundness import SoundnessModule
from assayer.methods.scholareval.soundness_readings import SoundnessReadings
from assayer.models import Absent, Part
from assayer.plan_review.review import review_plan
from assayer.reports.assembly import EvaluationResult, Findings, assemble_report
from assayer.run.concurrency import Failed, catch_failure, task_group
from assayer.run.run import Run


async def evaluate(context: EvaluationContext[ScholarEvalOptions]) -> EvaluationResult:
    """Evaluate an idea. Raises LiteratureError if the corpus fails, and LlmRejected or LlmUnavailable if the endpoint
    fails. Other LlmErrors are raised only if both modules failed."""
    fit = await context.library.fit(context.idea.text)
    readings = SoundnessReadings()
    soundness = SoundnessModule(context, fit.level, readings)
    contribution = ContributionModule(context, fit.level, readings)
    async with task_group() as group:
        sound_task = group.create_task(catch_failure(soundness.evaluate()))
        contributed_task = group.create_task(catch_failure(contribution.evaluate()))
        plan_task = group.create_task(review_plan(context))
    soundness_outcome, contribution_outcome, plan = sound_task.result(), contributed_task.result(), plan_task.result()
    if isinstance(soundness_outcome, Failed) and isinstance(contribution_outcome, Failed):
        raise soundness_outcome.error
    parts = (
        _get_part(context.run, "soundness", "Soundness", soundness_outcome),
        _get_part(context.run, "contribution", "Contribution", contribution_outcome),
    )
    findings = Findings(
        summary=build_report_summary(parts),
        parts=parts,
        corpus_fit=fit,
        papers={**soundness.papers, **contribution.papers, **plan.papers},
        plan_review=plan.review,
    )
    return await assemble_report(METHOD, context, findings)


def _get_part(run: Run, name: str, title: str, outcome: Part | Failed) -> Part:
    if not isinstance(outcome, Failed):
        return outcome
    run.journal.record_failure("module", outcome.error)
    absent = Absent(reason=f"the module stopped: {outcome.error.reason}.")
    return Part(name=name, title=title, score=absent, summary=absent, assessments=())
