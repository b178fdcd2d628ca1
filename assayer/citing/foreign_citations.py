"""Find foreign citations, which cite works that were not among an answer's evidence, by a short list of forms.

The forms are URLs, DOIs, arXiv and a few other ids, `et al.`, names with a year, citation commands, and titles in
quotation marks. Numbers in brackets and names without a year are not searched for, because they often mean something
else (error rates: docs/evidence/citations.md). Every pattern is bounded, so running time is linear in the length of the
text."""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import NamedTuple

from assayer.text.lookalikes import fold_lookalikes, normalise_words


class ForeignCitation(NamedTuple):
    start: int
    end: int
    kind: str
    """Form of the citation in words, such as `an author and a year`."""
    bracketed: bool
    """Whether the sentence stays readable without the citation."""


_TLD = "com|org|net|io|ai|edu|gov|dev|info|example|(?:ac|co)\\.uk"
_ADDRESS = re.compile(
    r"\b[a-z][a-z0-9+.-]{1,12}:\s?//[^\s)\]>]{1,2000}|(?<![:\w/])//[^\s)\]>/]{2,2000}|\bwww\.[^\s)\]>]{1,2000}"
    r"|\b(?:mailto|urn|javascript|data):[^\s)\]>]{1,2000}"
    rf"|(?<![\w.-])(?-i:(?:[a-z0-9-]{{2,63}}\[?\.\]?){{1,4}}(?:{_TLD}))(?![\w-])(?:/[^\s)\]>]{{0,2000}})?"
    r"|(?<![\w.])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){0,3}\.[a-z]{2,24}\b",
    re.IGNORECASE,
)
_IDENTIFIER = re.compile(
    r"(?:\bdoi\b[\s:.]{0,3})?(?<![\d.])10\.\d{4,9}\s?/\s?[^\s\"'<>]{1,120}"
    r"|ar\s?xiv\W{0,3}(?:preprint\W{0,3})?(?:abs/|pdf/)?(?:\d{4}\s?\.\s?\d{4,5}(?:v\d+)?|[a-z-]{2,10}/\d{7})"
    r"|(?<![\w./])(?:0[7-9]|[12]\d)(?:0[1-9]|1[0-2])\.\d{5}(?:v\d{1,2})?(?![\w.]?\d)"
    r"|\b(?:astro-ph|cond-mat|gr-qc|hep-(?:ex|lat|ph|th)|quant-ph|math|cs)(?:\.[A-Z]{2})?/\d{7}\b"
    r"|\b(?:PMID|PMCID|ISBN|CorpusID|S2CID)\b[\s:#-]{1,3}\d[\d-]{3,20}|\bPMC\d{5,9}\b",
    re.IGNORECASE,
)
_CITATION_COMMAND = re.compile(
    r"\\[A-Za-z]{0,8}cite[A-Za-z]{0,12}\*?\s?(?:\[[^\]\n]{0,60}\]){0,2}\{[^{}\n]{0,200}\}?|\[-?@[^\[\]\n]{1,120}\]?"
)

_YEAR = r"(?:1[6-9]|20)\d\d[a-h]?(?!\w)"
_NO_DATE = r"(?:in press|n\. ?d\.|forthcoming)"
_PARTICLES = r"(?:(?:van|von|de|der|den|del|di|la|el|al|ter|ten) ){0,2}"
_NAME = rf"{_PARTICLES}(?:[A-Z]['’]|Mc|Mac)?[A-Z][a-z]{{1,24}}(?:-[A-Z]?[a-z]{{1,24}})?"
_INITIALS = r"(?:,? ?(?:[A-Z]\.[ -]?){1,3})?"
_AND = r"(?:,? (?:and|&) |, )"
_NAMES = rf"{_NAME}{_INITIALS}(?:{_AND}{_NAME}{_INITIALS}){{1,4}}"
_REPORTING_VERB = (
    r"(?:shows?|showed|finds?|found|reports?|reported|proposes?|proposed|argues?|argued|demonstrate[sd]?|says?)\b"
)
_ET_AL = re.compile(rf"(?:\b{_NAME}{_INITIALS},? )?\b(?i:et\.? al)\b\.?(?:['’]s)?(?:,? ?[(\[]?{_YEAR}[)\]]?)?")
_COLLEAGUES = re.compile(rf"\b{_NAME} (?:and|&) (?:colleagues|co-?workers|co-?authors)\b(?: ?[(\[]{_YEAR}[)\]])?")
_SEVERAL_AUTHORS = re.compile(rf"(?<![\w-])(?P<name>{_NAMES})(?:['’]s?)?,? ?[(\[]?(?:{_YEAR}|{_NO_DATE})[)\]]?")
_SINGLE_AUTHOR = re.compile(
    rf"(?:\b(?P<before>[A-Z][\w'’-]{{1,30}}) )?(?<![\w-])(?P<name>{_NAME}{_INITIALS})(?:['’]s?)?"
    rf" ?[(\[](?:{_YEAR}|{_NO_DATE})[)\]](?P<verb> {_REPORTING_VERB})?"
)
_BEFORE_SINGLE_AUTHOR = re.compile(r"\b(?:[Bb]y|[Ss]ee|[Ff]ollowing|[Aa]s|cf\.|[Uu]nlike|[Aa]fter)\s$")
_BRACKET = re.compile(r"[(\[][^()\[\]]{4,240}[)\]]")
_BRACKETED_CITATION = re.compile(
    rf"(?:(?:see|also|e\.g\.|cf\.|following|in)[ ,]{{1,2}}){{0,3}}"
    rf"(?P<name>{_NAMES}|{_NAME}{_INITIALS},? (?i:et\.? al)\.?|{_NAME}{_INITIALS}(?=,)|[A-Z]{{4,20}}(?=,))"
    rf",? (?:{_YEAR}|{_NO_DATE})(?:[,:] [^;]{{0,60}})?$"
)
_SINGLE_KEY = r"[A-Z][A-Za-z]{1,30}\+?(?:19|20)?\d\d[a-h]?"
_BIBLIOGRAPHY_KEY = re.compile(rf"\[{_SINGLE_KEY}(?:[,;] ?{_SINGLE_KEY}){{0,9}}\]")
"""Matches bibliography keys such as `[SLB+21]` and `[Smith2021]`."""
_NOT_AUTHOR_NAMES = frozenset(
    """
    january february march april may june july august september october november december monday tuesday wednesday
    thursday friday saturday sunday spring summer autumn fall winter early mid late since until before after around
    about from during between in on of for to the this that these it its we our they figure fig table section appendix
    chapter equation phase stage version release edition year years act law treaty directive regulation olympics
    election census pandemic crisis war agreement week day month data dataset cohort updated published accessed
    released founded medicare medicaid covid europe africa america asia china india japan germany france italy spain
    russia ukraine brazil canada australia england britain london paris berlin tokyo
    """.split()  # noqa: SIM905 - words are read as text, not as a list
)
"""Capitalised words that occur next to a year but are not author names."""

