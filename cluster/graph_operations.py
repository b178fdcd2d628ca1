"""Operations behind the `assayer graph` commands, without their output."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

from assayer.errors import ConfigurationError, InputError
from assayer.llm import Llm
from assayer.methods.grapheval.graph.growth import build_missing_graph_error, check_for_contradictions, check_same_plan
from assayer.methods.grapheval.graph.records import AdditionSummary, GraphPlan, LabelledIdea, PreparedIdea
from assayer.methods.grapheval.judge import GraphJudge
from assayer.methods.grapheval.plagiarism import (
    LIMITS_BY_EMBEDDER,
    MINILM_LIMITS,
    IdeaViewpoints,
    PlagiarismLimits,
    Resemblance,
    find_resemblance_in_graph,
    find_resemblances_within_batch,
)
from assayer.methods.grapheval.viewpoints.extraction import name_extractor, prepare_ideas
from assayer.methods.grapheval.viewpoints.splitter import SPLITTER, split_viewpoints
from assayer.models import Absent, EvaluationId, Idea, IdeaId
from assayer.ports import Embedder
from assayer.run.no_progress import NoProgress
from assayer.run.run import Run
from cluster.clock import SystemClock
from cluster.database import open_database
from cluster.graph_training import Holdout, NetworkEffort, ScorerKind, TrainingResult, train
from cluster.labelled_ideas import FieldNames, derive_outcome_classes, read_labelled_ideas
from cluster.language_model import open_models
from cluster.settings import Settings
from cluster.viewpoint_graphs import StoredGraph, open_stored_graph
from index.viewpoint_neighbours import FaissNeighbours
from orchestrator.store import Database
from workers.documents.idea_reader import read_ideas

ReportStage = Callable[[str, int, int], None]
"""Progress callback, called with a stage name, the number done and the total."""


class LabelledFiles(NamedTuple):
    files: tuple[Path, ...]
    label_field: str
    date_field: str

    def read(self) -> list[LabelledIdea]:
        return read_labelled_ideas(self.files, FieldNames(self.label_field, self.date_field))


class BatchCheck(NamedTuple):
    ideas: int
    found: dict[str, list[Resemblance]]
    """Resemblances within the batch itself and, if there is a graph, with the graph."""
    names: dict[IdeaId, str]
    rejected: list[str]


class _GraphResources(NamedTuple):
    settings: Settings
    database: Database
    embedder: Embedder
    llm: Llm

    def open_graph(self, name: str | None) -> StoredGraph:
        return open_stored_graph(self.settings, self.database, name or self.settings.grapheval.graph)

    async def prepare(
        self, ideas: Sequence[LabelledIdea], plan: GraphPlan, report_stage: ReportStage
    ) -> list[PreparedIdea]:
        run = Run(id=EvaluationId("graph"), cutoff=None, clock=SystemClock(), progress=NoProgress())
        run.budget.max_usd = self.settings.evaluation.max_usd
        max_viewpoints, characters = self.settings.grapheval.viewpoints, self.settings.grapheval.idea_chars

        def report_ideas(done: int, total: int) -> None:
            report_stage("Ideas", done, total)

        return await prepare_ideas(ideas, plan, self.embedder, self.llm, run, max_viewpoints, characters, report_ideas)


@asynccontextmanager
async def _open_resources(settings: Settings) -> AsyncIterator[_GraphResources]:
    async with open_models(settings) as models:
        yield _GraphResources(settings, models.database, models.embedder, models.llm)


async def build_graph(
    settings: Settings,
    name: str | None,
    sources: LabelledFiles,
    classes: Sequence[str],
    by_model: bool,
    relations: bool,
    replace: bool,
    report_stage: ReportStage,
) -> tuple[GraphPlan, AdditionSummary]:
    ideas = sources.read()
    outcomes = derive_outcome_classes(ideas, classes)
    async with _open_resources(settings) as resources:
        if (by_model or relations) and not resources.llm.models:
            raise ConfigurationError(
                "A language model was requested for viewpoints or relations, but none is configured.",
                "Set ASSAYER_LLM__MODEL, or use --viewpoints splitter.",
            )
        plan = _build_plan(resources, name, outcomes, bool(classes), by_model, relations)
        graph = resources.open_graph(name)
        stored_plan = None if replace else await graph.plan()
        if stored_plan is not None:
            check_same_plan(stored_plan, plan)
        await _check_early(graph, plan, ideas, stored_plan is not None)
        prepared_ideas = await resources.prepare(ideas, plan, report_stage)
        if replace:
            await graph.store.remove()
        await graph.store.create(plan)
        return plan, await graph.add(prepared_ideas)


def _build_plan(
    resources: _GraphResources,
    name: str | None,
    classes: tuple[str, ...],
    ordered: bool,
    by_model: bool,
    relations: bool,
) -> GraphPlan:
    try:
        return GraphPlan(
            name=name or resources.settings.grapheval.graph,
            embedder=resources.embedder.name,
            dimensions=resources.embedder.dimensions,
            maker=name_extractor(resources.llm) if by_model else SPLITTER,
            classes=classes,
            ordered=ordered,
            relations=relations,
        )
    except ValueError:
        raise InputError(
            f"{name!r} is not a valid graph name.",
            "Use lowercase letters, digits, - and _, starting with a letter or digit.",
        ) from None


async def add_ideas(
    settings: Settings, name: str | None, sources: LabelledFiles, report_stage: ReportStage
) -> AdditionSummary:
    ideas = sources.read()
    async with _open_resources(settings) as resources:
        graph = resources.open_graph(name)
        plan = await _load_extensible_plan(graph, resources, name)
        await _check_early(graph, plan, ideas, grows=True)
        prepared_ideas = await resources.prepare(ideas, plan, report_stage)
        return await graph.add(prepared_ideas)


async def _check_early(graph: StoredGraph, plan: GraphPlan, ideas: Sequence[LabelledIdea], grows: bool) -> None:
    """Raise errors about contradictory ideas early, before time is spent on splitting and embedding. The graph itself
    would raise them only later."""
    fingerprints = await graph.store.read_fingerprints([idea.id for idea in ideas]) if grows else {}
    check_for_contradictions(plan, fingerprints, ideas)


async def _load_extensible_plan(graph: StoredGraph, resources: _GraphResources, name: str | None) -> GraphPlan:
    """Return the plan of a graph that is to be extended. Raises ConfigurationError if its ideas were split neither by
    the splitter nor by the configured model, and the errors of `_load_comparable_plan`."""
    plan = await _load_comparable_plan(graph, resources, name)
    if plan.maker != SPLITTER and plan.maker != name_extractor(resources.llm):
        raise ConfigurationError(
            f"The ideas of graph {plan.name!r} were split by {plan.maker}, "
            f"but new ideas would be split by {name_extractor(resources.llm)}.",
            "Set ASSAYER_LLM__MODEL to that model, or build a new graph.",
        )
    return plan


async def _load_comparable_plan(graph: StoredGraph, resources: _GraphResources, name: str | None) -> GraphPlan:
    """Return a graph's plan. Raises an error if the graph does not exist or was built with a different embedder."""
    plan = await graph.plan()
    if plan is None:
        raise build_missing_graph_error(name or resources.settings.grapheval.graph)
    check_same_plan(plan, plan.model_copy(update={"embedder": resources.embedder.name}))
    return plan


