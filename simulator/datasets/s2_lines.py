"""Lines of Semantic Scholar's datasets, complete or as the difference between two editions."""

import json
from collections.abc import Callable, Iterable
from hashlib import blake2b
from typing import NamedTuple

from simulator.datasets.editions import Edition, Held

_DIMENSIONS = 16
"""Dimensions of the simulated vectors; real vectors have 768."""

Line = dict[str, object]


class Lines(NamedTuple):
    updates: list[Line]
    deletions: list[Line]


def embedding_of(corpus_id: int, text: str) -> list[float]:
    digest = blake2b(f"{corpus_id} {text}".encode(), digest_size=_DIMENSIONS).digest()
    return [(byte - 127.5) / 128 for byte in digest]


def sections_of(held: Held) -> list[tuple[str, str]]:
    """Return the sections (heading, text) made from the abstract, for every third paper; empty for the others."""
    if held.entry.number % 3:
        return []
    words = held.abstract.split()
    half = len(words) // 2 or 1
    parts = [("1 Introduction", " ".join(words[:half])), ("2 Method", " ".join(words[half:]))]
    return [(title, text) for title, text in parts if text]


def _papers(held: Held) -> list[Line]:
    entry, record = held.entry, held.entry.record
    day = record.publication_date
    return [
        {
            "corpusid": entry.corpus_id,
            "externalids": {
                "ACL": entry.acl or None,
                "DBLP": None,
                "ArXiv": entry.arxiv or None,
                "MAG": None,
                "CorpusId": str(entry.corpus_id),
                "PubMed": None,
                "DOI": entry.doi or None,
                "PubMedCentral": None,
            },
            "url": f"https://www.semanticscholar.org/paper/{entry.s2}",
            "title": record.title,
            "authors": [{"authorId": str(place), "name": name} for place, name in enumerate(record.authors)],
            "venue": record.venue,
            "publicationvenueid": None,
            "year": record.year,
            "referencecount": len(held.references),
            "citationcount": record.citation_count,
            "influentialcitationcount": 0,
            "isopenaccess": entry.free_pdf,
            "s2fieldsofstudy": [
                {"category": "Computer Science", "source": "s2-fos-model"},
                {"category": "Computer Science", "source": "external"},
            ],
            "publicationtypes": None,
            "publicationdate": day.isoformat() if day else None,
            "journal": None,
        }
    ]


def _abstracts(held: Held) -> list[Line]:
    return [{"corpusid": held.entry.corpus_id, "openaccessinfo": None, "abstract": held.abstract}]


def _citations(held: Held) -> list[Line]:
    citing = held.entry.corpus_id
    return [
        {
            "citationid": int.from_bytes(blake2b(f"{citing} {reference.corpus_id}".encode(), digest_size=6).digest()),
            "citingcorpusid": citing,
            "citedcorpusid": reference.corpus_id,
            "isinfluential": False,
            "contexts": None,
            "intents": None,
        }
        for reference in held.references
    ]


def _s2orc(held: Held) -> list[Line]:
    sections = sections_of(held)
    if not sections:
        return []
    text, headings, paragraphs = held.entry.record.title, [], []
    for title, words in sections:
        headings.append({"attributes": {"n": title[0]}, "start": len(text) + 1, "end": len(text) + 1 + len(title)})
        text += f"\n{title}"
        paragraphs.append({"start": len(text) + 1, "end": len(text) + 1 + len(words)})
        text += f"\n{words}"
    annotations = {"sectionheader": json.dumps(headings), "paragraph": json.dumps(paragraphs), "table": None}
    content: Line = {"source": {"pdfurls": None}, "text": text, "annotations": annotations}
    return [{"corpusid": held.entry.corpus_id, "externalids": {}, "content": content}]


def _embeddings(held: Held) -> list[Line]:
    number = held.entry.corpus_id
    return [{"corpusid": number, "model": "specter@v2.0.0", "vector": json.dumps(embedding_of(number, held.abstract))}]


DATASETS: dict[str, Callable[[Held], list[Line]]] = {
    "papers": _papers,
    "abstracts": _abstracts,
    "citations": _citations,
    "s2orc": _s2orc,
    "embeddings-specter_v2": _embeddings,
}


def difference(dataset: str, old: Edition | None, new: Edition) -> Lines:
    """Return the new and changed lines as updates and the removed lines as deletions; without an old edition, all lines
    are updates."""
    before = _keyed(dataset, old.papers.values() if old else ())
    after = _keyed(dataset, new.papers.values())
    updates = [line for key, line in after.items() if before.get(key) != line]
    return Lines(updates, [line for key, line in before.items() if key not in after])


def _keyed(dataset: str, papers: Iterable[Held]) -> dict[object, Line]:
    lines = (line for held in papers for line in DATASETS[dataset](held))
    return {line.get("citationid", line.get("corpusid")): line for line in lines}
