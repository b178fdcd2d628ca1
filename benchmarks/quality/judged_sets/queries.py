"""Literature queries: how many of the answers in the corpus are found."""

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assayer.models import Window
from benchmarks.quality.figures import Figure, Kind, build_figure, estimate_mean
from benchmarks.records import read_records
from index import Corpus

DEPTHS = (10, 100)


class Query(NamedTuple):
    id: str
    text: str
    until: dt.date
    """Latest publication date of a valid answer."""
    answers: frozenset[str]
    """Answers in the corpus; answers outside it cannot be found."""


def read_queries(folder: Path) -> list[Query]:
    return [
        Query(
            record["id"],
            record["query"],
            dt.datetime.strptime(record["published"], "%Y%m%d").date(),
            frozenset(record["in_corpus"]),
        )
        for record in read_records(folder / "queries" / "autoscholar.jsonl.gz")
        if record["in_corpus"]
    ]


def search_by_words(queries: Sequence[Query], papers: Path) -> dict[str, list[str]]:
    """Search by TF-IDF of title and abstract among papers published until the query's day; best first."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    records = list(read_records(papers))
    texts = [f"{record['title']} {record.get('abstract') or ''}" for record in records]
    days = np.array([dt.date.fromisoformat(record["publication_date"]).toordinal() for record in records])
    words = TfidfVectorizer(sublinear_tf=True, stop_words="english")
    weights = words.fit_transform(texts)
    results_by_query = {}
    for query in queries:
        values = (weights @ words.transform([query.text]).T).toarray()[:, 0]
        values[days > query.until.toordinal()] = -1.0
        best = np.argsort(-values, kind="stable")[: DEPTHS[-1]]
        results_by_query[query.id] = [records[row]["id"] for row in best if values[row] > 0]
    return results_by_query


def match_titles(titles: Mapping[str, Sequence[str]], papers: Path) -> dict[str, list[str]]:
    """Return paper ids by query, from titles that a model remembers; titles not in the corpus are left out."""
    id_by_title = {_normalise_title(record["title"]): record["id"] for record in read_records(papers)}
    return {
        query: list(
            dict.fromkeys(
                id_by_title[_normalise_title(title)]
                for title in titles_of_query
                if _normalise_title(title) in id_by_title
            )
        )
        for query, titles_of_query in titles.items()
    }


def _normalise_title(title: str) -> str:
    return " ".join("".join(character if character.isalnum() else " " for character in title.casefold()).split())


async def search_queries(queries: Sequence[Query], corpus: Corpus) -> dict[str, list[str]]:
    """Search with the program's own search."""
    results_by_query = {}
    for query in queries:
        (hits,) = await corpus.search([query.text], DEPTHS[-1], Window.until(query.until))
        results_by_query[query.id] = [str(hit.paper.id) for hit in hits]
    return results_by_query


def build_query_figures(
    queries: Sequence[Query], results_by_query: Mapping[str, Sequence[str]], scorer: tuple[str, Kind], rounds: int
) -> Iterator[Figure]:
    for depth in DEPTHS:
        values: NDArray[np.float64] = np.array(
            [
                len(query.answers.intersection(results_by_query.get(query.id, ())[:depth])) / len(query.answers)
                for query in queries
            ]
        )
        part_of_set = ("queries", "autoscholar")
        note = "recall of what one paper cited; what else is relevant does not count"
        yield build_figure(
            part_of_set,
            f"found in the first {depth}",
            scorer,
            estimate_mean(values, rounds),
            len(queries),
            0,
            None,
            note,
        )
