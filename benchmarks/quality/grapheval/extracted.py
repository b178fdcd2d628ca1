"""Viewpoints and relations by a language model, on ideas with known decisions.

What a model extracts is kept, an idea a line, so that a second start pays for the rest alone. Edges and scorers are
those of the splitter's graph, so that the two differ in nothing but who took the ideas apart, and who joined them.
"""

import datetime as dt
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from assayer.llm import Llm
from assayer.methods.grapheval.graph.arrays import GraphArrays
from assayer.methods.grapheval.graph.growth import edges_by_relations
from assayer.methods.grapheval.scoring.baselines import IdeaLogistic
from assayer.methods.grapheval.scoring.label_propagation import LabelPropagation, StrongestEdgesScorer
from assayer.methods.grapheval.tasks import RELATIONS, VIEWPOINTS
from assayer.methods.grapheval.viewpoints.extraction import extract_viewpoints, relate_viewpoints
from assayer.methods.grapheval.viewpoints.splitter import SPLITTER, split_viewpoints
from assayer.models import EvaluationId
from assayer.run.run import Run
from benchmarks.quality.grapheval.data import CLASSES, Labelled
from benchmarks.quality.grapheval.exact_edges import exact_edges
from benchmarks.quality.grapheval.graphs import MOST_VIEWPOINTS, Vectoriser
from benchmarks.quality.grapheval.reporting import Setup, row, shown
from benchmarks.quality.grapheval.splits import compare, measure
from benchmarks.quality.kept import Kept, Outcome, do_the_rest, reasons, spent_on
from benchmarks.quality.points import Silent
from cluster.clock import SystemClock

__all__ = ["Extracted", "ask_viewpoints", "extraction_figures", "kept_viewpoints", "sample"]


class Extracted(Outcome):
    """One idea, taken apart."""

    viewpoints: tuple[str, ...] = ()
    maker: str = ""
    """The task with its version and model; the splitter where the model gave nothing usable."""
    refused: int = 0
    """Viewpoints that did not stand in the idea."""
    hanging: int = 0
    """Viewpoints that begin with a word whose referent could not be supplied."""
    relations: tuple[tuple[int, int], ...] = ()


def kept_viewpoints(path: Path, model: str) -> Kept[Extracted]:
    """Raises ConfigurationError where the file was made by another model or other prompts."""
    made = {"viewpoints": VIEWPOINTS.version, "relations": RELATIONS.version, "model": model, "most": MOST_VIEWPOINTS}
    return Kept(path, Extracted, made)


async def ask_viewpoints(llm: Llm, papers: Sequence[Labelled], kept: Kept[Extracted]) -> None:
    """Asks about the ideas that are not kept yet, two calls each."""

    async def one(paper: Labelled, seed: int) -> Extracted:
        run = Run(EvaluationId(f"viewpoints_{paper.id}"), None, SystemClock(), Silent())
        found = await extract_viewpoints(paper.text, llm, run, MOST_VIEWPOINTS)
        pairs = await relate_viewpoints(paper.text, found.viewpoints, llm, run) if found.viewpoints else []
        return Extracted(
            item=paper.id,
            seed=seed,
            viewpoints=tuple(viewpoint.text for viewpoint in found.viewpoints),
            maker=found.maker,
            refused=len(found.refused),
            hanging=sum(not viewpoint.self_contained for viewpoint in found.viewpoints),
            relations=tuple(pairs),
            spent=spent_on(run.journal.calls),
        )

    def failed(name: str, seed: int, why: str) -> Extracted:
        return Extracted(item=name, seed=seed, failure=why)

    await do_the_rest(((paper, paper.id, 0) for paper in papers), kept, one, failed)


def split(papers: Sequence[Labelled]) -> list[Extracted]:
    """What the splitter makes of them."""
    found = [split_viewpoints(paper.text, MOST_VIEWPOINTS) for paper in papers]
    return [
        Extracted(
            item=paper.id,
            seed=0,
            viewpoints=tuple(viewpoint.text for viewpoint in some),
            maker=SPLITTER,
            hanging=sum(not viewpoint.self_contained for viewpoint in some),
        )
        for paper, some in zip(papers, found, strict=True)
    ]


