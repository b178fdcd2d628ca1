"""Reviewers' papers and co-authors. The papers are parsed from reference lists and looked up in the corpus."""

import re
from collections.abc import Iterable, Mapping, Sequence

from assayer.errors import InputError
from assayer.literature.paper_identity import build_title_key
from assayer.models import OPEN, CitedWork, Hit
from assayer.own_references.matching import find_best_match, remove_identifiers
from assayer.ports import Literature
from assayer.reference_lists.bibliography_files import read_bibliography
from assayer.reference_lists.entry_parser import parse_references
from assayer.reference_lists.identifiers import arxiv_ids_in, dois_in
from assayer.text.folding import fold_text
from assayer_client.expertise import ReviewerPaper

_MAX_HITS = 20
"""Number of papers in the corpus that are compared with a title."""
_MAX_QUERIES = 300
"""Maximum number of titles and keywords in one corpus search."""
_MIN_TITLE_CHARS = 8
_MAX_ABSTRACT_CHARS = 20_000
_MAX_AUTHORS = 50
"""Authors of papers with more authors than this do not count as co-authors."""
_URL_OR_DOI = re.compile(r"\bhttps?://\S+|\bdoi:?\s*$", re.IGNORECASE)
_YEAR = re.compile(r"[(\[]?\b(?:19|20)\d\d[a-z]?\b[)\]]?")


def parse_papers(references: str) -> tuple[list[ReviewerPaper], list[str]]:
    """Parse a list of papers, in a reference manager's format or with one entry per line. Return the papers, and the
    first characters of each entry in which no title was recognised."""
    if not references.strip():
        return [], []
    try:
        bibliography = read_bibliography(references, "The list")
    except InputError:
        lines = [line.strip(" \t\r•*") for line in references.splitlines()]
        works = [(_parse_line(line), "") for line in lines if line]
        unrecognised_entries = [work.raw[:80] for work, _ in works if len(work.title) < _MIN_TITLE_CHARS]
    else:
        works = [(entry.work, entry.abstract) for entry in bibliography.entries]
        unrecognised_entries = list(bibliography.unparsed_entries)
    return [
        _build_paper(work, abstract) for work, abstract in works if len(work.title) >= _MIN_TITLE_CHARS
    ], unrecognised_entries


def _parse_line(line: str) -> CitedWork:
    """Parse a line that contains either a formatted reference or a title, optionally with a DOI and a year."""
    parsed = parse_references(line)
    if len(parsed) == 1 and len(parsed[0].title) >= _MIN_TITLE_CHARS:
        return parsed[0]
    words = _YEAR.sub(" ", _URL_OR_DOI.sub(" ", remove_identifiers(line)))
    title = " ".join(words.split()).strip(" .,;:-–()[]")
    return CitedWork(title=title, doi=next(dois_in(line), ""), arxiv=next(arxiv_ids_in(line), ""), raw=line)


def _build_paper(work: CitedWork, abstract: str) -> ReviewerPaper:
    return ReviewerPaper(
        title=work.title[:1_000],
        authors=tuple(author[:300] for author in work.authors),
        year=work.year if work.year and 1500 <= work.year <= 2200 else None,
        doi=work.doi[:300],
        abstract=abstract[:_MAX_ABSTRACT_CHARS],
    )


def remove_duplicate_papers(papers: Iterable[ReviewerPaper]) -> list[ReviewerPaper]:
    """Remove papers with duplicate titles, preferring those that a person listed."""
    papers_by_title: dict[str, ReviewerPaper] = {}
    for paper in papers:
        earlier_paper = papers_by_title.get(key := build_title_key(paper.title))
        if earlier_paper is None or (paper.listed_by_person and not earlier_paper.listed_by_person):
            papers_by_title[key] = paper
    return list(papers_by_title.values())


