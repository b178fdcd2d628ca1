"""Measures GraphEval on real decisions: `python -m benchmarks.quality.grapheval PART`."""

import argparse
import asyncio
import datetime as dt
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from assayer.methods.grapheval.scoring.baselines import MAJORITY
from assayer.methods.grapheval.scoring.calibration import TrainingProvenance
from assayer.methods.grapheval.viewpoints.splitter import SPLITTER
from benchmarks.index.machine import machine
from benchmarks.quality.figures import table
from benchmarks.quality.grapheval.contestants import contestants
from benchmarks.quality.grapheval.data import CLASSES, DATA, Labelled, data_file, decisions_2017, inno_eval
from benchmarks.quality.grapheval.extracted import (
    Extracted,
    ask_viewpoints,
    extraction_figures,
    kept_viewpoints,
    sample,
)
from benchmarks.quality.grapheval.graphs import Vectoriser, embedded
from benchmarks.quality.grapheval.innoeval import pairs, points
from benchmarks.quality.grapheval.plagiarism import measure_plagiarism
from benchmarks.quality.grapheval.reporting import Setup, row, shown
from benchmarks.quality.grapheval.rewording import measure_rewording
from benchmarks.quality.grapheval.splits import Measured, compare, measure
from benchmarks.quality.grapheval.years import years_figures
from benchmarks.quality.judges import JUDGES, settings_for
from benchmarks.quality.kept import Kept
from benchmarks.quality.spending import KNOWN, agreed, expected
from cluster.ranker import open_ranker, require_llm
from cluster.settings import Settings
from workers.embedding.embedder import SentenceTransformerEmbedder
from workers.embedding.settings import EmbedderSettings

_HONEST = 400
"""Of `reworded`: ideas that repeat nothing, and as many other papers in the graph."""
_SOURCE = DATA / "iclr2017" / "submissions.jsonl.gz"


def main() -> None:
    arguments = _arguments()
    print(f"{machine()}\n{dt.datetime.now(dt.UTC):%Y-%m-%d %H:%M} UTC, seed {arguments.seed}\n")
    embedder = SentenceTransformerEmbedder(EmbedderSettings())
    vectorise = Vectoriser(embedder, arguments.cache)
    setup = Setup(_provenance(embedder.name, arguments.seed), arguments.network, arguments.rounds, arguments.seed)
    parts = {"decisions": _decisions, "years": _years, "innoeval": _innoeval, "plagiarism": _plagiarism}
    parts |= {"reworded": _reworded, "extracted": _extracted}
    for line in parts[arguments.part](arguments, vectorise, setup):
        print(line, flush=True)
    embedder.close()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality.grapheval", description=__doc__)
    parser.add_argument("part", choices=("decisions", "years", "innoeval", "plagiarism", "reworded", "extracted"))
    parser.add_argument(
        "--cache", type=Path, default=Path("build/grapheval-vectors"), help="keeps vectors between runs"
    )
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--network-repeats", type=int, default=1, help="training takes minutes a repeat")
    parser.add_argument("--rounds", type=int, default=1000, help="of the bootstrap")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--only", type=re.compile, default=re.compile(""), help="of `decisions`: scorers whose name holds this"
    )
    parser.add_argument("--network", action=argparse.BooleanOptionalAction, default=True)
    model = parser.add_argument_group("of `extracted`: viewpoints and relations by a language model")
    model.add_argument("--judge", choices=JUDGES, default="endpoint", help="who answers; the settings' endpoint")
    model.add_argument("--ideas", type=int, help="drawn by lot; all of them by default")
    model.add_argument("--out", type=Path, default=Path("build/grapheval-extracted"), help="keeps what was extracted")
    model.add_argument("--limit-usd", type=float, default=5.0, help="a run that will cost more asks first")
    model.add_argument("--yes", action="store_true", help="start whatever it costs")
    arguments = parser.parse_args()
    if not _SOURCE.is_file():
        parser.exit(2, f"{_SOURCE} is not there: the benchmark needs the data folder beside the clone.\n")
    return arguments


def _provenance(embedding: str, seed: int) -> TrainingProvenance:
    labels = [one.label for one in decisions_2017()]
    return TrainingProvenance(
        made_at=dt.datetime.now(dt.UTC),
        files=(data_file(_SOURCE),),
        embedding=embedding,
        viewpoints_by=SPLITTER,
        counts={name: labels.count(label) for label, name in enumerate(CLASSES)},
        seed=seed,
        split="inside each training part",
    )


def _decisions(arguments: argparse.Namespace, vectorise: Vectoriser, setup: Setup) -> Iterator[str]:
    data = embedded(decisions_2017(), vectorise)
    graph = data.graph
    yield f"{len(graph.ideas)} ideas, {len(graph.vectors)} viewpoints, {len(graph.sources)} directed edges"
    yield f"{arguments.repeats} × {arguments.folds} stratified folds; the networks {arguments.network_repeats} ×\n"
    yield row("scorer", "accuracy", "macro-F1", "AUROC", "ECE", "ECE calibrated", "abstains", "right where not", "ms")
    yield row(*["---"] * 9)
    measured: list[tuple[bool, Measured]] = []
    asked = contestants(data, setup.provenance, setup.network)
    for one in (one for one in asked if arguments.only.search(one.scorer.name)):
        repeats = arguments.network_repeats if one.trained else arguments.repeats
        found = measure(one.scorer, graph, arguments.folds, repeats, one.calibrated, setup.provenance)
        measured.append((one.baseline, found))
        yield _line(found, setup)
    yield "\nAUROC above each baseline, paired on the same ideas:\n"
    rivals = [found for baseline, found in measured if baseline and found.name != MAJORITY]
    yield row("scorer", *(found.name for found in rivals))
    yield row(*["---"] * (len(rivals) + 1))
    for baseline, found in measured:
        if not baseline:
            gaps = (compare(found, rival, setup.rounds, setup.seed) for rival in rivals)
            yield row(found.name, *(f"{gap.value:+.3f} [{gap.low:+.3f}, {gap.high:+.3f}]" for gap in gaps))


