"""Sets of pairs and groups: which of two texts is better, and which of four is best."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from assayer.models import IdeaId
from benchmarks.quality.figures import Figure, Kind, build_figure, estimate_mean
from benchmarks.quality.grapheval.data import CATEGORIES, InnoEval
from benchmarks.quality.grapheval.graphs import Vectoriser, embed_papers
from benchmarks.quality.groups import CHANCE, GroupOutcome, Measures, measure_group_scorers, read_groups
from benchmarks.quality.judged_sets.judged import JudgedItem, JudgedSet
from benchmarks.quality.judged_sets.simple import LONGER, WORDS
from benchmarks.quality.pair_tables import measure_pair_scorers, score_gaps
from benchmarks.quality.pairs import PairOutcome
from benchmarks.records import read_records

_SIMPLE: Mapping[str, tuple[str, ...]] = {
    LONGER: (LONGER, "the longer text", "the longer text first"),
    WORDS: (WORDS, "TF-IDF + logistic regression"),
}
"""Names of the two simplest scorers in pairs, groups and altered answers."""
_OUR_SCORERS = ("label propagation", "InnoEval's points", "the judge")


def build_ordered_figures(
    data: InnoEval,
    pairs: Sequence[PairOutcome],
    groups: Sequence[GroupOutcome],
    scores: Mapping[IdeaId, float],
    vectorise: Vectoriser,
    rounds: int,
) -> Iterator[Figure]:
    """Yield figures of InnoEval's pairs and groups; the judge's `pairs` were asked in both orders to cancel out
    position."""
    embedded_papers = embed_papers(data.grouped, vectorise, CATEGORIES)
    by_pair = dict(measure_pair_scorers(data, pairs, scores, embedded_papers))
    for difficulty in data.pairs:
        values_by_scorer = {
            name: values_by_difficulty[difficulty]
            for name, values_by_difficulty in by_pair.items()
            if len(values_by_difficulty.get(difficulty, ()))
        }
        part_of_set = ("innoeval", f"pairs, {difficulty}")
        for name, values in values_by_scorer.items():
            yield build_pair_figure(part_of_set, (name, _get_kind(name)), values, rounds)
        yield from build_margins(part_of_set, "better one named", values_by_scorer, rounds)
    judged_pairs = [pair for pair in pairs if pair.better]
    if judged_pairs:
        first = np.array(
            [np.mean([verdict == "first" for verdict in (pair.better, pair.reversed)]) for pair in judged_pairs]
        )
        part_of_set = ("innoeval", "pairs, place swapped")
        yield build_figure(
            part_of_set,
            "paper shown first named",
            ("the judge", "ours"),
            estimate_mean(first, rounds),
            len(judged_pairs),
            0,
            0.5,
        )
    by_group = dict(measure_group_scorers(data, groups, scores, embedded_papers, read_groups()))
    for name, measures in by_group.items():
        yield from build_group_figures((name, _get_kind(name)), measures, rounds)
    in_order = {name: np.array([measure.in_order for measure in measures]) for name, measures in by_group.items()}
    yield from build_margins(("innoeval", "groups of four"), "in order", in_order, rounds)


def build_margins(
    part_of_set: tuple[str, str],
    measure: str,
    values_by_name: Mapping[str, NDArray[np.float64]],
    rounds: int,
    simple_values: Mapping[str, NDArray[np.float64]] | None = None,
) -> Iterator[Figure]:
    """Yield each scorer's margin over length and words on the same items, if it was asked about all of them.
    `simple_values` contains length and words if `values_by_name` does not."""
    all_values = {**(simple_values or {}), **values_by_name}
    for simple, names in _SIMPLE.items():
        base = next((all_values[name] for name in names if name in all_values), None)
        for name, values in values_by_name.items():
            if base is not None and name not in names and len(values) == len(base):
                gap = estimate_mean(values - base, rounds)
                yield build_figure(part_of_set, f"{measure} above {simple}", (name, _get_kind(name)), gap, len(values))


def build_group_figures(scorer: tuple[str, Kind], measures: Sequence[Measures], rounds: int) -> Iterator[Figure]:
    titles = {"best": "best paper first", "in_order": "in order", "exact": "wholly in order"}
    for measure, chance in CHANCE._asdict().items():
        values = np.array([getattr(group_measures, measure) for group_measures in measures])
        part_of_set, estimate = ("innoeval", "groups of four"), estimate_mean(values, rounds)
        yield build_figure(part_of_set, titles[measure], scorer, estimate, len(values), 0, chance)


def build_pair_figure(
    part_of_set: tuple[str, str], scorer: tuple[str, Kind], values: NDArray[np.float64], rounds: int
) -> Figure:
    """Make a figure of named texts: 1 for the better text, 0.5 for a tie, 0 for the other text or no answer."""
    return build_figure(part_of_set, "better one named", scorer, estimate_mean(values, rounds), len(values), 0, 0.5)


def read_altered_answers(folder: Path, first: int | None = None) -> JudgedSet:
    """Read ReFACT: each original answer is followed by a copy with one statement altered. At most `first` originals are
    included, chosen by the checksum (CRC-32) of their ids."""
    records = list(read_records(folder / "flaws" / "refact.jsonl.gz"))
    if first is not None:
        records = sorted(records, key=lambda record: crc32(str(record["id"]).encode()))[:first]
    items = [
        JudgedItem(
            f"{record['id']}-{name}-{crc32(record[name].encode()):08x}",
            record[name],
            truth,
            record["question"],
            f"The question: {record['question']}",
        )
        for record in records
        for name, truth in (("correct", 1.0), ("altered", 0.0))
    ]
    question = "Is everything that this answer says correct?"
    caveat = "The unaltered text is a popular answer, not a proven one."
    return JudgedSet(
        "flaws", "altered answers", question, items, has_decisions=True, has_proposals=False, caveat=caveat
    )


def build_altered_figures(
    judged_set: JudgedSet,
    values: Iterator[tuple[str, NDArray[np.float64]]],
    kind: Kind,
    rounds: int,
    simple_values: Sequence[tuple[str, NDArray[np.float64]]] = (),
) -> Iterator[Figure]:
    """Yield figures; `values` (2n,) are in the order of `read_altered_answers`, and `simple_values` has those of
    simpler scorers."""
    scores_by_name = {name: score_gaps(set_values[0::2] - set_values[1::2]) for name, set_values in values}
    simple = {name: score_gaps(set_values[0::2] - set_values[1::2]) for name, set_values in simple_values}
    for name, scores in scores_by_name.items():
        yield build_pair_figure(judged_set.set_and_part, (name, kind), scores, rounds)
    yield from build_margins(judged_set.set_and_part, "better one named", scores_by_name, rounds, simple)


def _get_kind(name: str) -> Kind:
    return "ours" if name.startswith(_OUR_SCORERS) else "simple"
