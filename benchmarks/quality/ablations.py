"""What parts of a method are worth: the same items with one part left out by a setting, beside the whole.

Of GraphEval on decisions forward in time, without a language model. Of InnoEval on its points and of ScholarEval on
ScholarIdeas' rubrics where an endpoint is given, and of SciCompanion on reviewers' ratings. What walks along citations
find with 0 to 4 hops: `citations`.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assayer.methods.grapheval.graph.subgraph import LocalScorer
from assayer.methods.grapheval.ports import Scorer
from assayer.methods.grapheval.scoring.baselines import IdeaLogistic
from assayer.methods.grapheval.scoring.label_propagation import LabelPropagation, StrongestEdgesScorer
from assayer.methods.grapheval.scoring.metrics import Estimate, auroc, bootstrap
from assayer.models import IdeaId
from benchmarks.quality import runs
from benchmarks.quality.given import Given
from benchmarks.quality.grapheval.data import CLASSES, DATA, decisions_by_year, inno_eval
from benchmarks.quality.grapheval.graphs import Vectoriser, embedded
from benchmarks.quality.grapheval.reporting import row, shown
from benchmarks.quality.grapheval.years import LAST_LEARNED
from benchmarks.quality.judged_sets.coverage import covered_rubrics
from benchmarks.quality.literature_parts import read_report
from benchmarks.quality.pair_tables import right
from benchmarks.quality.points import scores_of
from benchmarks.quality.report_text import judgement_text
from benchmarks.quality.rubrics import read_rubrics
from benchmarks.quality.venue_scores.submissions import rated_submissions
from benchmarks.quality.venue_scores.with_model import ratings_by_model
from benchmarks.throughput.ideas import scholar_ideas
from cluster.settings import Settings

__all__ = ["ABLATIONS", "Ablation", "ablations", "compared_with_whole", "graph_variants", "with_changes"]

WHOLE = "the whole"
_DEFAULT = "3 strongest edges, 1 hop"


class Ablation(NamedTuple):
    method: Literal["innoeval", "scholareval", "scicompanion"]
    name: str
    changes: Mapping[str, object]
    """Of the method's options, by dotted name; empty for the whole."""


ABLATIONS = (
    Ablation("innoeval", WHOLE, {}),
    Ablation("innoeval", "without the web", {"web_queries": 0}),
    Ablation("innoeval", "without code", {"code_queries": 0}),
    Ablation("innoeval", "without grounding", {"grounding": False}),
    Ablation("innoeval", "without refined queries", {"rounds": 0}),
    Ablation("innoeval", "one reviewer without persona", {"board.board": 0}),
    Ablation("scholareval", WHOLE, {}),
    Ablation("scholareval", "without paper augmentation (PA)", {"neighbours": 0, "references": 0}),
    Ablation("scholareval", "without extracting methods and results (MRE)", {"without": ("reading",)}),
    Ablation("scholareval", "without comparing paper by paper (PC)", {"without": ("comparison",)}),
    Ablation("scholareval", "without a first look at titles", {"looked_at": 0, "compared": 100}),
    Ablation("scicompanion", WHOLE, {}),
    Ablation("scicompanion", "without the graph", {"without": ("graph",)}),
    Ablation("scicompanion", "without completing the graph", {"without": ("completion",)}),
    Ablation("scicompanion", "without the notebook", {"without": ("notebook",)}),
    *(Ablation("scicompanion", f"hops: {hops}", {"hops": hops}) for hops in (0, 1, 3, 4)),
    *(Ablation("scicompanion", f"steps: {steps}", {"steps": steps}) for steps in (1, 2, 4)),
)
_RATED_YEAR = 2017
_RANGE = 9
"""Between the ends of the scale from 1 to 10."""


def ablations(given: Given) -> Iterator[str]:
    if given.options.method == "grapheval":
        yield from _of_graph(given)
        return
    if given.asked.judge is None:
        yield "All but GraphEval's are judged by a language model: give --endpoint, or --simulate to see the way."
        return
    yield from given.warning()
    chosen = [one for one in ABLATIONS if one.method == given.options.method]
    measure = _MEASURES[given.options.method]
    told = {one.name: measure(given, with_changes(given.settings, one)) for one in chosen}
    simulated = given.asked.judge != "endpoint"
    yield from compared_with_whole(told, WHOLE, given.rounds, simulated)


def with_changes(settings: Settings, ablation: Ablation) -> Settings:
    """Raises ValidationError for an option that does not exist or a value that it does not take."""
    options = getattr(settings, ablation.method)
    content = options.model_dump()
    for name, value in ablation.changes.items():
        *outer, last = name.split(".")
        part = content
        for step in outer:
            part = part[step]
        part[last] = value
    return settings.model_copy(update={ablation.method: type(options).model_validate(content)})


def compared_with_whole(
    told: Mapping[str, NDArray[np.float64]], whole: str, rounds: int, simulated: bool
) -> Iterator[str]:
    """`told` holds one value an item, higher is better; what is not a number counts 0."""
    yield row("", "items", "unanswered", "mean", f"above {whole}")
    yield row(*["---"] * 5)
    against = np.nan_to_num(told[whole])[:, None]
    for name, values in told.items():
        mean, gap = _mean(values, None, rounds), _mean(values, against, rounds)
        title = f"SIMULATED: {name}" if simulated else name
        difference = "–" if name == whole else f"{gap.value:+.3f} [{gap.low:+.3f}, {gap.high:+.3f}]"
        yield row(title, str(len(values)), str(int(np.isnan(values).sum())), shown(mean), difference)


