"""Merge a paper's records from several sources into one record, independently of their order.

Two records belong to the same paper if they share an identifier, or if title, year and first author agree
(`assayer.literature.paper_identity.build_work_key`), but never if an identifier differs between them or both are in the
corpus. Links are transitive: a record that shares an identifier with each of two others joins all three."""

import datetime as dt
from collections.abc import Callable, Iterable, Mapping, Sequence

from assayer.literature.paper_addresses import find_identifiers
from assayer.literature.paper_identity import (
    add_arxiv_id,
    build_work_key,
    map_identifiers_by_scheme,
    merge_identifiers,
)
from assayer.literature.retractions import choose_most_serious_retraction
from assayer.models import FieldOrigin, Identifiers, Paper

SOURCE_ORDER = ("corpus", "semantic_scholar", "openalex", "crossref", "arxiv")
"""Sources in order of precedence; all others follow by name. The corpus comes first because the operator chose its
contents."""

_SCHEMES = tuple(Identifiers.model_fields)
_CUT_OFF_ENDS = ("…", "...")
_MIN_RELATIVE_LENGTH = 0.8
"""Minimum length of an abstract, as a share of the longest, to count as equally long. Among these, the preferred
source's abstract is used."""


def add_url_identifiers(paper: Paper) -> Paper:
    """Add the identifiers found in the paper's own URL."""
    identifiers = merge_identifiers([add_arxiv_id(paper.identifiers), add_arxiv_id(find_identifiers(paper.url))])
    return paper if identifiers == paper.identifiers else paper.model_copy(update={"identifiers": identifiers})


def collect_identifiers(paper: Paper) -> dict[str, str]:
    """Return the identifiers by scheme, including a corpus paper's id, because it may have no other identifier. Ids in
    other sources are already among the identifiers."""
    return map_identifiers_by_scheme(paper.identifiers) | (
        {paper.source: paper.id} if paper.source == SOURCE_ORDER[0] else {}
    )


def have_same_identifiers(identifiers: Mapping[str, str], other_identifiers: Mapping[str, str]) -> bool:
    """Return whether each identifier scheme that occurs in both sets has the same value in both."""
    return all(
        identifiers[scheme] == other_identifiers[scheme] for scheme in identifiers.keys() & other_identifiers.keys()
    )


def group_by_paper(records: Iterable[Paper]) -> list[tuple[Paper, ...]]:
    """Group records by paper, best source first."""
    groups: list[tuple[Paper, ...]] = [(record,) for record in sorted(set(records), key=_build_sort_key)]
    while True:
        joined = _join_groups(groups)
        if len(joined) == len(groups):
            return joined
        groups = joined  # merged records may match further groups through their combined authors and year


def merge_records(records: Sequence[Paper], id_record: Paper | None = None) -> Paper:
    """Merge records, taking each field from the best source that has it. The id comes from `id_record` or, without it,
    from the best source."""
    ordered = sorted(records, key=_build_sort_key)
    lead = id_record or ordered[0]
    if len(ordered) == 1 and lead is ordered[0]:
        return lead
    paper_by_field = {field: choose(ordered) for field, choose in _CHOOSERS.items()}
    values = {field: getattr(paper, field) for field, paper in paper_by_field.items() if paper is not None}
    origins = [
        FieldOrigin(field=field, source=_find_origin(paper, field)) for field, paper in paper_by_field.items() if paper
    ]
    identifiers, identifier_origins = _merge_identifiers(ordered)
    urls, url_origins = _merge_pdf_urls(ordered)
    return lead.model_copy(
        update={
            **values,
            "identifiers": identifiers,
            "pdf_urls": urls,
            "versions": next((paper.versions for paper in ordered if paper.versions), None),
            "origins": tuple(
                item for item in [*origins, *identifier_origins, *url_origins] if item.source != lead.source
            ),
        }
    )


def _build_sort_key(paper: Paper) -> tuple[int, str, str, str]:
    rank = SOURCE_ORDER.index(paper.source) if paper.source in SOURCE_ORDER else len(SOURCE_ORDER)
    return rank, paper.source, paper.id, paper.model_dump_json()


def _join_groups(groups: Sequence[tuple[Paper, ...]]) -> list[tuple[Paper, ...]]:
    """Join linked groups whose identifiers agree. Shared identifiers take precedence over other links."""
    parents = list(range(len(groups)))
    identifiers = [
        {scheme: value for record in group for scheme, value in collect_identifiers(record).items()} for group in groups
    ]

    def find_root(index: int) -> int:
        while parents[index] != index:
            index = parents[index]
        return index

    for indices in _find_links(groups, identifiers):
        for index in indices[1:]:
            first, second = sorted((find_root(indices[0]), find_root(index)))
            if first != second and have_same_identifiers(identifiers[first], identifiers[second]):
                parents[second] = first
                identifiers[first] |= identifiers[second]
    papers_by_root: dict[int, list[Paper]] = {}
    for index, group in enumerate(groups):
        papers_by_root.setdefault(find_root(index), []).extend(group)
    return sorted(
        (tuple(sorted(item, key=_build_sort_key)) for item in papers_by_root.values()),
        key=lambda item: _build_sort_key(item[0]),
    )


