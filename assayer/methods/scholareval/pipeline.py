"""ScholarEval: soundness and contribution of an idea, side by side, grounded in literature.

After "ScholarEval: Research Idea Evaluation Grounded in Literature" (2025), sections 2.1 and 2.2.
"""

from assayer import account
from assayer.evaluation import Evaluation
from assayer.flow import Failed, attempt, measured, together
from assayer.library import Library
from assayer.methods.scholareval.assessments import whole
from assayer.methods.scholareval.contribution import Contribution
from assayer.methods.scholareval.options import METHOD, Options
from assayer.methods.scholareval.soundness import Soundness
from assayer.models import Absent, Idea, IdeaCard, ModuleDepth, Part, Report
from assayer.numbering import Numbering
from assayer.run import Run
from assayer.world import World

__all__ = ["Evaluation", "evaluate"]


async def evaluate(idea: Idea, world: World, run: Run, options: Options) -> Evaluation:
    """Raises RunCancelled, LiteratureError, LlmRejected or LlmUnavailable; another LlmError only if no module gave
    anything."""
    started_at, started = run.clock.now(), run.clock.monotonic()
    library = Library(world.literature, world.full_texts, run, idea)
    fit = await library.fit(idea.text)
    text = idea.text[: options.idea_chars]
    run.unread_characters = len(idea.text) - len(text)

    soundness = Soundness(world.llm, library, run, options, text, fit.level)
    contribution = Contribution(world.llm, library, run, options, text, fit.level)
    (sound, sound_depth), (contributed, contribution_depth) = await together(
        [measured(attempt(soundness.evaluate())), measured(attempt(contribution.evaluate()))]
    )
    if isinstance(sound, Failed) and isinstance(contributed, Failed):
        raise sound.error
    parts = (
        _part(run, "soundness", "Soundness", sound),
        _part(run, "contribution", "Contribution", contributed),
    )
    depth = (
        ModuleDepth(module="soundness", levels=sound_depth),
        ModuleDepth(module="contribution", levels=contribution_depth),
    )

    numbering = Numbering()
    summary = numbering.apply(whole(parts))
    parts = (numbering.apply(parts[0]), numbering.apply(parts[1]))
    papers = await library.as_they_stand(numbering.papers(soundness.papers | contribution.papers))
    references = numbering.references(papers)
    report = Report(
        evaluation_id=run.id,
        method=METHOD,
        idea=IdeaCard(id=idea.id, title=idea.title, source=idea.source, text=idea.text, flags=idea.flags),
        cutoff=run.cutoff,
        notices=account.notices(idea, world, run, fit, library.own_papers, parts, references),
        summary=summary,
        parts=parts,
        references=references,
        coverage=account.coverage(run, fit, parts, references, depth),
        provenance=account.provenance(world, run),
        usage=account.usage(run, started_at, started),
    )
    return Evaluation(report, papers)


def _part(run: Run, name: str, title: str, outcome: Part | Failed) -> Part:
    if not isinstance(outcome, Failed):
        return outcome
    run.keep([outcome], "module")
    absent = Absent(reason=f"the module stopped, {outcome.error.reason}.")
    return Part(name=name, title=title, score=absent, summary=absent, assessments=())
