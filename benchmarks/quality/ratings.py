"""Reviewers' mean rating told from title and abstract: root mean square error on the venue's own scale.

SciCompanion's paper reports RMSE on such a scale. Whoever says the mean for every paper has an error too, and nothing
is worth anything that is not below it. Every baseline learns in ten folds of the year it is asked about, with its
penalty chosen by leaving one out of those it learns from. Scales differ from year to year: no error is taken over
several.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assayer.methods.grapheval.scoring.metrics import Estimate
from assayer.text.code_links import without_code_links
from benchmarks.quality.figures import Figure, Kind, figure, table
from benchmarks.quality.given import Given
from benchmarks.quality.grapheval.data import DATA, read_records

__all__ = ["MEAN", "RatedYear", "figures_of", "predictions", "rated_years", "ratings"]

Values = NDArray[np.float64]

MEAN = "the mean of the others, for every paper"
_FOLDS = 10
_ALPHAS = np.logspace(-2, 4, 13)
_REPORTED = "SciCompanion's paper, on other years: 1.82 zero-shot, 1.55 with five examples, 0.95 trained"


class RatedYear(NamedTuple):
    name: str
    texts: Sequence[str]
    ratings: Values
    """Means of the reviewers', on the venue's scale."""
    one_reviewer: Values
    """One of each paper's ratings, drawn by lot."""
    others: Values
    """Mean of the other ratings of that paper; not a number where there is none."""


def rated_years(seed: int = 0) -> Iterator[RatedYear]:
    """ICLR 2017 whole, then samples of 400 of other years. Raises OSError where the data are not there."""
    years: dict[str, list[dict[str, Any]]] = defaultdict(list)
    years["ICLR 2017, whole"] = list(read_records(DATA / "iclr2017" / "submissions.jsonl.gz"))
    for record in read_records(DATA / "iclr_years" / "submissions.jsonl.gz"):
        if record["year"] != 2017:
            years[f"ICLR {record['year']}"].append(record)
    for name, records in years.items():
        rated = [one for one in records if one.get("ratings")]
        drawn = np.random.default_rng(seed)
        picks = [int(drawn.integers(len(one["ratings"]))) for one in rated]
        yield RatedYear(
            name,
            [without_code_links(f"{one['title']}\n{one['abstract']}") for one in rated],
            np.array([np.mean(one["ratings"]) for one in rated]),
            np.array([one["ratings"][pick] for one, pick in zip(rated, picks, strict=True)], np.float64),
            np.array([_mean(np.delete(one["ratings"], pick)) for one, pick in zip(rated, picks, strict=True)]),
        )


def _mean(ratings: NDArray[Any]) -> float:
    return float(np.mean(ratings)) if len(ratings) else float("nan")


def ratings(given: Given) -> Iterator[str]:
    """No language model is asked. Sentences that say where code lies are left out: accepted papers got them later."""
    figures: list[Figure] = []
    for year in rated_years(given.asked.seeds[0]):
        figures += figures_of(year, given.vectorise(list(year.texts)), given.rounds, given.asked.seeds[0])
    yield from table(figures)
    yield f"\n{_REPORTED}."
    yield "\nBelow the mean with the whole interval of the paired difference:"
    better = [one for one in figures if one.measure.startswith("below") and one.low is not None and one.low > 0]
    yield from (f"- {one.part}: {one.scorer}" for one in better)
    if not better:
        yield "- nothing"


def figures_of(year: RatedYear, vectors: NDArray[np.float32], rounds: int, seed: int) -> Iterator[Figure]:
    """RMSE of every way, and how far below that of the mean it is; one reviewer is held against the others."""
    said = predictions(year.texts, vectors.astype(np.float64), year.ratings, seed)
    for name, values in said.items():
        error = _bootstrapped([(year.ratings - values) ** 2], rounds, seed, _rooted)
        yield figure(("ratings", year.name), "RMSE", (name, "simple"), error, len(values))
        if name != MEAN:
            both = [(year.ratings - said[MEAN]) ** 2, (year.ratings - values) ** 2]
            below = _bootstrapped(both, rounds, seed, _rooted_difference)
            yield figure(("ratings", year.name), "below the mean's", (name, "simple"), below, len(values), chance=0.0)
    held = ~np.isnan(year.others)
    error = _bootstrapped([(year.one_reviewer[held] - year.others[held]) ** 2], rounds, seed, _rooted)
    person: tuple[str, Kind] = ("one reviewer, against the mean of the others", "people")
    yield figure(("ratings", year.name), "RMSE", person, error, len(held), int((~held).sum()))


def predictions(texts: Sequence[str], vectors: Values, truth: Values, seed: int) -> dict[str, Values]:
    """By every way, of each paper by what was learned from the papers of other folds."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LinearRegression, RidgeCV
    from sklearn.model_selection import KFold

    lengths = np.log1p(np.array([[len(one)] for one in texts], np.float64))
    said = {name: np.empty(len(texts)) for name in (MEAN, "length", "TF-IDF + ridge", "embedding + ridge")}
    for known, asked in KFold(_FOLDS, shuffle=True, random_state=seed).split(lengths):
        words = TfidfVectorizer(sublinear_tf=True, min_df=2, ngram_range=(1, 2), stop_words="english")
        learned = words.fit_transform([texts[row] for row in known])
        unseen = words.transform([texts[row] for row in asked])
        said[MEAN][asked] = truth[known].mean()
        said["length"][asked] = LinearRegression().fit(lengths[known], truth[known]).predict(lengths[asked])
        said["TF-IDF + ridge"][asked] = RidgeCV(_ALPHAS).fit(learned, truth[known]).predict(unseen)
        said["embedding + ridge"][asked] = RidgeCV(_ALPHAS).fit(vectors[known], truth[known]).predict(vectors[asked])
    return said


def _rooted(squares: Sequence[Values]) -> float:
    return float(np.sqrt(squares[0].mean()))


def _rooted_difference(squares: Sequence[Values]) -> float:
    return float(np.sqrt(squares[0].mean()) - np.sqrt(squares[1].mean()))


def _bootstrapped(
    squares: Sequence[Values], rounds: int, seed: int, measure: Callable[[Sequence[Values]], float]
) -> Estimate:
    """Over papers, the same draws for all."""
    count = len(squares[0])
    draws = np.random.default_rng(seed).integers(0, count, (rounds, count))
    drawn = [measure([one[rows] for one in squares]) for rows in draws]
    return Estimate(measure(squares), *np.quantile(drawn, (0.025, 0.975)).tolist())
