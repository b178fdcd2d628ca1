"""Count a work once, even if it has several records: preprint, publication, extended abstract, corrections."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from assayer.literature.paper_identity import ARXIV_DOIS, build_title_key, extract_family_name
from assayer.models import Hit, Paper, Passage
from assayer.text.folding import german_folded

_MIN_LETTERS = 24
"""Minimum number of letters in a title. An author is unlikely to use such a long title for two different works."""
_MAX_YEARS = 4
"""Maximum number of years between a work's preprint and its last record."""
_CORRECTION = re.compile(
    r"^\W*(?P<kind>(?:author |publisher )?corrections?|corrigend(?:um|a)|errat(?:um|a)|addendum|republished)"
    r"(?: (?:to|for|on))?\W+",
    re.IGNORECASE,
)
_KIND = re.compile(
    r"[\s:–—-]*[(\[]?\b(?P<kind>extended abstract|conference abstract|abstract only|student abstract|short paper|"
    r"preprint|poster(?: abstract)?|full version|extended version|working paper|technical report)\b[)\]]?\W*$",
    re.IGNORECASE,
)
_PREPRINT_VENUES = re.compile(
    r"\b(?:ar|bio|med|chem|psy|soc|eng|hal-)?rxiv|\bpreprints?\b|\bssrn\b|\bcorr\b|research square|\bosf\b|techrxiv",
    re.IGNORECASE,
)
_ABSTRACT, _PREPRINT, _PUBLICATION = "extended abstract", "preprint", "publication"

T = TypeVar("T")


def keep_one_paper_per_work(papers: Sequence[Paper]) -> list[Paper]:
    """Return the papers in order, keeping only each work's best record. Its `other_records` lists the others."""
    return _keep_one_per_work(papers, lambda paper: paper, lambda paper, lead: lead)


def keep_one_hit_per_work(hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits in order, keeping only each work's best record. Its `other_records` lists the others."""
    return _keep_one_per_work(hits, lambda hit: hit.paper, lambda hit, lead: hit.model_copy(update={"paper": lead}))


def keep_passages_of_best_records(passages: Sequence[Passage]) -> list[Passage]:
    """Return the passages in order, keeping only those from each work's best record. Its `other_records` lists the
    others."""
    leads = {paper.id: paper for paper in keep_one_paper_per_work([passage.paper for passage in passages])}
    return [
        passage.model_copy(update={"paper": leads[passage.paper.id]})
        for passage in passages
        if passage.paper.id in leads
    ]


def _keep_one_per_work(
    items: Sequence[T], get_paper: Callable[[T], Paper], replace_paper: Callable[[T, Paper], T]
) -> list[T]:
    groups: list[list[Paper]] = []
    by_key: dict[str, list[list[Paper]]] = {}
    for item in items:
        paper = get_paper(item)
        matching_groups = by_key.setdefault(_build_version_key(paper) or f"id:{paper.id}", [])
        group = next((group for group in matching_groups if _is_near_in_time(group, paper)), None)
        if group is None:
            matching_groups.append(group := [])
            groups.append(group)
        if paper.id not in {member.id for member in group}:
            group.append(paper)
    first_items = {paper.id: item for item in reversed(items) for paper in (get_paper(item),)}
    return [replace_paper(first_items[group[0].id], _choose_best_record(group)) for group in groups]


def _choose_best_record(records: Sequence[Paper]) -> Paper:
    """Return a work's best record: publications come before preprints, and preprints before abstracts and
    corrections."""
    best = min(records, key=_compute_sort_key)
    other_versions = tuple(_describe_record(record) for record in records if record.id != best.id)
    return best.model_copy(update={"other_records": other_versions}) if other_versions else best


def _compute_sort_key(paper: Paper) -> int:
    return {_PUBLICATION: 0, _PREPRINT: 1}.get(_classify_record(paper), 2)


def _classify_record(paper: Paper) -> str:
    if match := _CORRECTION.match(paper.title) or _KIND.search(paper.title):
        return match["kind"].casefold()
    doi = paper.identifiers.doi
    is_preprint = _PREPRINT_VENUES.search(paper.venue) or doi.startswith((ARXIV_DOIS, "10.1101/", "10.2139/"))
    if is_preprint or (paper.identifiers.arxiv and not paper.venue and not doi):
        return _PREPRINT
    return _ABSTRACT if "abstract" in paper.venue.casefold() else _PUBLICATION


def _describe_record(paper: Paper) -> str:
    year = str(paper.publication_date.year) if paper.publication_date else "undated"
    return ", ".join(part for part in (_classify_record(paper), paper.venue, year, paper.id) if part)


def _build_version_key(paper: Paper) -> str | None:
    """Return a key made of title and first author's family name. None if either is missing or the title is short."""
    title = build_title_key(_KIND.sub("", _CORRECTION.sub("", paper.title)))
    if len(title) < _MIN_LETTERS or not paper.authors:
        return None
    family = build_title_key(german_folded(extract_family_name(paper.authors[0])))
    return f"{title}|{family}" if family else None


def _is_near_in_time(group: Iterable[Paper], paper: Paper) -> bool:
    """Return whether a record's date is within a few years of the group's dates."""
    days = [item.publication_date for item in (*group, paper) if item.publication_date]
    return not days or max(days).year - min(days).year <= _MAX_YEARS
