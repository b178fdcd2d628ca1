"""GraphEval: an idea taken apart into viewpoints, put among those of ideas whose outcome is known, and scored there.

After "GraphEval: A Lightweight Graph-Based LLM Framework for Idea Evaluation" (2025), sections 3 to 5. Evidence
comes first; an outcome is named only where the calibration knows more than the label rates.
"""

import datetime as dt

import numpy as np
from numpy.typing import NDArray

from assayer import account
from assayer.errors import ConfigurationError, InputError
from assayer.evaluation import Evaluation
from assayer.methods.grapheval.arrays import UNKNOWN
from assayer.methods.grapheval.calibration import Calibration, Silence
from assayer.methods.grapheval.explanation import explain
from assayer.methods.grapheval.extraction import extract, relate
from assayer.methods.grapheval.growth import Ends, by_cosine, by_relations
from assayer.methods.grapheval.judge import Judge
from assayer.methods.grapheval.locality import Local
from assayer.methods.grapheval.options import METHOD, Options
from assayer.methods.grapheval.splitter import SPLITTER, split
from assayer.methods.grapheval.viewpoints import Viewpoints
from assayer.models import Absent, ClassProbability, Idea, IdeaCard, Notice, Report, Summary, Verdict
from assayer.ports import Vectors
from assayer.run import Run
from assayer.world import World

__all__ = ["evaluate", "judged", "notices_of"]

_NO_CORPUS = Absent(reason="GraphEval compares with labelled ideas, not with a corpus of papers.")
_WEAK = (
    "This verdict rests on the likeness of statements to statements of ideas whose outcome is known. Likeness says "
    "little about quality: on real decisions such scores do hardly better than the rates of the outcomes alone. Read "
    "the neighbours; take the probabilities for what the past says about ideas that sound like this one."
)
_SILENCES: dict[Silence, str] = {
    "nothing known": "the probabilities do not differ from the rates of the outcomes by more than they are uncertain.",
    "undecided": "the most probable outcomes cannot be told apart.",
    "unanswered": "no viewpoint of this idea is near enough to one with a known outcome.",
}


async def evaluate(idea: Idea, world: World, run: Run, options: Options, judge: Judge) -> Evaluation:
    """Raises InputError, ConfigurationError, RunCancelled, BudgetExhausted, LlmRejected or LlmUnavailable."""
    started_at, started = run.clock.now(), run.clock.monotonic()
    verdict = await judged(idea, world, run, options, judge)
    report = Report(
        evaluation_id=run.id,
        method=METHOD,
        idea=IdeaCard(id=idea.id, title=idea.title, source=idea.source, text=idea.text, flags=idea.flags),
        cutoff=run.cutoff,
        notices=(*notices_of(verdict), *account.general_notices(idea, run)),
        summary=Summary(strengths=(), weaknesses=(), suggestions=()),
        parts=(),
        verdict=verdict,
        references=(),
        coverage=account.coverage(run, _NO_CORPUS, (), (), ()),
        provenance=account.provenance(world, run).model_copy(
            update={"corpus_version": f"viewpoint graph {verdict.graph.name}, {verdict.graph.version}"}
        ),
        usage=account.usage(run, started_at, started),
    )
    return Evaluation(report, ())


async def judged(idea: Idea, world: World, run: Run, options: Options, judge: Judge) -> Verdict:
    """The verdict alone, for a report of its own or of another method."""
    text = idea.text[: options.idea_chars]
    run.unread_characters = max(run.unread_characters, len(idea.text) - len(text))
    taken = await _take_apart(idea, text, world, run, options, judge)
    vectors = await _embed(taken, world, judge)
    inside = await _inside(text, taken, vectors, world, run, judge)

    cutoff = _day(run.cutoff)
    placed = judge.place(idea, vectors, inside, None if run.cutoff is None else cutoff, cutoff)
    run.journal.drop("labelled idea", "it is this idea itself", len(placed.own))
    late = len(judge.contents.ideas) - int(judge.before(None if run.cutoff is None else cutoff).sum())
    run.journal.drop("labelled idea", "known only after the cutoff, or at an unknown date", late)
    run.journal.use(f"viewpoint graph {options.graph}", "neighbours", len(vectors), int((placed.found.rows >= 0).sum()))

    scores = placed.around.score(judge.scorer)
    decision, probabilities = _calibrated(scores, judge.calibration, options.prior)
    return Verdict(
        decision=decision,
        probabilities=probabilities,
        scorer=Local(judge.scorer, judge.hops).name,
        calibration=_named(judge.calibration),
        graph=judge.used,
        maker=taken.maker,
        viewpoints=len(taken.viewpoints),
        evidence=explain(taken.viewpoints, placed, scores, judge, options.explained, options.shown_neighbours),
    )


