"""Lines of Semantic Scholar's datasets, complete or as the difference between two editions."""

import json
from collections.abc import Callable, Iterable
from hashlib import blake2b
from typing import NamedTuple

from simulator.datasets.editions import Edition, EditionPaper

_DIMENSIONS = 16
"""Dimensions of the simulated vectors; real vectors have 768."""

Line = dict[str, object]


class Lines(NamedTuple):
    updates: list[Line]
    deletions: list[Line]


def compute_embedding(corpus_id: int, text: str) -> list[float]:
    digest = blake2b(f"{corpus_id} {text}".encode(), digest_size=_DIMENSIONS).digest()
    return [(byte - 127.5) / 128 for byte in digest]


def split_into_sections(paper: EditionPaper) -> list[tuple[str, str]]:
    """Return the sections (heading, text) made from the abstract, for every third paper; empty for the others."""
    if paper.entry.number % 3:
        return []
    words = paper.abstract.split()
    middle = len(words) // 2 or 1
    parts = [("1 Introduction", " ".join(words[:middle])), ("2 Method", " ".join(words[middle:]))]
    return [(title, text) for title, text in parts if text]


def _build_paper_lines(paper: EditionPaper) -> list[Line]:
    entry, record = paper.entry, paper.entry.record
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
            "authors": [{"authorId": str(number), "name": name} for number, name in enumerate(record.authors)],
            "venue": record.venue,
            "publicationvenueid": None,
            "year": record.year,
            "referencecount": len(paper.references),
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


def _build_abstract_lines(paper: EditionPaper) -> list[Line]:
    return [{"corpusid": paper.entry.corpus_id, "openaccessinfo": None, "abstract": paper.abstract}]


def _build_citation_lines(paper: EditionPaper) -> list[Line]:
    citing_id = paper.entry.corpus_id
    return [
        {
            "citationid": int.from_bytes(
                blake2b(f"{citing_id} {reference.corpus_id}".encode(), digest_size=6).digest()
            ),
            "citingcorpusid": citing_id,
            "citedcorpusid": reference.corpus_id,
            "isinfluential": False,
            "contexts": None,
            "intents": None,
        }
        for reference in paper.references
    ]


def _build_s2orc_lines(paper: EditionPaper) -> list[Line]:
    sections = split_into_sections(paper)
    if not sections:
        return []
    text, headings, paragraphs = paper.entry.record.title, [], []
    for title, section_text in sections:
        headings.append({"attributes": {"n": title[0]}, "start": len(text) + 1, "end": len(text) + 1 + len(title)})
        text += f"\n{title}"
        paragraphs.append({"start": len(text) + 1, "end": len(text) + 1 + len(section_text)})
        text += f"\n{section_text}"
    annotations = {"sectionheader": json.dumps(headings), "paragraph": json.dumps(paragraphs), "table": None}
    content: Line = {"source": {"pdfurls": None}, "text": text, "annotations": annotations}
    return [{"corpusid": paper.entry.corpus_id, "externalids": {}, "content": content}]


def _build_embedding_lines(paper: EditionPaper) -> list[Line]:
    number = paper.entry.corpus_id
    return [
        {"corpusid": number, "model": "specter@v2.0.0", "vector": json.dumps(compute_embedding(number, paper.abstract))}
    ]


DATASETS: dict[str, Callable[[EditionPaper], list[Line]]] = {
    "papers": _build_paper_lines,
    "abstracts": _build_abstract_lines,
    "citations": _build_citation_lines,
    "s2orc": _build_s2orc_lines,
    "embeddings-specter_v2": _build_embedding_lines,
}


def compare_editions(dataset: str, old_edition: Edition | None, new_edition: Edition) -> Lines:
    """Return the new and changed lines as updates and the removed lines as deletions; without an old edition, all lines
    are updates."""
    old_lines = _key_lines(dataset, old_edition.papers.values() if old_edition else ())
    new_lines = _key_lines(dataset, new_edition.papers.values())
    updates = [line for key, line in new_lines.items() if old_lines.get(key) != line]
    return Lines(updates, [line for key, line in old_lines.items() if key not in new_lines])


def _key_lines(dataset: str, papers: Iterable[EditionPaper]) -> dict[object, Line]:
    lines = (line for paper in papers for line in DATASETS[dataset](paper))
    return {line.get("citationid", line.get("corpusid")): line for line in lines}
