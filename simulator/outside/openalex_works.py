"""Simulated works in OpenAlex's JSON form.

Simulated peculiarities: the arXiv id is only in the locations, not in the ids; the DOI is the publisher's if there is
one, otherwise arXiv's; a missing month and day are written as 1; a few works have no title; some have no abstract, the
others have an inverted one.
"""

from hashlib import blake2b

from simulator.outside.library import Entry, Library

FIELDS = """
    id doi title display_name relevance_score publication_year publication_date ids language primary_location
    type indexed_in open_access authorships institutions corresponding_author_ids cited_by_count biblio
    is_retracted is_paratext is_xpac primary_topic topics keywords concepts mesh locations_count locations
    best_oa_location sustainable_development_goals funders awards has_content content_urls
    referenced_works_count referenced_works related_works abstract_inverted_index counts_by_year updated_date
    created_date
"""
"""Fields allowed in `select`."""

_SITE = "https://openalex.org"
_LICENSE = "cc-by"


def get_former_id(entry: Entry) -> str:
    """Return the id of a record that was merged into this one: it works only through a redirect and is in no list."""
    return f"W2{entry.openalex[2:]}"


def get_doi(entry: Entry) -> str:
    return entry.doi or (f"10.48550/arxiv.{entry.arxiv}" if entry.arxiv else "")


def get_pmid(entry: Entry) -> str:
    """Return the PubMed id, for a tenth of the papers."""
    return str(20_000_000 + entry.corpus_id % 10_000_000) if entry.corpus_id % 10 == 1 else ""


def find_entry(library: Library, kind: str, value: str) -> Entry | None:
    """Find a work by its id of the given kind: `openalex`, `doi` or `pmid`, each also as a URL."""
    value = value.lower().rstrip("/")
    match kind:
        case "openalex":
            return library.by_openalex.get(value.removeprefix(f"{_SITE}/").upper())
        case "doi":
            value = value.removeprefix("https://doi.org/")
            entry = library.by_doi.get(value) or library.by_arxiv.get(value.removeprefix("10.48550/arxiv."))
            return entry if entry and get_doi(entry) == value else None
        case _:
            number = value.rsplit("/", 1)[-1]
            return next((entry for entry in library.entries if number and get_pmid(entry) == number), None)


def has_known_abstract(entry: Entry) -> bool:
    return bool(entry.record.abstract) and entry.corpus_id % 5 != 0


def _compute_number(text: str) -> int:
    return 5_000_000_000 + int.from_bytes(blake2b(text.encode(), digest_size=4).digest())


def invert_abstract(text: str) -> dict[str, list[int]]:
    index: dict[str, list[int]] = {}
    for position, word in enumerate(text.split()):
        index.setdefault(word, []).append(position)
    return index


def _build_location(name: str, kind: str, landing_page: str | None, pdf: str | None, version: str) -> dict[str, object]:
    source: dict[str, object] = {
        "id": f"{_SITE}/S{_compute_number(name)}",
        "display_name": name,
        "issn_l": None,
        "issn": None,
        "is_oa": pdf is not None,
        "is_in_doaj": False,
        "is_core": kind == "journal",
        "host_organization": None,
        "host_organization_name": None,
        "host_organization_lineage": [],
        "type": kind,
    }
    return {
        "id": f"doi:{landing_page}" if landing_page else None,
        "is_oa": pdf is not None,
        "landing_page_url": landing_page,
        "pdf_url": pdf,
        "source": source if name else None,
        "license": _LICENSE if pdf else None,
        "license_id": f"{_SITE}/licenses/{_LICENSE}" if pdf else None,
        "version": version,
        "is_accepted": version != "submittedVersion",
        "is_published": version == "publishedVersion",
    }


