"""Semantic Scholar's paper and snippet objects: the fields that are used, and their conversion to papers."""

import re
from typing import Annotated

from pydantic import BeforeValidator, Field, RootModel

from assayer.literature.paper_identity import add_arxiv_id, find_doi, parse_arxiv_id
from assayer.models import Identifiers, Paper
from workers.literature_apis.record_fields import (
    ApiObject,
    CountOrNone,
    ObjectOrNone,
    TextOrEmpty,
    ValidEntries,
    check_link,
    clean_line,
    clean_prose,
    clean_title,
    compute_last_day,
    list_distinct_links,
    make_paper_id,
    parse_date,
)

SOURCE = "semantic_scholar"
FIELDS = "title,abstract,authors,venue,year,publicationDate,url,citationCount,externalIds,openAccessPdf"

_PAPER_ID = re.compile(r"[0-9a-f]{40}")
_DIGITS = re.compile(r"[0-9]{1,12}")
_ACL = re.compile(r"[\w.-]{5,60}", re.ASCII)


def _parse_digits(value: object) -> str:
    """Return digits as text; empty for anything else. The API sends some numbers as text."""
    text = str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""
    return text if _DIGITS.fullmatch(text) else ""


Digits = Annotated[str, BeforeValidator(_parse_digits)]


class _Author(ApiObject):
    name: TextOrEmpty = ""


class _Copy(ApiObject):
    url: TextOrEmpty = ""


class _ExternalIds(ApiObject):
    doi: TextOrEmpty = Field(default="", alias="DOI")
    arxiv: TextOrEmpty = Field(default="", alias="ArXiv")
    acl: TextOrEmpty = Field(default="", alias="ACL")
    pubmed: Digits = Field(default="", alias="PubMed")
    pmc: Digits = Field(default="", alias="PubMedCentral")
    corpus_id: Digits = Field(default="", alias="CorpusId")


class SemanticScholarPaper(ApiObject):
    """Paper record. `paperId` is missing if a reference could not be matched to a paper."""

    paper_id: TextOrEmpty = Field(default="", alias="paperId")
    title: TextOrEmpty = ""
    abstract: TextOrEmpty = ""
    authors: ValidEntries[_Author] = ()
    venue: TextOrEmpty = ""
    year: CountOrNone = None
    publication_date: TextOrEmpty = Field(default="", alias="publicationDate")
    url: TextOrEmpty = ""
    citation_count: CountOrNone = Field(default=None, alias="citationCount")
    external_ids: ObjectOrNone[_ExternalIds] = Field(default=None, alias="externalIds")
    open_access_pdf: ObjectOrNone[_Copy] = Field(default=None, alias="openAccessPdf")

    @property
    def corpus_id(self) -> str:
        return self.external_ids.corpus_id if self.external_ids else ""


class SearchPage(ApiObject):
    """One page of search results. `data` is missing if nothing was found."""

    next: CountOrNone = None
    data: ValidEntries[SemanticScholarPaper] = ()


class PaperBatch(RootModel[tuple[ObjectOrNone[SemanticScholarPaper], ...]]):
    """Papers in the order of the ids; None for an unknown id."""


class _Reference(ApiObject):
    paper: SemanticScholarPaper = Field(alias="citedPaper")


class ReferencePage(ApiObject):
    """One page of references. `data` is null if a publisher had the references removed."""

    next: CountOrNone = None
    data: ValidEntries[_Reference] = Field()


class _Citing(ApiObject):
    paper: SemanticScholarPaper = Field(alias="citingPaper")


class CitingPage(ApiObject):
    """One page of the papers that cite a given paper."""

    next: CountOrNone = None
    data: ValidEntries[_Citing] = ()


class RecommendedPapers(ApiObject):
    papers: ValidEntries[SemanticScholarPaper] = Field(alias="recommendedPapers")


class _Mention(ApiObject):
    corpus_id: Digits = Field(default="", alias="matchedPaperCorpusId")


class _Annotations(ApiObject):
    mentions: ValidEntries[_Mention] = Field(default=(), alias="refMentions")


class _Text(ApiObject):
    text: str
    kind: TextOrEmpty = Field(default="", alias="snippetKind")
    section: TextOrEmpty = ""
    annotations: ObjectOrNone[_Annotations] = None


class _Origin(ApiObject):
    corpus_id: Digits = Field(alias="corpusId")


class SnippetMatch(ApiObject):
    snippet: _Text
    paper: _Origin

    @property
    def cited(self) -> tuple[str, ...]:
        """Return the corpus ids of the papers that the snippet mentions, without duplicates."""
        mentions = self.snippet.annotations.mentions if self.snippet.annotations else ()
        return tuple(dict.fromkeys(mention.corpus_id for mention in mentions if mention.corpus_id))


class SnippetPage(ApiObject):
    data: ValidEntries[SnippetMatch] = Field()


def get_snippet_section(match: SnippetMatch) -> str:
    kind = match.snippet.kind
    return kind if kind in {"title", "abstract"} else clean_line(match.snippet.section) or "body"


def parse_identifiers(record: SemanticScholarPaper) -> Identifiers:
    ids = record.external_ids or _ExternalIds()
    return add_arxiv_id(
        Identifiers(
            doi=find_doi(ids.doi),
            arxiv=parse_arxiv_id(ids.arxiv),
            s2=record.paper_id if _PAPER_ID.fullmatch(record.paper_id) else "",
            pubmed=ids.pubmed,
            pmc=f"PMC{ids.pmc}" if ids.pmc else "",
            acl=ids.acl if _ACL.fullmatch(ids.acl) else "",
        )
    )


def build_request_id(paper: Identifiers) -> str:
    """Return the paper's id as used in requests; empty if the paper has no valid id, because one malformed id makes a
    whole batch fail."""
    if _PAPER_ID.fullmatch(paper.s2):
        return paper.s2
    if (arxiv := parse_arxiv_id(paper.arxiv)) and arxiv.isascii():
        return f"ARXIV:{arxiv}"
    if valid_doi := find_doi(paper.doi):
        return f"DOI:{valid_doi}"
    if _ACL.fullmatch(paper.acl):
        return f"ACL:{paper.acl}"
    if _DIGITS.fullmatch(paper.pubmed):
        return f"PMID:{paper.pubmed}"
    number = paper.pmc.removeprefix("PMC")
    return f"PMCID:{number}" if _DIGITS.fullmatch(number) else ""


def parse_paper(record: SemanticScholarPaper) -> Paper | None:
    """Convert a record to a paper, or return None if it has no id or title."""
    identifiers, title = parse_identifiers(record), clean_title(record.title)
    if not identifiers.s2 or not title:
        return None
    return Paper(
        id=make_paper_id("s2", identifiers.s2),
        title=title,
        abstract=clean_prose(record.abstract),
        authors=tuple(name for author in record.authors if (name := clean_line(author.name))),
        publication_date=parse_date(record.publication_date)
        or (compute_last_day(record.year) if record.year else None),
        venue=clean_line(record.venue),
        url=check_link(record.url),
        citation_count=record.citation_count,
        source=SOURCE,
        identifiers=identifiers,
        pdf_urls=list_distinct_links(record.open_access_pdf.url) if record.open_access_pdf else (),
    )
