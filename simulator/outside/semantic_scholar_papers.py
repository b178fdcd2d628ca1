"""Papers and snippets in Semantic Scholar's form."""

from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import NamedTuple, Self

from aiohttp import web

from simulator.outside.fulltexts import Part, write_parts
from simulator.outside.library import Entry, Library
from simulator.outside.lookup import split_words

OWN_PAPER: Mapping[str, object] = {
    "paperId": "649def34f8be52c8b66281af98ae884c09aef38b",
    "corpusId": 19170988,
    "externalIds": {"ACL": "N18-3011", "ArXiv": "1805.02262", "DOI": "10.18653/v1/N18-3011", "CorpusId": 19170988},
    "url": "https://www.semanticscholar.org/paper/649def34f8be52c8b66281af98ae884c09aef38b",
    "title": "Construction of the Literature Graph in Semantic Scholar",
    "abstract": None,
    "venue": "North American Chapter of the Association for Computational Linguistics",
    "year": 2018,
    "publicationDate": "2018-05-06",
    "citationCount": 453,
    "isOpenAccess": True,
    "openAccessPdf": None,
    "authors": [{"authorId": "1741101", "name": "Oren Etzioni"}],
}
"""Example paper in Semantic Scholar's documentation."""

_NAMES = """
    paperId corpusId externalIds url title abstract venue publicationVenue year referenceCount citationCount
    influentialCitationCount isOpenAccess openAccessPdf fieldsOfStudy s2FieldsOfStudy publicationTypes
    publicationDate journal authors"""
_FIELDS = frozenset(_NAMES.split())
_NESTED = frozenset({"authors.authorId", "authors.name", "contexts", "intents", "isInfluential"})
_DISCLAIMER = "Notice: Paper or abstract available at the source. Please go to the source to verify the license."


def find_entry(library: Library, name: str) -> Entry | None:
    """Find a paper by any of the supported ids; prefixes are case-insensitive."""
    kind, separator, value = name.partition(":")
    if not separator:
        return library.by_s2.get(name.lower()) or library.by_doi.get(name.lower())
    match kind.lower():
        case "doi":
            value = value.lower()
            return library.by_doi.get(value) or library.by_arxiv.get(value.removeprefix("10.48550/arxiv."))
        case "arxiv":
            return library.by_arxiv.get(value.split("v")[0])
        case "corpusid":
            return library.by_corpus_id.get(int(value)) if value.isdecimal() else None
        case "acl":
            return library.by_acl.get(value)
        case _:
            return None


def is_in_computer_science(entry: Entry) -> bool:
    """Return whether the paper's field is known to be computer science; a quarter of the papers have no known field."""
    return entry.corpus_id % 4 > 0


class Fields(NamedTuple):
    names: tuple[str, ...]

    @classmethod
    def parse(cls, request: web.Request) -> Self:
        """Return the fields that a request asks for. Raises HTTPBadRequest with the service's wording."""
        names = tuple(name for name in request.query.get("fields", "title").split(",") if name)
        unknown = [name for name in names if name not in _FIELDS | _NESTED]
        if unknown:
            raise web.HTTPBadRequest(text=f"Unrecognized or unsupported fields: [{', '.join(unknown)}]")
        return cls(names)

    def select(self, record: Mapping[str, object]) -> dict[str, object]:
        field_names = {"paperId", *(name.partition(".")[0] for name in self.names)}
        return {name: value for name, value in record.items() if name in field_names}

    def build_record(self, library: Library, entry: Entry, request: web.Request) -> dict[str, object]:
        return self.select(_build_record(library, entry, str(request.url.origin())))

    def build_unmatched(self, title: str) -> dict[str, object]:
        """Return a reference that is not matched to a known paper."""
        return {name: title if name == "title" else None for name in ("paperId", *self.names) if name in _FIELDS}