def _mean(values: NDArray[np.float64], against: NDArray[np.float64] | None, rounds: int) -> Estimate:
    columns = np.nan_to_num(values)[:, None]
    others = [] if against is None else [against]
    return bootstrap(
        lambda _, drawn: float(drawn.mean()), np.zeros(len(values), np.int16), [columns], rounds, 0, others
    )


def _points(given: Given, settings: Settings) -> NDArray[np.float64]:
    """Of each paper that was asked about, with what share of the papers of the other outcome it is rightly ordered."""
    data = inno_eval()
    outcomes = asyncio.run(runs.points(given.asked, settings, data, everything=False))
    (scores, *_) = scores_of(data, outcomes)
    asked = {IdeaId(one.item) for one in outcomes}
    rows = np.array([n for n, one in enumerate(data.points) if one.id in asked])
    labels = np.array([int(one.label > 0) for one in data.points])
    told = np.nan_to_num(scores, nan=-1.0)
    found = []
    for n in rows:
        others = rows[labels[rows] != labels[n]]
        sign = 1 if labels[n] else -1
        is_silent = np.isnan(scores[n]) or not len(others)
        found.append(np.nan if is_silent else float(right(sign * (told[n] - told[others])).mean()))
    return np.array(found)


def _coverage(given: Given, settings: Settings) -> NDArray[np.float64]:
    """Of each rubric whether it is said; NaN without a judgement."""
    ideas = scholar_ideas(DATA)[: given.asked.first]
    names = {one.source for one in ideas}
    rubrics = [one for one in read_rubrics(DATA / "scholarideas") if one.idea in names]
    _, folder = asyncio.run(runs.reports(given.asked, settings, "scholareval", ideas))
    texts = {
        path.stem: judgement_text(read_report(path)) for path in sorted(folder.glob("*.json")) if path.stem in names
    }
    outcomes = asyncio.run(runs.coverage(given.asked, settings, texts, rubrics, folder.name))
    scores = {(one.item, number): score for one in outcomes for number, score in one.scores.items()}
    return covered_rubrics(rubrics, scores)


def _nearness(given: Given, settings: Settings) -> NDArray[np.float64]:
    """Of each rated submission how near the method's overall score comes to the reviewers' mean: 1 is the same, 0 the
    other end of the scale; NaN without a score."""
    asked = rated_submissions(DATA)[_RATED_YEAR][: given.asked.first]
    scores, _ = ratings_by_model(given._replace(settings=settings), asked)
    return np.array([1 - abs(scores[one.id] - one.rating) / _RANGE if one.id in scores else np.nan for one in asked])


_MEASURES: Mapping[str, Callable[[Given, Settings], NDArray[np.float64]]] = {
    "innoeval": _points,
    "scholareval": _coverage,
    "scicompanion": _nearness,
}


def graph_variants() -> Sequence[tuple[str, Scorer]]:
    """The first is what the program does."""
    paper = LabelPropagation()
    return (
        (_DEFAULT, LocalScorer(StrongestEdgesScorer(paper, 3), 1)),
        ("1 strongest edge", LocalScorer(StrongestEdgesScorer(paper, 1), 1)),
        ("all 10 edges", LocalScorer(paper, 1)),
        ("2 hops", LocalScorer(StrongestEdgesScorer(paper, 3), 2)),
        ("1 round", LocalScorer(StrongestEdgesScorer(LabelPropagation(1), 3), 1)),
        ("no graph: mean viewpoint + logistic regression", IdeaLogistic()),
    )


def _of_graph(given: Given) -> Iterator[str]:
    scores, truth = _graph_scores(given.vectorise, given.asked.first)
    yield f"Learned from ICLR to {LAST_LEARNED}, asked about {len(truth)} later submissions one at a time. AUROC:\n"
    yield row("", "AUROC", f"above {_DEFAULT}")
    yield row("---", "---", "---")
    for name, said in scores.items():
        gap = bootstrap(auroc, truth, [said], given.rounds, 0, against=[scores[_DEFAULT]])
        difference = "–" if name == _DEFAULT else f"{gap.value:+.3f} [{gap.low:+.3f}, {gap.high:+.3f}]"
        yield row(name, shown(bootstrap(auroc, truth, [said], given.rounds, 0)), difference)


def _graph_scores(vectorise: Vectoriser, first: int | None) -> tuple[dict[str, NDArray[np.float64]], NDArray[np.int16]]:
    by_year = decisions_by_year()
    known = [one for year, papers in by_year.items() if year <= LAST_LEARNED for one in papers]
    asked = [one for year, papers in by_year.items() if year > LAST_LEARNED for one in papers[:first]]
    is_asked = np.arange(len(known) + len(asked)) >= len(known)
    graph = embedded([*known, *asked], vectorise, CLASSES, is_asked).graph
    rows = np.flatnonzero(is_asked).astype(np.int32)
    hidden = graph.with_unknown(rows)
    return {name: scorer.score(hidden, rows) for name, scorer in graph_variants()}, graph.labels[rows]
