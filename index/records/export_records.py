"""Convert exported paper records to our format: arXiv's metadata on Kaggle, papers from Semantic Scholar's API, works
from Crossref's API, and CSL-JSON. Records from other services are converted by common field names. Exports that another
command reads are only recognised, so that errors can name that command."""

import datetime as dt
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any

from pydantic import ValidationError

from assayer.literature.paper_identity import find_doi, parse_arxiv_id
from assayer.literature.withdrawals import says_withdrawn
from assayer.reference_lists.bibtex import parse_bibtex_names
from assayer.text.markup import strip_markup
from assayer.text.tex import strip_tex
from index.records.foreign_records import convert_generic_record
from index.records.paper_record import PaperRecord, describe_first_problem

_EXPORTS = (
    ({"authors_parsed", "categories"}, "arXiv's snapshot on Kaggle"),
    ({"paperId", "title"}, "a paper from Semantic Scholar's API"),
    ({"DOI", "title"}, "a work from Crossref's API, or CSL-JSON"),
    ({"authorString", "title"}, "a record from Europe PMC"),
    ({"attributes", "id"}, "a record from DataCite's API"),
    ({"bibcode", "title"}, "a record from NASA's ADS"),
    ({"cord_uid", "title"}, "a row from CORD-19's metadata"),
    ({"docid", "title_s"}, "a record from HAL"),
    ({"pmid", "title"}, "a record from PubMed"),
)
_ELSEWHERE = (
    ({"abstract_inverted_index"}, "an OpenAlex work: use `assayer corpus ingest openalex`"),
    ({"corpusid", "title"}, "a line from Semantic Scholar's datasets: use `assayer corpus ingest s2`"),
    ({"corpusid", "abstract"}, "a line from Semantic Scholar's datasets: use `assayer corpus ingest s2`"),
    ({"citingcorpusid"}, "a line from Semantic Scholar's datasets: use `assayer corpus ingest s2`"),
    ({"message", "status"}, "a complete response from Crossref's API: write each of its items on a separate line"),
    ({"data", "total"}, "a complete response from Semantic Scholar's API: write each paper on a separate line"),
    ({"results", "meta"}, "a complete response from OpenAlex's API: use `assayer corpus ingest openalex`"),
    ({"content", "forum"}, "a note from OpenReview, which is a proposal, not a paper record"),
)


_OWN = {"id", "title", "abstract"}
"""Fields that distinguish records in our format from records of services without their own converter."""


def parse_record(data: Mapping[str, Any]) -> PaperRecord:
    """Parse an object as a record, also from a known export format. Raises ValidationError if it is not a valid
    record."""
    return PaperRecord.model_validate(convert_export(data))


def describe_record_problem(error: ValidationError, data: Mapping[str, Any]) -> str:
    """Describe a record's first problem, and the export format that the record appears to have. Records from one export
    with the same problem get identical texts, so that they can be counted."""
    for fields, hint in _ELSEWHERE:
        if fields <= data.keys():
            return f"this looks like {hint}"
    name = next((name for fields, name in _EXPORTS if fields <= data.keys()), None)
    problem = describe_first_problem(error)
    return f"{problem} (this looks like {name})" if name else problem


