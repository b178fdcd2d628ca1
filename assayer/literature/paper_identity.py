"""When two records are the same paper: identifiers in their normal form, else title, year and first author."""

import re
import unicodedata
from collections.abc import Iterable
from urllib.parse import SplitResult, unquote, urlsplit

from assayer.models import Identifiers, Paper

__all__ = [
    "ARXIV_DOIS",
    "arxiv_id",
    "doi",
    "family_name",
    "identifiers_by_scheme",
    "identifiers_in",
    "same_key",
    "title_key",
    "united_identifiers",
    "with_arxiv",
]

ARXIV_DOIS = "10.48550/"
"""What DOIs that arXiv registers begin with."""

_DOI = re.compile(r"10\.\d{4,9}/\S{1,400}(?!\S)")
_ARXIV = re.compile(r"(?P<id>\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7})(?:v\d+)?", re.IGNORECASE)
_ARXIV_DOI = re.compile(r"10\.48550/arxiv\.(?P<id>.+)", re.IGNORECASE)
_ACL = re.compile(r"(?:[A-Z]\d{2}-\d{4}|\d{4}\.[a-z0-9]+-[a-z0-9]+\.\d+)", re.IGNORECASE)
_INITIALS = re.compile(r"(?:[A-ZÀ-ÖØ-Þ]\.?-?){1,4}")
_PMC = re.compile(r"PMC\d+", re.IGNORECASE)


def doi(text: str) -> str:
    """The DOI in a text or URL, lower case, without resolver and closing punctuation; empty when there is none."""
    match = _DOI.search(unquote(text.strip()))
    name = _without_closing(match[0]).lower() if match else ""
    return name if _DOI.fullmatch(name) else ""


def _without_closing(name: str) -> str:
    """Without punctuation at its end; brackets that it opened itself are its own: `10.1061/(asce)…:4(319)`."""
    while name[-1:] and name[-1] in ".,;>\"')]":
        opening = {")": "(", "]": "["}.get(name[-1])
        if opening and name.count(opening) >= name.count(name[-1]):
            break
        name = name[:-1]
    return name


def arxiv_id(text: str) -> str:
    """The arXiv id in an id, URL or DOI, without version; empty when there is none."""
    text = text.strip()
    by_doi = _ARXIV_DOI.search(text)
    if by_doi:
        text = by_doi["id"]
    path = _split(text).path if "://" in text else text.removeprefix("arXiv:").removeprefix("arxiv:")
    name = path.removeprefix("/abs/").removeprefix("/pdf/").removesuffix(".pdf").strip("/")
    match = _ARXIV.fullmatch(name)
    return match["id"] if match else ""


def _split(url: str) -> SplitResult:
    """Empty for what is no URL at all."""
    try:
        return urlsplit(url)
    except ValueError:
        return urlsplit("")


def identifiers_in(url: str) -> Identifiers:
    """What a landing page or PDF address itself says about the paper behind it."""
    parts = _split(url.strip())
    host, path = (parts.hostname or "").removeprefix("www."), parts.path
    if host == "arxiv.org" or host.endswith(".arxiv.org"):
        return Identifiers(arxiv=arxiv_id(url))
    if host == "aclanthology.org":
        match = _ACL.search(path)
        return Identifiers(acl=match[0] if match else "")
    if host == "openreview.net":
        forum = dict(pair.split("=", 1) for pair in parts.query.split("&") if "=" in pair).get("id", "")
        return Identifiers(openreview=forum)
    if host.endswith("ncbi.nlm.nih.gov"):
        match = _PMC.search(path)
        return Identifiers(pmc=match[0].upper() if match else "")
    return with_arxiv(Identifiers(doi=doi(url)))


def with_arxiv(identifiers: Identifiers) -> Identifiers:
    """arXiv registers a DOI for every paper: one tells the other."""
    if not identifiers.arxiv and _ARXIV_DOI.fullmatch(identifiers.doi):
        return identifiers.model_copy(update={"arxiv": arxiv_id(identifiers.doi)})
    return identifiers


def united_identifiers(identifiers: Iterable[Identifiers]) -> Identifiers:
    """All of them together; of two in one scheme the first."""
    together: dict[str, str] = {}
    for one in identifiers:
        together = {scheme: value for scheme, value in one if value} | together
    return Identifiers.model_validate(together)


def identifiers_by_scheme(identifiers: Identifiers) -> dict[str, str]:
    """The identifiers that there are. A DOI that arXiv registers is the arXiv id spelt otherwise: it contradicts no
    publisher's."""
    found = {scheme: value for scheme, value in with_arxiv(identifiers) if value}
    if found.get("doi", "").startswith(ARXIV_DOIS):
        del found["doi"]
    return found


def title_key(title: str) -> str:
    """Letters and digits only, without accents, case and markup; equal for spellings of one title."""
    plain = unicodedata.normalize("NFKD", re.sub(r"<[^<>]*>|\\[a-zA-Z]+", " ", title)).casefold()
    return "".join(letter for letter in plain if letter.isalnum())


def family_name(author: str) -> str:
    """Of `Lee, A.`, `Ann Lee`, `A. LEE` and `Lee A` alike."""
    family, comma, _ = author.partition(",")
    if comma:
        return family.strip()
    words = author.split()
    if not words or _INITIALS.fullmatch(words[0]):
        return words[-1] if words else ""
    while len(words) > 1 and _INITIALS.fullmatch(words[-1]):
        words.pop()
        if not _INITIALS.fullmatch(words[-1]):
            return " ".join(words)
    return words[-1]


def same_key(paper: Paper) -> str | None:
    """Title, year and first author's family name; None when one of them is missing or the title says too little."""
    title = title_key(paper.title)
    if len(title) < 16 or not paper.authors or paper.publication_date is None:
        return None
    family = title_key(family_name(paper.authors[0]))
    return f"{title}|{paper.publication_date.year}|{family}" if family else None