async def look_up_papers(
    corpus: Literature, name: str, papers: Sequence[ReviewerPaper], keywords: Sequence[str]
) -> list[ReviewerPaper]:
    """Return the listed papers, completed with data from the corpus, followed by other papers under the reviewer's
    name. The latter are found by searching the corpus for the listed titles and the keywords."""
    listed_papers = [paper for paper in papers if paper.listed_by_person]
    queries = [*(paper.title for paper in listed_papers), *keywords][:_MAX_QUERIES]
    answers = await corpus.search(queries, _MAX_HITS, OPEN) if queries else []
    completed_papers = [
        _complete_paper(paper, answers[index] if index < len(answers) else [])
        for index, paper in enumerate(listed_papers)
    ]
    hits = {hit.paper.id: hit for answer in answers for hit in answer}
    other_papers = [_convert_hit(hit, listed=False) for hit in hits.values() if _is_author(name, hit.paper.authors)]
    return remove_duplicate_papers([*completed_papers, *other_papers])


def _complete_paper(paper: ReviewerPaper, hits: Sequence[Hit]) -> ReviewerPaper:
    work = CitedWork(title=paper.title, authors=paper.authors, year=paper.year, doi=paper.doi, raw=paper.title)
    match = find_best_match(work, [hit.paper for hit in hits])
    if match is None or match.other_title:
        return paper
    corpus_paper = _convert_hit(next(hit for hit in hits if hit.paper is match.paper), listed=True)
    return corpus_paper.model_copy(update={"abstract": corpus_paper.abstract or paper.abstract})


def _convert_hit(hit: Hit, *, listed: bool) -> ReviewerPaper:
    paper = hit.paper
    work = CitedWork(
        title=paper.title, authors=paper.authors, year=paper.year, doi=paper.identifiers.doi, raw=paper.title
    )
    reviewer_paper = _build_paper(work, paper.abstract if listed else "")
    return reviewer_paper.model_copy(update={"listed_by_person": listed, "in_corpus": True})


def find_coauthors(name: str, papers: Iterable[ReviewerPaper], first_year: int) -> dict[str, str]:
    """Return the person's co-authors on papers published in `first_year` or later, each with the title of a joint
    paper. Papers without a year are included; papers by large collaborations are not."""
    titles_by_coauthor: dict[str, str] = {}
    for paper in papers:
        if (paper.year is None or paper.year >= first_year) and len(paper.authors) <= _MAX_AUTHORS:
            for author in paper.authors:
                if not _is_author(name, [author]):
                    titles_by_coauthor.setdefault(author, paper.title)
    return titles_by_coauthor


def _is_author(name: str, authors: Iterable[str]) -> bool:
    """Return whether a person is among the authors. Family names must match, and first names too; if one of them is
    abbreviated, the initials must match."""
    name_parts = _split_name(name)
    return len(name_parts) > 1 and any(_is_same_person(name_parts, _split_name(author)) for author in authors)


def _is_same_person(own_parts: Sequence[str], other_parts: Sequence[str]) -> bool:
    if len(other_parts) < 2 or own_parts[-1] != other_parts[-1]:
        return False
    return own_parts[0] == other_parts[0] or (
        min(len(own_parts[0]), len(other_parts[0])) == 1 and own_parts[0][0] == other_parts[0][0]
    )


def _split_name(name: str) -> list[str]:
    family, comma, first = name.partition(",")
    return re.findall(r"[^\W\d_]+", fold_text(f"{first} {family}" if comma else name))


def index_bids(
    bids: Mapping[tuple[str, str], str], proposals: Iterable[str], reviewers: Iterable[str]
) -> dict[tuple[int, int], str]:
    """Convert bids keyed by proposal and reviewer to bids keyed by their positions in the two lists."""
    rows, columns = ({name: index for index, name in enumerate(names)} for names in (proposals, reviewers))
    return {
        (rows[proposal], columns[reviewer]): bid
        for (proposal, reviewer), bid in bids.items()
        if proposal in rows and reviewer in columns
    }
