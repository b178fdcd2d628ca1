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

_HITS = 20
"""Number of papers in the corpus that are compared with a title."""
_QUERIES = 300
"""Maximum number of titles and keywords in one corpus search."""
_SHORTEST_TITLE = 8
_ABSTRACT_CHARS = 20_000
_COLLABORATION = 50
"""Authors of papers with more authors than this do not count as co-authors."""
_ADDRESS = re.compile(r"\bhttps?://\S+|\bdoi:?\s*$", re.IGNORECASE)
_YEAR_BESIDE = re.compile(r"[(\[]?\b(?:19|20)\d\d[a-z]?\b[)\]]?")


def read_papers(references: str) -> tuple[list[ReviewerPaper], list[str]]:
    """Parse a list of papers, in a reference manager's format or with one entry per line. Return the papers, and the
    first characters of each entry in which no title was recognised."""
    if not references.strip():
        return [], []
    try:
        file = read_bibliography(references, "The list")
    except InputError:
        lines = [line.strip(" \t\r•*") for line in references.splitlines()]
        works = [(_work_of_line(line), "") for line in lines if line]
        unread = [work.raw[:80] for work, _ in works if len(work.title) < _SHORTEST_TITLE]
    else:
        works = [(entry.work, entry.abstract) for entry in file.entries]
        unread = list(file.unread)
    return [_paper(work, abstract) for work, abstract in works if len(work.title) >= _SHORTEST_TITLE], unread


def _work_of_line(line: str) -> CitedWork:
    """Parse a line that contains either a formatted reference or a title, optionally with a DOI and a year."""
    parsed = parse_references(line)
    if len(parsed) == 1 and len(parsed[0].title) >= _SHORTEST_TITLE:
        return parsed[0]
    words = _YEAR_BESIDE.sub(" ", _ADDRESS.sub(" ", remove_identifiers(line)))
    title = " ".join(words.split()).strip(" .,;:-–()[]")
    return CitedWork(title=title, doi=next(dois_in(line), ""), arxiv=next(arxiv_ids_in(line), ""), raw=line)


def _paper(work: CitedWork, abstract: str) -> ReviewerPaper:
    return ReviewerPaper(
        title=work.title[:1_000],
        authors=tuple(author[:300] for author in work.authors),
        year=work.year if work.year and 1500 <= work.year <= 2200 else None,
        doi=work.doi[:300],
        abstract=abstract[:_ABSTRACT_CHARS],
    )


def distinct_papers(papers: Iterable[ReviewerPaper]) -> list[ReviewerPaper]:
    """Remove papers with duplicate titles, preferring those that a person listed."""
    by_title: dict[str, ReviewerPaper] = {}
    for paper in papers:
        earlier_paper = by_title.get(key := build_title_key(paper.title))
        if earlier_paper is None or (paper.listed_by_person and not earlier_paper.listed_by_person):
            by_title[key] = paper
    return list(by_title.values())


async def papers_in_corpus(
    corpus: Literature, name: str, papers: Sequence[ReviewerPaper], keywords: Sequence[str]
) -> list[ReviewerPaper]:
    """Return the listed papers, completed with data from the corpus, followed by other papers under the reviewer's
    name. The latter are found by searching the corpus for the listed titles and the keywords."""
    listed_papers = [paper for paper in papers if paper.listed_by_person]
    queries = [*(paper.title for paper in listed_papers), *keywords][:_QUERIES]
    answers = await corpus.search(queries, _HITS, OPEN) if queries else []
    completed_papers = [
        _completed(paper, answers[n] if n < len(answers) else []) for n, paper in enumerate(listed_papers)
    ]
    hits = {hit.paper.id: hit for answer in answers for hit in answer}
    other_papers = [_of_hit(hit, listed=False) for hit in hits.values() if _wrote(name, hit.paper.authors)]
    return distinct_papers([*completed_papers, *other_papers])


def _completed(paper: ReviewerPaper, hits: Sequence[Hit]) -> ReviewerPaper:
    work = CitedWork(title=paper.title, authors=paper.authors, year=paper.year, doi=paper.doi, raw=paper.title)
    match = find_best_match(work, [hit.paper for hit in hits])
    if match is None or match.other_title:
        return paper
    corpus_paper = _of_hit(next(hit for hit in hits if hit.paper is match.paper), listed=True)
    return corpus_paper.model_copy(update={"abstract": corpus_paper.abstract or paper.abstract})


def _of_hit(hit: Hit, *, listed: bool) -> ReviewerPaper:
    paper = hit.paper
    work = CitedWork(
        title=paper.title, authors=paper.authors, year=paper.year, doi=paper.identifiers.doi, raw=paper.title
    )
    found = _paper(work, paper.abstract if listed else "")
    return found.model_copy(update={"listed_by_person": listed, "in_corpus": True})


def coauthors(name: str, papers: Iterable[ReviewerPaper], since: int) -> dict[str, str]:
    """Return the person's co-authors on papers published in `since` or later, each with the title of a joint paper.
    Papers without a year are included; papers by large collaborations are not."""
    coauthor_years: dict[str, str] = {}
    for paper in papers:
        if (paper.year is None or paper.year >= since) and len(paper.authors) <= _COLLABORATION:
            for author in paper.authors:
                if not _wrote(name, [author]):
                    coauthor_years.setdefault(author, paper.title)
    return coauthor_years


def _wrote(name: str, authors: Iterable[str]) -> bool:
    """Return whether a person is among the authors. Family names must match, and first names too; if one of them is
    abbreviated, the initials must match."""
    name_parts = _name_parts(name)
    return len(name_parts) > 1 and any(_same_person(name_parts, _name_parts(author)) for author in authors)


def _same_person(own: Sequence[str], other: Sequence[str]) -> bool:
    if len(other) < 2 or own[-1] != other[-1]:
        return False
    return own[0] == other[0] or (min(len(own[0]), len(other[0])) == 1 and own[0][0] == other[0][0])


def _name_parts(name: str) -> list[str]:
    family, comma, first = name.partition(",")
    return re.findall(r"[^\W\d_]+", fold_text(f"{first} {family}" if comma else name))


def bids_by_place(
    bids: Mapping[tuple[str, str], str], proposals: Iterable[str], reviewers: Iterable[str]
) -> dict[tuple[int, int], str]:
    """Convert bids keyed by proposal and reviewer to bids keyed by their positions in the two lists."""
    rows, columns = ({name: place for place, name in enumerate(names)} for names in (proposals, reviewers))
    return {
        (rows[proposal], columns[reviewer]): bid
        for (proposal, reviewer), bid in bids.items()
        if proposal in rows and reviewer in columns
    }
