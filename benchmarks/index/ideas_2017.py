"""Nearest papers of complete ideas: the submissions to ICLR 2017, none of which is in the corpus.

There are no judgements of which papers are near a submission. Papers by its authors are near more often than others,
and neither words nor vectors know the authors. The share of ideas with such a paper among the ten nearest therefore
compares rankings with each other, though it has no absolute meaning, and common names add noise.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.index.measures import Figure
from benchmarks.records import read_records
from index import Corpus
from index.search.hybrid_ranking import rank_candidates
from index.search.version_reader import VersionReader
from index.segments.row_filter import NO_FILTERS

_LIMIT, _DEPTH = 10, 50


class Submission(NamedTuple):
    text: str
    authors: frozenset[str]


def read_submissions(path: Path) -> list[Submission]:
    return [
        Submission(f"{record['title']}\n{record['abstract']}", frozenset(name.lower() for name in record["authors"]))
        for record in read_records(path)
    ]


async def measure_neighbours(reader: VersionReader, corpus: Corpus, submissions: Sequence[Submission]) -> list[Figure]:
    texts = [submission.text for submission in submissions]
    vectors = await corpus.embed_queries(texts)
    candidates = reader.find_candidates(texts, vectors, _DEPTH, NO_FILTERS)
    orders = {
        "dense": [candidate.papers.by_vector.rows[:_LIMIT].tolist() for candidate in candidates],
        "BM25": [candidate.papers.by_bm25.documents[:_LIMIT].tolist() for candidate in candidates],
        "hybrid": [[unit for unit, _ in rank_candidates(candidate, _LIMIT)] for candidate in candidates],
    }
    figures = []
    for ranking, units_by_idea in orders.items():
        counts = [
            sum(bool(idea.authors & {name.lower() for name in reader.get_paper(unit).authors}) for unit in units)
            for idea, units in zip(submissions, units_by_idea, strict=True)
        ]
        share, mean = np.mean([count > 0 for count in counts]), np.mean(counts)
        text = f"{share:.3f} of ideas have one of their authors' among the ten nearest, {mean:.2f} on average"
        figures.append(Figure(f"{len(submissions)} ideas of ICLR 2017, {ranking}", text))
    return figures
