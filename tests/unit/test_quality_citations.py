"""The benchmark of citations: which papers are asked for, what is hidden, and how precision and recall are counted."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from assayer.models import PaperId
from benchmarks.quality.citations.contenders import HOPS, SEARCHES, Returned, returned
from benchmarks.quality.citations.corpora import open_corpus
from benchmarks.quality.citations.measures import citations_report, compared, precision_and_recall
from benchmarks.quality.citations.records import (
    CitationQuery,
    Graph,
    Half,
    half_of,
    most_cited,
    queries_of,
    read_graph,
)
from index import VersionStore, read_manifest
from index.search.version_reader import VersionReader
from workers.embedding.hashing_embedder import HashingEmbedder


def lines(path: Path, *records: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(one) + "\n" for one in records)


def a_paper(name: str, date: str, **more: Any) -> dict[str, Any]:
    text = {"title": f"Bees of {name}", "abstract": f"We count the bees of {name}."}
    return {"id": name, **text, "publication_date": date, **more}


def a_graph() -> Graph:
    """`seven` cites five papers of before and one of later; `old` cites it back."""
    papers = [a_paper(f"p{number}", f"201{number}-03") for number in range(1, 7)]
    cited = {PaperId("seven"): tuple(PaperId(f"p{number}") for number in range(1, 7)), PaperId("p1"): (PaperId("p2"),)}
    records = [*papers, a_paper("seven", "2015-07")]
    return Graph([one | {"references": list(cited.get(PaperId(one["id"]), ()))} for one in records], cited)


def test_paper_of_both_collections_is_one_record_with_both_lists(tmp_path: Path) -> None:
    given = {"title": "t", "abstract": "a", "authors": [], "venue": "v"}
    lines(tmp_path / "papers" / "papers.jsonl.gz", {"id": "c1", "publication_date": "2020-02-01", **given})
    lines(
        tmp_path / "citations_ml" / "papers.jsonl.gz",
        {"id": "1.1v1", "title": "t", "abstract": "a", "year": 2019, "month": 3, "corpus_id": "c1"},
        {"id": "2.2v1", "title": "u", "abstract": "b", "year": 2021, "month": 4, "corpus_id": None},
    )
    lines(
        tmp_path / "citations_ml" / "references.jsonl.gz",
        {"id": "2.2v1", "in_set": ["1.1v1"], "in_corpus": ["c1", "lost"]},
        {"id": "1.1v1", "in_set": [], "in_corpus": []},
    )
    graph = read_graph(tmp_path, "ml")
    assert [(one["id"], one["publication_date"]) for one in graph.records] == [
        ("c1", "2020-02-01"),
        ("arxiv:2.2v1", "2021-04"),
    ]
    assert graph.cited == {"arxiv:2.2v1": ("c1",), "c1": ()}


def test_queries_cite_enough_papers_of_before_and_lie_in_one_half() -> None:
    graph = a_graph()
    (query,) = queries_of(graph, half_of(PaperId("seven")))
    assert query.paper == "seven"
    assert query.relevant == {"p1", "p2", "p3", "p4", "p5"}
    other: Half = "tuning" if half_of(PaperId("seven")) == "reported" else "reported"
    assert queries_of(graph, other) == []
    assert most_cited(graph, 1) == {"p2"}


async def test_no_way_returns_the_querys_own_paper_or_later_ones(tmp_path: Path) -> None:
    graph = a_graph()
    (query,) = queries_of(graph, half_of(PaperId("seven")))
    corpus = await open_corpus(graph, tmp_path, HashingEmbedder())
    versions = VersionStore(tmp_path / "corpus")
    reader = VersionReader.open(versions, read_manifest(versions.current_path()))
    answers = await returned(corpus, reader, query, HOPS)
    assert len(answers) == len(SEARCHES) + len(HOPS)
    for one in answers:
        assert set(one.papers) <= {"p1", "p2", "p3", "p4", "p5"}
        assert len(set(one.papers)) == len(one.papers)
    corpus.close()


def test_famous_papers_count_neither_as_found_nor_as_wanted() -> None:
    papers = [PaperId(f"p{number}") for number in range(20)]
    assert precision_and_recall(papers, papers[5:15], frozenset()) == (0.5, 1.0)
    assert precision_and_recall(papers, papers[5:15], frozenset(papers[:5])) == (1.0, 1.0)
    assert precision_and_recall(papers, papers[:2], frozenset(papers[:2])) is None


def test_table_shows_each_way_beside_dense_search_with_its_interval() -> None:
    def answers(number: int) -> list[Returned]:
        wanted = frozenset(PaperId(f"{number}-{one}") for one in range(10))
        query = CitationQuery(PaperId(str(number)), "t", "a", "2020", wanted)
        found = sorted(wanted)
        return [
            Returned("dense", query, tuple(found[:2]), 1.0),
            Returned("walk, 1 hop", query, tuple(found[: 4 + number % 2]), 2.0),
        ]

    some = compared([one for number in range(40) for one in answers(number)], frozenset(), rounds=200)
    dense, walk = some
    assert (dense.precision, dense.recall) == pytest.approx((0.2, 0.2))
    assert walk.more_precision[0] == pytest.approx(0.25)
    assert 0.2 <= walk.more_precision[1] < 0.25 < walk.more_precision[2] <= 0.3
    assert any("| walk, 1 hop | 0.450 |" in line for line in citations_report({"All": some}))
