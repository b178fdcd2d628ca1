"""Semantic Scholar's paper and snippet objects: what is read of them and the papers they become."""

import re
from typing import Annotated

from pydantic import AliasChoices, BeforeValidator, Field, RootModel

from assayer.identity import arxiv_id, doi, with_arxiv
from assayer.models import Identifiers, Paper
from workers.sources.answers import Count, Entries, Maybe, Shape, Text
from workers.sources.fields import first_links, last_day, line, link, paper_id, prose, read_date

__all__ = [
    "FIELDS",
    "SOURCE",
    "Batch",
    "Bulk",
    "Found",
    "Links",
    "Recommended",
    "Record",
    "SnippetMatch",
    "SnippetsFound",
    "identifiers_of",
    "name_of",
    "paper_of",
    "section_of",
]

SOURCE = "semantic_scholar"
FIELDS = "title,abstract,authors,venue,year,publicationDate,url,citationCount,externalIds,openAccessPdf"

_PAPER_ID = re.compile(r"[0-9a-f]{40}")
_DIGITS = re.compile(r"[0-9]{1,12}")
_ACL = re.compile(r"[\w.-]{5,60}", re.ASCII)


def _digits(value: object) -> str:
    """Numbers come as text in some places and as numbers in others."""
    text = str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""
    return text if _DIGITS.fullmatch(text) else ""


Digits = Annotated[str, BeforeValidator(_digits)]


class _Author(Shape):
    name: Text = ""


class _Copy(Shape):
    url: Text = ""


class _ExternalIds(Shape):
    doi: Text = Field(default="", alias="DOI")
    arxiv: Text = Field(default="", alias="ArXiv")
    acl: Text = Field(default="", alias="ACL")
    pubmed: Digits = Field(default="", alias="PubMed")
    pmc: Digits = Field(default="", alias="PubMedCentral")
    corpus_id: Digits = Field(default="", alias="CorpusId")


class Record(Shape):
    """Without `paperId` where a reference could not be matched to a paper."""

    paper_id: Text = Field(default="", alias="paperId")
    title: Text = ""
    abstract: Text = ""
    authors: Entries[_Author] = ()
    venue: Text = ""
    year: Count = None
    publication_date: Text = Field(default="", alias="publicationDate")
    url: Text = ""
    citation_count: Count = Field(default=None, alias="citationCount")
    external_ids: Maybe[_ExternalIds] = Field(default=None, alias="externalIds")
    open_access_pdf: Maybe[_Copy] = Field(default=None, alias="openAccessPdf")

    @property
    def corpus_id(self) -> str:
        return self.external_ids.corpus_id if self.external_ids else ""


class Found(Shape):
    """A page of a search, without `data` when nothing was found."""

    next: Count = None
    data: Entries[Record] = ()


class Bulk(Shape):
    token: Text = ""
    data: Entries[Record] = ()


class Batch(RootModel[tuple[Maybe[Record], ...]]):
    """In the order of the ids; None for an unknown one."""


class _Link(Shape):
    paper: Record = Field(validation_alias=AliasChoices("citedPaper", "citingPaper"))


class Links(Shape):
    """A page of references or citations; `data` is null where a publisher had the references removed."""

    next: Count = None
    data: Entries[_Link] = Field()


class Recommended(Shape):
    papers: Entries[Record] = Field(alias="recommendedPapers")


class _Mention(Shape):
    corpus_id: Digits = Field(default="", alias="matchedPaperCorpusId")


class _Annotations(Shape):
    mentions: Entries[_Mention] = Field(default=(), alias="refMentions")


class _Text(Shape):
    text: str
    kind: Text = Field(default="", alias="snippetKind")
    section: Text = ""
    annotations: Maybe[_Annotations] = None


class _Origin(Shape):
    corpus_id: Digits = Field(alias="corpusId")


class SnippetMatch(Shape):
    snippet: _Text
    paper: _Origin

    @property
    def cited(self) -> tuple[str, ...]:
        """Corpus ids of the papers that it mentions, each once."""
        mentions = self.snippet.annotations.mentions if self.snippet.annotations else ()
        return tuple(dict.fromkeys(one.corpus_id for one in mentions if one.corpus_id))


class SnippetsFound(Shape):
    data: Entries[SnippetMatch] = Field()


def section_of(match: SnippetMatch) -> str:
    kind = match.snippet.kind
    return kind if kind in {"title", "abstract"} else line(match.snippet.section) or "body"


def identifiers_of(record: Record) -> Identifiers:
    ids = record.external_ids or _ExternalIds()
    return with_arxiv(
        Identifiers(
            doi=doi(ids.doi),
            arxiv=arxiv_id(ids.arxiv),
            s2=record.paper_id if _PAPER_ID.fullmatch(record.paper_id) else "",
            pubmed=ids.pubmed,
            pmc=f"PMC{ids.pmc}" if ids.pmc else "",
            acl=ids.acl if _ACL.fullmatch(ids.acl) else "",
        )
    )


def name_of(paper: Identifiers) -> str:
    """As requests write it; empty when it has no usable id. One malformed id spoils a whole batch."""
    if _PAPER_ID.fullmatch(paper.s2):
        return paper.s2
    if (arxiv := arxiv_id(paper.arxiv)) and arxiv.isascii():
        return f"ARXIV:{arxiv}"
    if registered := doi(paper.doi):
        return f"DOI:{registered}"
    if _ACL.fullmatch(paper.acl):
        return f"ACL:{paper.acl}"
    if _DIGITS.fullmatch(paper.pubmed):
        return f"PMID:{paper.pubmed}"
    number = paper.pmc.removeprefix("PMC")
    return f"PMCID:{number}" if _DIGITS.fullmatch(number) else ""


def paper_of(record: Record) -> Paper | None:
    """None for what has no id or no title."""
    identifiers, title = identifiers_of(record), line(record.title)
    if not identifiers.s2 or not title:
        return None
    return Paper(
        id=paper_id("s2", identifiers.s2),
        title=title,
        abstract=prose(record.abstract),
        authors=tuple(name for author in record.authors if (name := line(author.name))),
        publication_date=read_date(record.publication_date) or (last_day(record.year) if record.year else None),
        venue=line(record.venue),
        url=link(record.url),
        citation_count=record.citation_count,
        source=SOURCE,
        identifiers=identifiers,
        pdf_urls=first_links(record.open_access_pdf.url) if record.open_access_pdf else (),
    )