async def train_graph(
    settings: Settings,
    name: str | None,
    scorer: ScorerKind,
    holdout: Holdout,
    effort: NetworkEffort,
    report_stage: ReportStage,
) -> TrainingResult:
    async with open_database(settings) as database:
        graph = open_stored_graph(settings, database, name or settings.grapheval.graph)
        contents = await graph.load()
        folder = await graph.find_folder()
        return train(contents, folder, scorer, holdout, effort, SystemClock().now(), report_stage)


async def check_batch(
    settings: Settings,
    name: str | None,
    paths: Sequence[Path],
    cosine: float | None,
    share: float | None,
    report_stage: ReportStage,
) -> BatchCheck:
    """Compare each idea with the rest of the batch and with the graph, if one exists or is requested by name."""
    ideas, rejected = await read_ideas(paths)
    async with _open_resources(settings) as resources:
        limits = _build_limits(resources.embedder.name, cosine, share)
        batch = await _embed_viewpoints(ideas, resources, report_stage)
        resemblances = {"Within the batch": find_resemblances_within_batch(batch, FaissNeighbours(), limits)}
        names = {IdeaId(f"{idea.source}"): idea.source for idea in ideas}
        graph = resources.open_graph(name)
        if name is not None or await graph.plan() is not None:
            plan = await _load_comparable_plan(graph, resources, name)
            contents = await graph.load()
            owners = [contents.ideas[row].id for row in contents.arrays.idea_of]
            texts = [viewpoint.text for viewpoint in contents.viewpoints]
            by_graph = (find_resemblance_in_graph(idea, graph.neighbours, owners, texts, limits) for idea in batch)
            resemblances[f"Against graph {plan.name}"] = [
                resemblance for resemblance in by_graph if resemblance is not None
            ]
            names |= {idea.id: idea.title for idea in contents.ideas}
    return BatchCheck(
        len(batch), resemblances, names, [f"{rejection.source}: {rejection.message}" for rejection in rejected]
    )


