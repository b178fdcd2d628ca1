"""Semantic Scholar's datasets made of real papers, each copied until there are as many as wanted."""

import gzip
import json
import random
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import islice
from pathlib import Path

from benchmarks.simulator.outside.records import Record

__all__ = ["CITED", "make"]

_FILES = 4
"""Of each dataset."""
CITED = 12
"""References of a paper, as Semantic Scholar has on average."""
_DIMENSIONS = 768


def make(records: Sequence[Record], papers: int, vectors: int, folder: Path) -> None:
    """`vectors` of the papers have one."""
    _write(folder / "papers", (_paper(records[n % len(records)], n) for n in range(papers)))
    _write(folder / "abstracts", (_abstract(records[n % len(records)], n) for n in range(papers)))
    _write(folder / "citations", _citations(papers))
    if vectors:
        _write(folder / "embeddings-specter_v2", _embeddings(vectors))


def _paper(record: Record, number: int) -> dict[str, object]:
    return {
        "corpusid": number,
        "externalids": {"DOI": f"10.1000/{number}", "ArXiv": None, "CorpusId": str(number), "MAG": None},
        "url": f"https://www.semanticscholar.org/paper/{number:040x}",
        "title": record.title,
        "authors": [{"authorId": "1", "name": name} for name in record.authors],
        "venue": record.venue,
        "year": record.year,
        "referencecount": CITED,
        "citationcount": record.citation_count,
        "s2fieldsofstudy": [{"category": "Computer Science", "source": "s2-fos-model"}],
        "publicationdate": record.publication_date.isoformat() if record.publication_date else None,
        "journal": None,
    }


def _abstract(record: Record, number: int) -> dict[str, object]:
    return {"corpusid": number, "openaccessinfo": None, "abstract": record.abstract}


def _citations(papers: int) -> Iterator[dict[str, object]]:
    dice = random.Random(0)
    for edge in range(papers * CITED):
        citing, cited = edge // CITED, dice.randrange(papers)
        yield {"citationid": edge, "citingcorpusid": citing, "citedcorpusid": cited, "contexts": None, "intents": None}


def _embeddings(vectors: int) -> Iterator[dict[str, object]]:
    dice = random.Random(0)
    pool = [round(dice.gauss(0, 0.5), 7) for _ in range(10_000)]
    for number in range(vectors):
        start = dice.randrange(len(pool) - _DIMENSIONS)
        yield {"corpusid": number, "model": "specter@v2", "vector": json.dumps(pool[start : start + _DIMENSIONS])}


def _write(folder: Path, lines: Iterator[dict[str, object]]) -> None:
    folder.mkdir(parents=True)
    with ExitStack() as stack:
        outs = [stack.enter_context(gzip.open(folder / f"part_{number}.gz", "wb", 1)) for number in range(_FILES)]
        for turn, batch in enumerate(iter(lambda: list(islice(lines, 5000)), [])):
            outs[turn % _FILES].write("".join(f"{json.dumps(line)}\n" for line in batch).encode())