def _years(arguments: argparse.Namespace, vectorise: Vectoriser, setup: Setup) -> Iterator[str]:
    source = DATA / "iclr_years" / "submissions.jsonl.gz"
    provenance = setup.provenance.model_copy(update={"files": (data_file(source),)})
    yield from table(list(years_figures(vectorise, provenance, setup.rounds)))


def _line(found: Measured, setup: Setup) -> str:
    estimates = found.estimates(setup.rounds, setup.seed)
    calibrated = estimates.get("ECE calibrated")
    cells = [found.name, *(shown(estimates[name]) for name in ("accuracy", "macro-F1", "AUROC", "ECE"))]
    cells += (
        [shown(calibrated), f"{found.abstained():.2f}", f"{found.right_where_named():.3f}"] if calibrated else ["–"] * 3
    )
    return row(*cells, f"{found.seconds * 1000:.1f}")


def _innoeval(arguments: argparse.Namespace, vectorise: Vectoriser, setup: Setup) -> Iterator[str]:
    data = inno_eval()
    grouped = {one.id: one.label for one in data.grouped}
    shared = [one for one in data.points if one.id in grouped]
    four = sum(one.label != grouped[one.id] for one in shared)
    two = sum((one.label > 0) != (grouped[one.id] > 0) for one in shared)
    yield f"Labels are doubtful: of {len(shared)} papers with two labels {four} contradict, {two} on acceptance.\n"
    yield row("scorer, learned from ICLR 2017", "labels", "accuracy", "macro-F1", "AUROC")
    yield row(*["---"] * 5)
    for point in points(data, vectorise, setup):
        yield row(point.scorer, point.labels, shown(point.accuracy), shown(point.macro_f1), shown(point.auroc))
    yield ""
    yield row("scorer, learned from the other groups", "pairs", "right")
    yield row(*["---"] * 3)
    for pair in pairs(data, vectorise, setup):
        yield row(pair.scorer, pair.difficulty, shown(pair.right))


def _plagiarism(arguments: argparse.Namespace, vectorise: Vectoriser, setup: Setup) -> Iterator[str]:
    papers = decisions_2017()
    yield row("seed", "limits", "kind", "precision", "recall", "F1", "source found", "false alarms", "ms an idea")
    yield row(*["---"] * 9)
    for seed in range(setup.seed, setup.seed + arguments.repeats):
        outcome = measure_plagiarism(papers, vectorise, seed)
        limits = f"cosine {outcome.limits.cosine:.2f}, share {outcome.limits.share:.2f}"
        rest = [f"{outcome.source_found:.3f}", f"{outcome.false_alarms:.4f}", f"{outcome.milliseconds:.2f}"]
        for kind, one in outcome.by_kind.items():
            values = ["–" if np.isnan(value) else f"{value:.3f}" for value in one]
            yield row(str(seed), limits, kind, *values, *rest)


def _extracted(arguments: argparse.Namespace, vectorise: Vectoriser, setup: Setup) -> Iterator[str]:
    papers = sample(decisions_2017(), arguments.ideas, setup.seed)
    with settings_for(arguments.judge, arguments.out, 0.0, {}) as settings:
        require_llm(settings)
        kept = kept_viewpoints(arguments.out / f"{arguments.judge}.jsonl", settings.llm.model if settings.llm else "")
        rest = sum((paper.id, 0) not in kept for paper in papers)
        cost = expected(KNOWN["viewpoints"], rest, kept.outcomes, settings.llm)
        yield f"{cost}\n"
        if not agreed(cost, arguments.limit_usd, arguments.yes or arguments.judge != "endpoint"):
            return
        asyncio.run(_asked(settings, papers, kept))
    if arguments.judge != "endpoint":
        yield f"Answers by `{arguments.judge}`: they show that the way is sound, and nothing about any model.\n"
    yield from extraction_figures(papers, kept, vectorise, setup, arguments.folds, arguments.repeats)


async def _asked(settings: Settings, papers: Sequence[Labelled], kept: Kept[Extracted]) -> None:
    async with open_ranker(settings) as ranker:
        await ask_viewpoints(ranker.llm, papers, kept)


def _reworded(arguments: argparse.Namespace, vectorise: Vectoriser, setup: Setup) -> Iterator[str]:
    yield row("three-word sequences in common", "ideas", "found as copies", "found with paraphrases", "source named")
    yield row(*["---"] * 5)
    for one in measure_rewording(vectorise, _HONEST, setup.rounds, setup.seed):
        named = "–" if np.isnan(one.source_named) else f"{one.source_named:.3f}"
        yield row(one.name, str(one.ideas), shown(one.copies), shown(one.all_kinds), named)


if __name__ == "__main__":
    main()
