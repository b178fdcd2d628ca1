"""From the command line to the tables: ratings of ICLR, in folds of one year and forward in time."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing

import numpy as np
from numpy.typing import NDArray

from assayer.errors import CorpusError
from assayer.methods.scicompanion.walk import WalkOptions
from assayer.models import Absent
from benchmarks.quality.given import Given
from benchmarks.quality.grapheval.data import DATA
from benchmarks.quality.venue_scores.measures import one_reviewer, rating_errors, rating_table, score_without_model
from benchmarks.quality.venue_scores.predictors import Features, features_of, from_others, in_folds
from benchmarks.quality.venue_scores.retrieval_features import RETRIEVAL, retrieval_features
from benchmarks.quality.venue_scores.submissions import RatedSubmission, rated_submissions
from benchmarks.quality.venue_scores.with_model import ratings_by_model
from index import Corpus

__all__ = ["said_in_folds", "venue_scores"]

_OURS = "SciCompanion"


def venue_scores(given: Given) -> Iterator[str]:
    yield from given.warning()
    years = {year: some[: given.asked.first] for year, some in rated_submissions(DATA).items()}
    submissions = [one for some in years.values() for one in some]
    features = features_of(submissions, given.vectorise)
    try:
        features[RETRIEVAL] = asyncio.run(_retrieved(given, submissions))
    except CorpusError as error:
        yield f"Retrieval features: absent, there is no corpus ({error.message}).\n"
    by_model: Mapping[str, float] = {}
    if given.asked.judge is not None:
        by_model, lines = ratings_by_model(given, [one for one in submissions if one.year in given.options.years])
        yield from lines
    ratings = np.array([one.rating for one in submissions])
    of_year = np.array([one.year for one in submissions])
    ours = np.array([by_model.get(one.id, np.nan) for one in submissions])
    for year, some in years.items():
        rows, before = of_year == year, of_year < year
        own = {name: values[rows] for name, values in features.items()}
        said = said_in_folds(own, ratings[rows], given.asked.seeds[0])
        if given.asked.judge is not None and year in given.options.years:
            said[_OURS] = ours[rows]
        spread = f"mean {ratings[rows].mean():.2f}, standard deviation {ratings[rows].std():.2f}"
        yield f"\n## {year}: {rows.sum()} submissions, {spread}\n\nLearned in ten folds of the year itself:\n"
        yield from _told(given, ratings[rows], said)
        of_one, count = one_reviewer([one.ratings for one in some], given.rounds, given.asked.seeds[0])
        shown = "{:.2f} [{:.2f}, {:.2f}]".format(*of_one)
        yield f"\nOne reviewer against the mean of the others: {shown} on {count} submissions with two ratings or more."
        if before.any():
            earlier = {
                name: from_others(name, values[before], ratings[before], values[rows])
                for name, values in features.items()
            }
            yield f"\nLearned from the {before.sum()} of earlier years:\n"
            yield from _told(given, ratings[rows], earlier)


def said_in_folds(features: Features, ratings: NDArray[np.float64], seed: int) -> dict[str, NDArray[np.float64]]:
    return {name: in_folds(name, some, ratings, seed) for name, some in features.items()}


def _told(given: Given, ratings: NDArray[np.float64], said: Mapping[str, NDArray[np.float64]]) -> Iterator[str]:
    errors = rating_errors(ratings, said, given.rounds, given.asked.seeds[0])
    yield from rating_table(errors)
    for one in errors:
        score = score_without_model(one)
        if one.predictor == RETRIEVAL and isinstance(score, Absent):
            yield f"\nA score without a language model: absent. {score.reason}"


async def _retrieved(given: Given, submissions: Sequence[RatedSubmission]) -> NDArray[np.float64]:
    with closing(Corpus.open(given.options.corpus or given.settings.corpus_path, given.embedder)) as corpus:
        return await retrieval_features(submissions, corpus, WalkOptions())