def _build_record(library: Library, entry: Entry, origin: str) -> dict[str, object]:
    record = entry.record
    names = {"DOI": _get_doi(entry), "ArXiv": entry.arxiv, "ACL": entry.acl}
    return {
        "paperId": entry.s2,
        "corpusId": entry.corpus_id,
        "externalIds": {**{kind: value for kind, value in names.items() if value}, "CorpusId": entry.corpus_id},
        "url": f"https://www.semanticscholar.org/paper/{entry.s2}",
        "title": record.title,
        # Some publishers had the abstract removed.
        "abstract": record.abstract if record.abstract and entry.corpus_id % 12 else None,
        "venue": record.venue,
        "publicationVenue": None,
        "year": record.year,
        "referenceCount": len(library.list_references(entry)),
        "citationCount": record.citation_count,
        "influentialCitationCount": record.citation_count // 10,
        "isOpenAccess": entry.free_pdf,
        "openAccessPdf": _build_open_access(entry, origin),
        "fieldsOfStudy": ["Computer Science"] if is_in_computer_science(entry) else None,
        "s2FieldsOfStudy": [{"category": "Computer Science", "source": "s2-fos-model"}],
        "publicationTypes": ["JournalArticle", "Conference"] if record.venue else None,
        "publicationDate": record.publication_date.isoformat()
        if entry.is_day_known and record.publication_date
        else None,
        "journal": {"name": record.venue} if record.venue else None,
        "authors": [{"authorId": _compute_author_id(name), "name": name} for name in record.authors],
    }


def _get_doi(entry: Entry) -> str:
    """Return the publisher's DOI, in capitals for ACL papers, otherwise arXiv's; empty if there is neither."""
    if entry.doi:
        return entry.doi.upper() if entry.acl else entry.doi
    return f"10.48550/arXiv.{entry.arxiv}" if entry.arxiv else ""


def _build_open_access(entry: Entry, origin: str) -> dict[str, object]:
    if not entry.free_pdf:
        return {"url": "", "status": "CLOSED", "license": None, "disclaimer": _DISCLAIMER}
    return {"url": f"{origin}{entry.pdf_path}", "status": "GREEN", "license": "CCBY", "disclaimer": _DISCLAIMER}


def _compute_author_id(name: str) -> str:
    return str(int.from_bytes(blake2b(name.encode(), digest_size=4).digest()))


def build_snippets(library: Library, entries: Sequence[Entry], query: str, limit: int) -> list[dict[str, object]]:
    """Return at most two snippets per paper, best papers first; only from the abstract if there is no free copy."""
    query_words = set(split_words(query))
    snippets: list[dict[str, object]] = []
    for rank, entry in enumerate(entries):
        if len(snippets) >= limit:
            break
        passages = sorted(
            _list_passages(library, entry), key=lambda passage: -len(query_words & set(split_words(passage[1].text)))
        )
        for kind, part in passages[:2]:
            snippets.append(_build_snippet(entry, kind, part, round(1 / (1.5 + 0.02 * (rank + len(snippets))), 6)))
    return snippets[:limit]


def _list_passages(library: Library, entry: Entry) -> Iterator[tuple[str, Part]]:
    kind, text = ("abstract", entry.record.abstract) if entry.record.abstract else ("title", entry.record.title)
    yield kind, Part("", text, ((0, len(text)),), ())
    if entry.free_pdf:
        for part in write_parts(entry, library.list_references(entry)):
            yield "body", part


def _build_snippet(entry: Entry, kind: str, part: Part, score: float) -> dict[str, object]:
    mentions = [
        # The last mention in a part is unmatched.
        {
            "start": mention.start,
            "end": mention.end,
            "matchedPaperCorpusId": str(mention.cited.corpus_id) if number else None,
        }
        for number, mention in enumerate(reversed(part.mentions))
    ]
    return {
        "snippet": {
            "text": part.text,
            "snippetKind": kind,
            "section": part.title or None,
            "snippetOffset": {"start": 0, "end": len(part.text)},
            "annotations": {
                "sentences": [{"start": start, "end": end} for start, end in part.sentences],
                "refMentions": list(reversed(mentions)),
            },
        },
        "score": score,
        "paper": {
            "corpusId": str(entry.corpus_id),
            "title": entry.record.title,
            "authors": list(entry.record.authors),
            "openAccessInfo": {"license": "CCBY", "status": "GREEN", "disclaimer": _DISCLAIMER}
            if entry.free_pdf
            else None,
        },
    }
