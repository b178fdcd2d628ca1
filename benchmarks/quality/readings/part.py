"""How many of the papers worth reading stand among the first, by orders that no language model made."""

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from assayer.methods.grapheval.scoring.metrics import Estimate, auroc, bootstrap
from benchmarks.quality.given import Given
from benchmarks.quality.grapheval.data import DATA, read_records
from benchmarks.quality.grapheval.reporting import row, shown
from benchmarks.quality.readings.labels import for_contribution, for_methods
from benchmarks.quality.readings.orders import (
    CLUES,
    DESCRIPTION,
    KNOWN,
    PARTS,
    WORDS,
    Clue,
    Floats,
    Scored,
    Similarity,
    Weights,
    clues_of,
    cut,
    mixed,
    ranked_by_places,
    tuned,
    two_columns,
)

__all__ = ["orders_table", "readings"]

_OPENED = 24
"""As ScholarEval opens."""
_UNREAD = (DESCRIPTION, PARTS, WORDS)
Order = Callable[[Scored], Floats]


def readings(given: Given) -> Iterator[str]:
    words = _words([one["abstract"] for one in read_records(DATA / "papers" / "papers.jsonl.gz")])

    def meaning(queries: Sequence[str], papers: Sequence[str]) -> Floats:
        return np.asarray(given.vectorise(list(queries)) @ given.vectorise(list(papers)).T, np.float64)

    for title, found in (("methods", for_methods(DATA)), ("contribution", for_contribution(DATA))):
        yield f"\nFound for the {title}. Weights are chosen on the labels of the other idea.\n"
        yield from orders_table({idea: clues_of(some, meaning, words) for idea, some in found.items()}, given.rounds)


def orders_table(by_idea: Mapping[str, Sequence[Scored]], rounds: int) -> Iterator[str]:
    """A line an idea and order: AUROC over all papers of all that was sought, and what is read of the first."""
    yield row("idea", "order", "AUROC", f"wanted among the first {_OPENED}", "share")
    yield row(*["---"] * 5)
    for idea, scored in by_idea.items():
        papers = {paper.text for one in scored for paper in one.sought.papers}
        wanted = {paper.text for one in scored for paper in one.sought.papers if paper.wanted}
        name = idea.removeprefix("Research Plan: ")[:48]
        yield row(name, "all that was found", "–", f"{len(wanted)} of {len(wanted)}", _share(len(wanted), len(papers)))
        others = [one for other, some in by_idea.items() if other != idea for one in some]
        for label, order in _orders(others):
            values = [order(one) for one in scored]
            told = cut(scored, values, _OPENED)
            yield row(
                name,
                label,
                shown(_auroc(scored, values, rounds)),
                f"{told.wanted} of {told.of}",
                _share(told.wanted, told.opened),
            )


def _orders(others: Sequence[Scored]) -> Iterator[tuple[str, Order]]:
    for clue in CLUES:
        yield clue.name, _by({clue: 1.0})
    yield "description and words fused by places", lambda one: ranked_by_places(one, (DESCRIPTION, WORDS))
    yield "description, parts and words fused by places", lambda one: ranked_by_places(one, _UNREAD)
    for label, clues in (("tuned, nothing known to be wanted", _UNREAD), ("tuned, others known to be wanted", CLUES)):
        weights = tuned(others, clues)
        yield f"{label} ({_told(weights)})", _by(weights)


def _by(weights: Weights) -> Order:
    return lambda one: mixed(one, weights)


def _told(weights: Weights) -> str:
    short: Mapping[Clue, str] = {DESCRIPTION: "description", PARTS: "sentences", WORDS: "words", KNOWN: "known"}
    return ", ".join(f"{short[clue]} {weight:g}" for clue, weight in weights.items() if weight)


def _auroc(scored: Sequence[Scored], values: Sequence[Floats], rounds: int) -> Estimate:
    truth = np.concatenate([one.wanted for one in scored]).astype(np.int16)
    return bootstrap(auroc, truth, [two_columns(np.concatenate(values))], rounds, 0)


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.0%}" if whole else "–"


def _words(corpus: Sequence[str]) -> Similarity:
    """Weighted by how rare words are in the corpus."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    model = TfidfVectorizer(sublinear_tf=True, stop_words="english", min_df=2).fit(corpus)

    def similarity(queries: Sequence[str], papers: Sequence[str]) -> NDArray[np.float64]:
        product = model.transform(queries) @ model.transform(papers).T
        return np.asarray(product.todense(), np.float64)

    return similarity