def _build_limits(embedder: str, cosine: float | None, share: float | None) -> PlagiarismLimits:
    """Return the requested thresholds or, by default, those fitted for the packaged embedding model. Raises InputError
    for other embedding models, because no thresholds were fitted for them."""
    known_limits = LIMITS_BY_EMBEDDER.get(embedder)
    if known_limits is None and cosine is None:
        raise InputError(
            f"No similarity threshold is known for the embedding model {embedder}.",
            f"Pass --cosine (the threshold for {', '.join(LIMITS_BY_EMBEDDER)} is {MINILM_LIMITS.cosine:g}).",
        )
    return PlagiarismLimits(
        cosine=MINILM_LIMITS.cosine if cosine is None else cosine,
        share=MINILM_LIMITS.share if share is None else share,
        paraphrase=known_limits.paraphrase if known_limits else None,
    )


async def _embed_viewpoints(
    ideas: Sequence[Idea], resources: _GraphResources, report_stage: ReportStage
) -> list[IdeaViewpoints]:
    """Split the ideas into viewpoints and embed them. This always uses the splitter, never a language model, because
    copies are detected by their wording."""
    options = resources.settings.grapheval
    batch = []
    for done, idea in enumerate(ideas, start=1):
        viewpoints = split_viewpoints(idea.text[: options.idea_chars], options.viewpoints)
        texts = [viewpoint.text for viewpoint in viewpoints]
        if texts:
            batch.append(IdeaViewpoints(IdeaId(idea.source), texts, await resources.embedder.embed(texts, "passage")))
        report_stage("Ideas", done, len(ideas))
    return batch


async def describe_graph(settings: Settings, name: str | None) -> dict[str, str]:
    async with open_database(settings) as database:
        graph = open_stored_graph(settings, database, name or settings.grapheval.graph)
        judge = await graph.judge()
        graph_used, calibration = judge.graph_used, judge.calibration
        order = ", from worst to best" if graph_used.ordered else ""
        return {
            "Graph": f"{graph_used.name}, version {graph_used.version}",
            "Ideas": f"{graph_used.ideas:,} ({graph_used.labelled:,} with an outcome)",
            "Viewpoints": f"{graph_used.viewpoints:,} by {graph_used.extractor}",
            "Edges": f"{len(judge.contents.arrays.sources) // 2:,}",
            "Outcomes": f"{', '.join(graph_used.outcomes)}{order}",
            "Embedding model": graph_used.embedding_model,
            "Scorer": judge.scorer_name,
            "Held out": _describe_held_out(judge),
            "Calibration": calibration.reason if isinstance(calibration, Absent) else calibration.name,
        }


def _describe_held_out(judge: GraphJudge) -> str:
    if judge.model is None:
        return "the scorer was not chosen by comparison; run `assayer graph train` to choose one."
    model, held_out = judge.model, judge.model.choice.held_out_accuracy
    learned_text = f"learned from ideas dated {model.earliest} to {model.latest}" if model.earliest else "undated ideas"
    return (
        f"AUROC {held_out.auroc:.3f} ({held_out.low:.3f} to {held_out.high:.3f}) on {model.choice.ideas:,} ideas, "
        f"{model.choice.split}; {learned_text}; "
        f"baselines not beaten: {', '.join(model.choice.baselines_not_beaten) or 'none'}"
    )