def convert_export(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Convert a record from a known export to our format; return any other record unchanged. Values that do not fit
    become empty, and the later validation reports what is missing."""
    if {"authors_parsed", "categories"} <= data.keys():
        return _convert_kaggle_arxiv(data)
    if "paperId" in data and "title" in data:
        return _convert_semantic_scholar(data)
    if "title" in data and (isinstance(data.get("DOI"), str) or {"author", "issued"} <= data.keys()):
        return _convert_crossref(data)
    has_parts_of_names = any(isinstance(author, dict) for author in _convert_to_list(data.get("authors")))
    return data if data.keys() >= _OWN and not has_parts_of_names else convert_generic_record(data)


def _convert_kaggle_arxiv(data: Mapping[str, Any]) -> dict[str, Any]:
    raw_id = str(data.get("id") or "").strip()
    title, abstract = (" ".join(_convert_to_text(data.get(field)).split()) for field in ("title", "abstract"))
    author_names = [
        " ".join(part for part in (*reversed(author[:2]), *author[2:3]) if isinstance(part, str) and part)
        for author in _convert_to_list(data.get("authors_parsed"))
        if isinstance(author, list)
    ]
    versions = _convert_to_list(data.get("versions"))
    created_text = _convert_to_text(versions[0].get("created")) if versions and isinstance(versions[0], dict) else ""
    return {
        "id": f"arxiv:{parse_arxiv_id(raw_id) or raw_id}" if raw_id else "",
        "title": title,
        "abstract": abstract,
        "authors": [strip_tex(author) for author in author_names] or _split_names(data.get("authors")),
        "publication_date": _parse_rfc2822_date(created_text) or data.get("update_date"),
        "venue": data.get("journal-ref"),
        "url": f"https://arxiv.org/abs/{raw_id}" if parse_arxiv_id(raw_id) else "",
        "identifiers": {"arxiv": raw_id, "doi": _convert_to_text(data.get("doi")).split(" ")[0]},
        "fields": _convert_to_text(data.get("categories")).split(),
        "retracted": says_withdrawn(_convert_to_text(data.get("comments")), abstract),
    }


def _convert_semantic_scholar(data: Mapping[str, Any]) -> dict[str, Any]:
    external = data.get("externalIds")
    ids: Mapping[str, Any] = external if isinstance(external, dict) else {}
    corpus = ids.get("CorpusId") or data.get("corpusId")
    names = (author.get("name") for author in _convert_to_list(data.get("authors")) if isinstance(author, dict))
    return {
        "id": f"CorpusId:{corpus}" if corpus else _convert_to_text(data.get("paperId")),
        "title": strip_markup(_convert_to_text(data.get("title"))),
        "abstract": strip_markup(_convert_to_text(data.get("abstract"))),
        "authors": [name for name in names if isinstance(name, str) and name],
        "year": data.get("year"),
        "publication_date": data.get("publicationDate") or _parse_year(data.get("year")),
        "venue": data.get("venue"),
        "url": _convert_to_text(data.get("url")),
        "citation_count": data.get("citationCount"),
        "identifiers": {
            "s2": data.get("paperId"),
            "doi": ids.get("DOI"),
            "arxiv": ids.get("ArXiv"),
            "pubmed": ids.get("PubMed"),
            "pmc": ids.get("PubMedCentral"),
            "acl": ids.get("ACL"),
        },
        "fields": [field for field in _convert_to_list(data.get("fieldsOfStudy")) if isinstance(field, str)],
    }


def _convert_crossref(data: Mapping[str, Any]) -> dict[str, Any]:
    doi = find_doi(_convert_to_text(data.get("DOI")))
    title, subtitle = (strip_markup(_get_first(data.get(field))) for field in ("title", "subtitle"))
    if subtitle and not title.casefold().endswith(subtitle.casefold()):
        title = f"{title}: {subtitle}"
    date = next(
        (day for field in ("published", "issued", "created") if (day := _join_date_parts(data.get(field)))), None
    )
    return {
        "id": f"doi:{doi}" if doi else _convert_to_text(data.get("id")),
        "title": title,
        "abstract": strip_markup(_convert_to_text(data.get("abstract"))),
        "authors": [name for author in _convert_to_list(data.get("author")) if (name := _format_person(author))],
        "publication_date": date,
        "venue": strip_markup(_get_first(data.get("container-title"))),
        "url": _convert_to_text(data.get("URL")),
        "citation_count": data.get("is-referenced-by-count"),
        "identifiers": {"doi": doi, "arxiv": _convert_to_text(data.get("arxiv"))},
        "retracted": any(
            isinstance(notice, dict) and notice.get("type") in ("retraction", "withdrawal", "removal")
            for notice in _convert_to_list(data.get("updated-by"))
        ),
    }


def _convert_to_text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _get_first(value: Any) -> str:
    return _convert_to_text(value[0] if isinstance(value, list) and value else value)


def _convert_to_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _split_names(value: Any) -> list[str]:
    """Split a list of names such as `C. Bal\\'azs, E. L. Berger and P. Nadolsky`."""
    return [name for part in _convert_to_text(value).split(",") for name in parse_bibtex_names(part)]


def _format_person(author: Any) -> str:
    if not isinstance(author, dict):
        return ""
    family = " ".join(
        filter(None, (_convert_to_text(author.get("non-dropping-particle")), _convert_to_text(author.get("family"))))
    )
    parts = (_convert_to_text(author.get("given")), family, _convert_to_text(author.get("suffix")))
    return (
        " ".join(filter(None, parts)) or _convert_to_text(author.get("name")) or _convert_to_text(author.get("literal"))
    )


def _join_date_parts(value: Any) -> str | None:
    parts = value.get("date-parts") if isinstance(value, dict) else None
    numbers = parts[0] if isinstance(parts, list) and parts and isinstance(parts[0], list) else []
    date_numbers = [int(number) for number in numbers[:3] if isinstance(number, int | str) and str(number).isdigit()]
    if not date_numbers or not 1000 <= date_numbers[0] <= 9999:
        return None
    return "-".join([f"{date_numbers[0]:04}", *(f"{number:02}" for number in date_numbers[1:])])


def _parse_year(value: Any) -> str | None:
    return str(value) if isinstance(value, int) and 1000 <= value <= 9999 else None


def _parse_rfc2822_date(text: str) -> str | None:
    """Return the day of a date in email format, such as `Mon, 2 Apr 2007 19:18:42 GMT`."""
    try:
        return parsedate_to_datetime(text).astimezone(dt.UTC).date().isoformat()
    except (TypeError, ValueError, OverflowError):
        return None