async def _take_apart(idea: Idea, text: str, world: World, run: Run, options: Options, judge: Judge) -> Viewpoints:
    """As the graph's ideas were taken apart, where that can be done: only like is compared with like."""
    by_splitter = judge.contents.plan.maker == SPLITTER
    everything = options.viewpoints * 10
    if by_splitter:
        taken = Viewpoints(viewpoints=split(text, everything), maker=SPLITTER)
    else:
        taken = await extract(text, world.llm, run, options.viewpoints)
    beyond = len(taken.viewpoints) - options.viewpoints
    run.journal.drop("viewpoint", f"beyond the first {options.viewpoints}", max(0, beyond))
    if not taken.viewpoints:
        raise InputError(
            f"{idea.source} holds no statement that could be compared.", "Write at least one whole sentence."
        )
    return taken.model_copy(update={"viewpoints": taken.viewpoints[: options.viewpoints]})


async def _embed(taken: Viewpoints, world: World, judge: Judge) -> Vectors:
    plan = judge.contents.plan
    if world.embedder.name != plan.embedder:
        raise ConfigurationError(
            f"The graph {plan.name!r} was made with the embedding model {plan.embedder}; this program uses "
            f"{world.embedder.name}.",
            "Set ASSAYER_EMBEDDER__MODEL to the graph's model, or build another graph.",
        )
    return await world.embedder.embed([viewpoint.text for viewpoint in taken.viewpoints], "passage")


async def _inside(text: str, taken: Viewpoints, vectors: Vectors, world: World, run: Run, judge: Judge) -> Ends:
    if judge.contents.plan.relations and world.llm.models:
        return by_relations(vectors, await relate(text, taken.viewpoints, world.llm, run))
    return by_cosine(vectors, judge.contents.plan.intra)


def _calibrated(
    scores: NDArray[np.float64], calibration: Calibration | Absent, prior: tuple[float, ...] | None
) -> tuple[str | Absent, tuple[ClassProbability, ...]]:
    """The outcome that is named, or why none is, and the probabilities of all."""
    if isinstance(calibration, Absent):
        return Absent(reason=calibration.reason), ()
    (verdict,) = calibration.verdicts(scores[None, :], prior)
    if verdict.silence == "unanswered":
        return Absent(reason=_SILENCES["unanswered"]), ()
    rates = calibration.rates if prior is None else prior
    probabilities = tuple(
        ClassProbability(
            name=name,
            probability=round(float(verdict.probabilities[row]), 4),
            low=round(float(verdict.low[row]), 4),
            high=round(float(verdict.high[row]), 4),
            rate=round(rates[row] / sum(rates), 4),
        )
        for row, name in enumerate(calibration.classes)
    )
    if verdict.silence is not None or verdict.best is None:
        return Absent(reason=_SILENCES[verdict.silence or "undecided"]), probabilities
    return calibration.classes[verdict.best], probabilities


def _named(calibration: Calibration | Absent) -> str | Absent:
    if isinstance(calibration, Absent):
        return calibration
    made = calibration.provenance
    files = ", ".join(file.name for file in made.files)
    ideas = sum(made.counts.values())
    return f"{calibration.name}, {made.made_at:%Y-%m-%d}: {ideas} ideas of {files or 'the graph'}, {made.split}"


def notices_of(verdict: Verdict) -> tuple[Notice, ...]:
    """What a reader must know before reading a verdict."""
    weak = Notice(kind="weak_signal", text=_WEAK)
    if verdict.maker == verdict.graph.maker:
        return (weak,)
    text = (
        f"The graph's ideas were taken apart by {verdict.graph.maker}, this one by {verdict.maker}: statements of two "
        "makers are alike less often, whatever they say."
    )
    return weak, Notice(kind="other_viewpoints", text=text)


def _day(date: dt.date | None) -> int:
    """Days since 1970-01-01. An idea counts as written on the cutoff, the last day on which it can have been."""
    return UNKNOWN if date is None else (date - dt.date(1970, 1, 1)).days
