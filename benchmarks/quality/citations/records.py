"""Two real citation graphs with texts as records of a corpus, and the papers whose references are looked for.

`ml`: the corpus of `papers/` joined with the papers of `citations_ml/`; a paper that stands in both is one record, the
corpus's, with the reference list of the other. `vis`: `citations_vis/`. References that have no text here are left out.
"""

import gzip
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from assayer.models import PaperId
from index.records.paper_record import last_day

__all__ = ["GRAPHS", "CitationQuery", "Graph", "GraphName", "Half", "most_cited", "queries_of", "read_graph"]

GraphName = Literal["ml", "vis"]
GRAPHS: tuple[GraphName, ...] = get_args(GraphName)
Half = Literal["tuning", "reported"]

FEWEST = 5
"""References that a query has at least."""


class Graph(NamedTuple):
    records: Sequence[Mapping[str, Any]]
    """As `index.records.paper_record.PaperRecord` reads them."""
    cited: Mapping[PaperId, tuple[PaperId, ...]]
    """Papers with a list of references, and those of them that are among the records."""


class CitationQuery(NamedTuple):
    """A paper whose references are looked for: what it cites is hidden with it, and everything of later."""

    paper: PaperId
    title: str
    abstract: str
    date: str
    """`YYYY-MM` or `YYYY`: nothing published after it counts."""
    relevant: frozenset[PaperId]

    @property
    def text(self) -> str:
        return f"{self.title}\n{self.abstract}"


def read_graph(data: Path, name: GraphName) -> Graph:
    """Raises OSError where the data are not there."""
    records, lists = _ml(data) if name == "ml" else _vis(data)
    known = {one["id"] for one in records}
    cited = {
        PaperId(paper): tuple(PaperId(one) for one in dict.fromkeys(some) if one in known and one != paper)
        for paper, some in lists.items()
        if paper in known
    }
    records = [one | ({"references": cited[one["id"]]} if one["id"] in cited else {}) for one in records]
    return Graph(records, cited)


def queries_of(graph: Graph, half: Half) -> list[CitationQuery]:
    """Those of one half, by the hash of their ids, that cite enough papers of up to their own day; by id."""
    known = {one["id"]: one for one in graph.records}
    found = []
    for paper, cited in sorted(graph.cited.items()):
        own = known[paper]
        until = _day(own)
        relevant = frozenset(one for one in cited if _day(known[one]) <= until)
        if len(relevant) >= FEWEST and half_of(paper) == half:
            found.append(CitationQuery(paper, own["title"], own["abstract"], _date(own), relevant))
    return found


def half_of(paper: PaperId) -> Half:
    return "tuning" if sha256(paper.encode()).digest()[0] % 2 else "reported"


def most_cited(graph: Graph, count: int = 20) -> frozenset[PaperId]:
    counts = Counter(one for some in graph.cited.values() for one in some)
    return frozenset(paper for paper, _ in sorted(counts.items(), key=lambda one: (-one[1], one[0]))[:count])


def _ml(data: Path) -> tuple[list[dict[str, Any]], dict[str, list[str]]]:
    papers = [_record(one, one["publication_date"]) for one in _lines(data / "papers" / "papers.jsonl.gz")]
    others = list(_lines(data / "citations_ml" / "papers.jsonl.gz"))
    names = {one["id"]: one["corpus_id"] or f"arxiv:{one['id']}" for one in others}
    added = [
        _record(one | {"id": names[one["id"]]}, f"{one['year']}-{one['month']:02}")
        for one in others
        if not one["corpus_id"]
    ]
    lists = {
        names[one["id"]]: [*(names[cited] for cited in one["in_set"] if cited in names), *one["in_corpus"]]
        for one in _lines(data / "citations_ml" / "references.jsonl.gz")
        if one["id"] in names
    }
    return papers + added, lists


def _vis(data: Path) -> tuple[list[dict[str, Any]], dict[str, list[str]]]:
    papers = [_record(one, str(one["year"])) for one in _lines(data / "citations_vis" / "papers.jsonl.gz")]
    return papers, {one["id"]: one["in_set"] for one in _lines(data / "citations_vis" / "references.jsonl.gz")}


def _record(given: Mapping[str, Any], date: str) -> dict[str, Any]:
    fields = {name: given[name] for name in ("id", "title", "abstract", "authors", "venue") if name in given}
    return fields | {"publication_date": date}


def _date(record: Mapping[str, Any]) -> str:
    return str(record["publication_date"])


def _day(record: Mapping[str, Any]) -> str:
    return last_day(_date(record)).isoformat()


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from (json.loads(line) for line in lines if line.strip())