def extraction_figures(
    papers: Sequence[Labelled], kept: Kept[Extracted], vectorise: Vectoriser, setup: Setup, folds: int, repeats: int
) -> Iterator[str]:
    """Two tables: what was extracted, and what scorers make of it. An idea that the model left without a viewpoint is
    taken apart by the splitter, and counted."""
    by_splitter = split(papers)
    asked = [kept.of(paper.id, 0) for paper in papers]
    filled = [one if one.viewpoints else other for one, other in zip(asked, by_splitter, strict=True)]
    yield row(
        "viewpoints by", "ideas", "by the splitter after all", "viewpoints an idea", "refused", "hanging", "pairs"
    )
    yield row(*["---"] * 7)
    for name, some in (("splitter", by_splitter), ("model", filled)):
        yield _counts(name, some)
    yield from (f"\n{line}" for line in reasons(asked))
    spent = [one.spent for one in asked if one.spent is not None]
    tokens = [one.prompt_tokens + one.completion_tokens for one in spent]
    yield f"\n{sum(one.calls for one in spent)} calls, {np.mean(tokens) if tokens else 0:,.0f} tokens an idea.\n"

    yield row("viewpoints", "edges inside an idea", "scorer", "AUROC", "above the splitter's")
    yield row(*["---"] * 5)
    graphs = {
        ("splitter", "cosine"): _graph(papers, by_splitter, vectorise, False),
        ("model", "cosine"): _graph(papers, filled, vectorise, False),
        ("model", "the model's relations"): _graph(papers, filled, vectorise, True),
    }
    for scorer in (LabelPropagation(), StrongestEdgesScorer(LabelPropagation(), 3), IdeaLogistic()):
        found = {
            which: measure(scorer, graph, folds, repeats, False, setup.provenance) for which, graph in graphs.items()
        }
        base = found["splitter", "cosine"]
        for (viewpoints, edges), one in found.items():
            gap = compare(one, base, setup.rounds, setup.seed)
            auroc = one.estimates(setup.rounds, setup.seed)["AUROC"]
            beside = "–" if one is base else f"{gap.value:+.3f} [{gap.low:+.3f}, {gap.high:+.3f}]"
            yield row(viewpoints, edges, one.name, shown(auroc), beside)


def _counts(name: str, some: Sequence[Extracted]) -> str:
    given = sum(len(one.viewpoints) for one in some)
    return row(
        name,
        str(len(some)),
        str(sum(one.maker == SPLITTER for one in some)),
        f"{given / len(some):.1f}",
        str(sum(one.refused for one in some)),
        f"{sum(one.hanging for one in some) / given:.1%}",
        f"{sum(len(one.relations) for one in some) / len(some):.1f}",
    )


def _graph(
    papers: Sequence[Labelled], extracted: Sequence[Extracted], vectorise: Vectoriser, related: bool
) -> GraphArrays:
    vectors = vectorise([text for one in extracted for text in one.viewpoints])
    sizes = [len(one.viewpoints) for one in extracted]
    idea_of = np.repeat(np.arange(len(papers)), sizes).astype(np.int32)
    edges = exact_edges(vectors, idea_of, known=_pairs(extracted, vectors, sizes) if related else None)
    return GraphArrays(
        vectors=vectors,
        idea_of=idea_of,
        ideas=tuple(paper.id for paper in papers),
        labels=np.array([paper.label for paper in papers], np.int16),
        dates=np.array([(paper.day - dt.date(1970, 1, 1)).days for paper in papers], np.int32),
        classes=CLASSES,
        **edges._asdict(),
    )


def _pairs(
    extracted: Sequence[Extracted], vectors: NDArray[np.float32], sizes: Sequence[int]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]:
    """Ends and cosines of all related viewpoints, by their rows in the graph."""
    starts = np.cumsum([0, *sizes])
    found = [
        edges_by_relations(vectors[start : start + size], one.relations)
        for one, start, size in zip(extracted, starts, sizes, strict=False)
    ]
    return (
        np.concatenate([sources + start for (sources, _, _), start in zip(found, starts, strict=False)]),
        np.concatenate([targets + start for (_, targets, _), start in zip(found, starts, strict=False)]),
        np.concatenate([weights.astype(np.float32) for _, _, weights in found]),
    )


def sample(papers: Sequence[Labelled], most: int | None, seed: int) -> list[Labelled]:
    """As many of each decision as their share, drawn by lot, in the order of the file."""
    if most is None or most >= len(papers):
        return list(papers)
    order = np.random.default_rng(seed).permutation(len(papers))
    share = most / len(papers)
    chosen: list[int] = []
    for label in sorted({paper.label for paper in papers}):
        rows = [int(at) for at in order if papers[at].label == label]
        chosen += rows[: max(1, round(share * len(rows)))]
    return [papers[at] for at in sorted(chosen)]