def _build_locations(entry: Entry, origin: str) -> list[dict[str, object]]:
    free_pdf = f"{origin}{entry.pdf_path}" if entry.free_pdf else None
    landing_page = f"https://doi.org/{entry.doi}" if entry.doi else entry.record.url or None
    locations = (
        [_build_location(entry.record.venue, "journal", landing_page, free_pdf, "publishedVersion")]
        if landing_page
        else []
    )
    if entry.arxiv:
        address, pdf = f"http://arxiv.org/abs/{entry.arxiv}", f"{origin}{entry.pdf_path}"
        locations.append(_build_location("arXiv (Cornell University)", "repository", address, pdf, "submittedVersion"))
    if entry.acl:
        locations.append(
            _build_location("", "repository", f"https://aclanthology.org/{entry.acl}", None, "acceptedVersion")
        )
    return locations


def _build_authorships(entry: Entry) -> list[dict[str, object]]:
    """Return at most a hundred authorships."""
    names = entry.record.authors[:100]
    positions = {0: "first", len(names) - 1: "last"}
    return [
        {
            "author_position": positions.get(number, "middle") if number else "first",
            "author": {"id": f"{_SITE}/A{_compute_number(name)}", "display_name": name, "orcid": None},
            "institutions": [],
            "countries": [],
            "is_corresponding": number == 0,
            "raw_author_name": name,
            "raw_affiliation_strings": [],
            "affiliations": [],
        }
        for number, name in enumerate(names)
    ]


def _build_ids(entry: Entry, doi: str | None) -> dict[str, object]:
    """Return the ids that the work has."""
    pmid = get_pmid(entry)
    names = {
        "openalex": f"{_SITE}/{entry.openalex}",
        "doi": doi,
        "mag": str(entry.corpus_id),
        "pmid": f"https://pubmed.ncbi.nlm.nih.gov/{pmid}" if pmid else None,
    }
    return {kind: value for kind, value in names.items() if value}


def build_work(library: Library, entry: Entry, origin: str, score: float | None = None) -> dict[str, object]:
    """Return the complete record; `score` is the relevance in a search."""
    record, day = entry.record, entry.known_day
    doi = f"https://doi.org/{get_doi(entry)}" if get_doi(entry) else None
    locations = _build_locations(entry, origin)
    best_location = next((location for location in locations if location["pdf_url"]), None)
    title = record.title if entry.corpus_id % 200 else None
    references = library.list_references(entry)
    return {
        "id": f"{_SITE}/{entry.openalex}",
        "doi": doi,
        "title": title,
        "display_name": title,
        **({} if score is None else {"relevance_score": score}),
        "publication_year": record.year,
        "publication_date": day.isoformat() if day else None,
        "ids": _build_ids(entry, doi),
        "language": "en",
        "primary_location": locations[0] if locations else None,
        "type": "article" if entry.doi else "preprint",
        "indexed_in": [*(["crossref"] if entry.doi else []), *(["arxiv", "datacite"] if entry.arxiv else [])],
        "open_access": {
            "is_oa": best_location is not None,
            "oa_status": "green" if best_location else "closed",
            "oa_url": best_location["pdf_url"] if best_location else None,
            "any_repository_has_fulltext": bool(entry.arxiv),
        },
        "authorships": _build_authorships(entry),
        "institutions": [],
        "corresponding_author_ids": [],
        "cited_by_count": record.citation_count,
        "biblio": {"volume": None, "issue": None, "first_page": None, "last_page": None},
        "is_retracted": entry.notice is not None and entry.notice.kind == "retracted",
        "is_paratext": False,
        "is_xpac": False,
        "primary_topic": None,
        "topics": [],
        "keywords": [],
        "concepts": [],
        "mesh": [],
        "locations_count": len(locations),
        "locations": locations,
        "best_oa_location": best_location,
        "sustainable_development_goals": [],
        "funders": [],
        "awards": [],
        "has_content": {"pdf": best_location is not None, "grobid_xml": False},
        "content_urls": None,
        "referenced_works_count": len(references),
        "referenced_works": [f"{_SITE}/{reference.openalex}" for reference in references],
        "related_works": [],
        "abstract_inverted_index": invert_abstract(record.abstract) if has_known_abstract(entry) else None,
        "counts_by_year": [],
        "updated_date": "2026-09-30T04:12:45.301972",
        "created_date": "2025-10-10T00:00:00",
    }
