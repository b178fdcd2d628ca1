"""ScholarEval: soundness and contribution of an idea, side by side, grounded in literature.

After "ScholarEval: Research Idea Evaluation Grounded in Literature" (2025), sections 2.1 and 2.2.
"""

from assayer.backends import Backends
from assayer.literature.library import Library
from assayer.methods.scholareval.aggregation import report_summary
from assayer.methods.scholareval.contribution import ContributionModule
from assayer.methods.scholareval.options import METHOD, ScholarEvalOptions
from assayer.methods.scholareval.read_for_methods import ReadForMethods
from assayer.methods.scholareval.soundness import SoundnessModule
from assayer.models import Absent, Idea, ModuleDepth, Notice, Part
from assayer.plan_review.review import review_plan
from assayer.reports.assembly import EvaluationResult, Findings, assemble_report
from assayer.run.accounting import Started
from assayer.run.run import Run
from assayer.run.structured_concurrency import Failed, attempt, both, measured, together

__all__ = ["evaluate"]


async def evaluate(idea: Idea, backends: Backends, run: Run, options: ScholarEvalOptions) -> EvaluationResult:
    """Raises LiteratureError, LlmRejected or LlmUnavailable; another LlmError only if no module gave
    anything."""
    started = Started.now(run.clock)
    library = Library(backends.literature, backends.full_texts, run, idea)
    fit = await library.fit(idea.text)
    text = idea.text[: options.idea_chars]
    run.unread_characters = len(idea.text) - len(text)

    shared = ReadForMethods()
    given = (backends.llm, library, run, options, text, fit.level, backends.reranker, shared)
    soundness, contribution = SoundnessModule(*given), ContributionModule(*given)
    (modules, (plan, plan_depth)) = await both(
        together([measured(attempt(soundness.evaluate())), measured(attempt(contribution.evaluate()))]),
        measured(review_plan(text, backends.llm, library, run)),
    )
    (sound, sound_depth), (contributed, contribution_depth) = modules
    if isinstance(sound, Failed) and isinstance(contributed, Failed):
        raise sound.error
    parts = (
        _part_or_absent(run, "soundness", "Soundness", sound),
        _part_or_absent(run, "contribution", "Contribution", contributed),
    )
    depth = (
        ModuleDepth(module="soundness", levels=sound_depth),
        ModuleDepth(module="contribution", levels=contribution_depth),
        *([ModuleDepth(module="plan", levels=plan_depth)] if plan_depth else []),
    )

    findings = Findings(
        summary=report_summary(parts),
        parts=parts,
        depth=depth,
        corpus_fit=fit,
        papers={**soundness.papers, **contribution.papers, **plan.papers},
        plan_review=plan.review,
        notices=_left_out(options),
    )
    return await assemble_report(METHOD, idea, backends, run, started, findings, library)


def _left_out(options: ScholarEvalOptions) -> tuple[Notice, ...]:
    if not options.without:
        return ()
    return (Notice(kind="weak_signal", text=f"Left out by the settings: {' and '.join(options.without)}."),)


def _part_or_absent(run: Run, name: str, title: str, outcome: Part | Failed) -> Part:
    if not isinstance(outcome, Failed):
        return outcome
    run.keep_successes([outcome], "module")
    absent = Absent(reason=f"the module stopped, {outcome.error.reason}.")
    return Part(name=name, title=title, score=absent, summary=absent, assessments=())