def _find_links(
    groups: Sequence[tuple[Paper, ...]], identifiers_by_group: Sequence[Mapping[str, str]]
) -> list[list[int]]:
    """Return lists of indices of linked groups: first groups that share an identifier, then groups that share title,
    year and first author."""
    indices_by_link: dict[tuple[int, str, str], list[int]] = {}
    for index, identifiers in enumerate(identifiers_by_group):
        for scheme, value in identifiers.items():
            rank = _SCHEMES.index(scheme) if scheme in _SCHEMES else len(_SCHEMES)
            indices_by_link.setdefault((rank, scheme, value), []).append(index)
        key = build_work_key(merge_records(groups[index]))
        if key is not None:
            indices_by_link.setdefault((len(_SCHEMES) + 1, "", key), []).append(index)
    return [indices_by_link[link] for link in sorted(indices_by_link) if len(indices_by_link[link]) > 1]


def _choose_first_with(field: str) -> Callable[[Sequence[Paper]], Paper | None]:
    return lambda papers: next((paper for paper in papers if getattr(paper, field)), None)


def _choose_abstract(papers: Sequence[Paper]) -> Paper | None:
    """Return the record whose abstract to use: among untruncated abstracts about as long as the longest, the one from
    the best source."""
    with_abstract = [paper for paper in papers if paper.abstract.strip()]
    complete = [
        paper for paper in with_abstract if not paper.abstract.rstrip().endswith(_CUT_OFF_ENDS)
    ] or with_abstract
    longest = max((len(paper.abstract) for paper in complete), default=0)
    return next((paper for paper in complete if len(paper.abstract) >= _MIN_RELATIVE_LENGTH * longest), None)


def _choose_publication_date(papers: Sequence[Paper]) -> Paper | None:
    """Return the record with the earliest publication date, because that is when the paper could first be read. See
    docs/adr/0007."""
    dated = [paper for paper in papers if paper.publication_date is not None]
    return min(dated, key=lambda paper: paper.publication_date or dt.date.max, default=None)


def _choose_citation_count(papers: Sequence[Paper]) -> Paper | None:
    counted = [paper for paper in papers if paper.citation_count is not None]
    return max(counted, key=lambda paper: paper.citation_count or 0, default=None)


def _choose_retraction(papers: Sequence[Paper]) -> Paper | None:
    notices = [paper.retraction for paper in papers if paper.retraction is not None]
    return (
        next(paper for paper in papers if paper.retraction == choose_most_serious_retraction(notices))
        if notices
        else None
    )


_CHOOSERS: Mapping[str, Callable[[Sequence[Paper]], Paper | None]] = {
    "title": _choose_first_with("title"),
    "abstract": _choose_abstract,
    "authors": _choose_first_with("authors"),
    "publication_date": _choose_publication_date,
    "venue": _choose_first_with("venue"),
    "url": _choose_first_with("url"),
    "citation_count": _choose_citation_count,
    "retraction": _choose_retraction,
}
"""Functions that choose the record from which to take each field. They receive the records, best source first."""


def _find_origin(paper: Paper, field: str) -> str:
    return next((origin.source for origin in paper.origins if origin.field == field), paper.source)


def _merge_identifiers(papers: Sequence[Paper]) -> tuple[Identifiers, list[FieldOrigin]]:
    merged = merge_identifiers(paper.identifiers for paper in papers)
    papers_by_scheme = {
        scheme: next(paper for paper in papers if getattr(paper.identifiers, scheme) == value)
        for scheme, value in merged
        if value
    }
    fields = {f"identifiers.{scheme}": paper for scheme, paper in papers_by_scheme.items()}
    return merged, [FieldOrigin(field=field, source=_find_origin(paper, field)) for field, paper in fields.items()]


def _merge_pdf_urls(papers: Sequence[Paper]) -> tuple[tuple[str, ...], list[FieldOrigin]]:
    papers_by_url: dict[str, Paper] = {}
    for paper in papers:
        for url in paper.pdf_urls:
            papers_by_url.setdefault(url, paper)
    sources = dict.fromkeys(_find_origin(paper, "pdf_urls") for paper in papers_by_url.values())
    return tuple(papers_by_url), [FieldOrigin(field="pdf_urls", source=source) for source in sources]