_QUOTED_TITLE = re.compile(r"[\"“„«*_]{1,3}(?P<title>[^\"“”„«»*_\n]{12,300})[\"”“»*_]{1,3}")
_FUNCTION_WORDS = frozenset(
    "a an and are as at be by can for from in into is it not of on or over so than that the to via vs with".split()  # noqa: SIM905
)


def find_foreign_citations(text: str, get_shown_words: Callable[[], str] = lambda: "") -> list[ForeignCitation]:
    """Return the foreign citations in a text, in order and without overlaps. The text must not contain labels.
    `get_shown_words` returns everything shown to the model, in the form of `normalise_words`; a title that occurs there
    is not foreign."""
    plain, citations, titles = _parse_citations(text)
    foreign = list(citations)
    if titles:
        shown = get_shown_words()
        foreign += (
            ForeignCitation(start, end, "a title", False)
            for start, end in titles
            if f" {normalise_words(plain[start:end])} " not in shown
        )
    foreign_citations: list[ForeignCitation] = []
    for citation in sorted(foreign, key=lambda citation: (citation.start, -citation.end)):
        if not foreign_citations or citation.start >= foreign_citations[-1].end:
            foreign_citations.append(citation)
        elif citation.end > foreign_citations[-1].end:
            foreign_citations[-1] = foreign_citations[-1]._replace(end=citation.end, bracketed=False)
    return foreign_citations


@lru_cache(maxsize=1_024)
def _parse_citations(text: str) -> tuple[str, tuple[ForeignCitation, ...], tuple[tuple[int, int], ...]]:
    """Return the folded text, its citations and its titles. Cached because each text is processed twice: cleaned and
    checked."""
    plain = fold_lookalikes(text)
    titles = (match.span("title") for match in _QUOTED_TITLE.finditer(plain) if _is_title(match["title"]))
    return plain, tuple(_find_citations(plain)), tuple(titles)


def _find_citations(plain: str) -> Iterator[ForeignCitation]:
    for pattern, kind in ((_ADDRESS, "an address"), (_IDENTIFIER, "an identifier")):
        yield from (ForeignCitation(*match.span(), kind, False) for match in pattern.finditer(plain))
    for pattern, is_bracketed in (
        (_CITATION_COMMAND, True),
        (_BIBLIOGRAPHY_KEY, True),
        (_ET_AL, False),
        (_COLLEAGUES, False),
    ):
        yield from (
            ForeignCitation(*match.span(), "an author and a year", is_bracketed) for match in pattern.finditer(plain)
        )
    for match in _SEVERAL_AUTHORS.finditer(plain):
        if _names_people(match["name"]):
            yield ForeignCitation(*match.span(), "an author and a year", False)
    for match in _SINGLE_AUTHOR.finditer(plain):
        is_cited = match["verb"] or _BEFORE_SINGLE_AUTHOR.search(
            plain[max(0, match.start("name") - 12) : match.start("name")]
        )
        is_alone = match["before"] is None or match["before"].lower() in ("as", "by", "see", "following", "in", "and")
        if is_cited and is_alone and _names_people(match["name"]):
            yield ForeignCitation(match.start("name"), match.end(), "an author and a year", False)
    for match in _BRACKET.finditer(plain):
        parts = [_BRACKETED_CITATION.match(part.strip()) for part in match[0][1:-1].split(";")]
        if any(part is not None and _names_people(part["name"]) for part in parts):
            yield ForeignCitation(*match.span(), "an author and a year", True)


def _names_people(names: str) -> bool:
    return not any(word.strip(".,").lower() in _NOT_AUTHOR_NAMES for word in names.split() if word[:1].isupper())


def _is_title(text: str) -> bool:
    """Return whether a text looks like a title: four or more words, capitalised as in a title."""
    words = [word.strip(".,:;!?()") for word in text.split()]
    major_words = [word for word in words if word and word.lower() not in _FUNCTION_WORDS]
    capitals = sum(word[0].isupper() or word[0].isdigit() for word in major_words)
    return len(words) >= 4 and capitals >= 3 and capitals >= 0.8 * len(major_words)
