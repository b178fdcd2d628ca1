"""Decide whether records describe the same paper: by normalised identifiers, else by title, year and first author."""

import html
import re
from collections.abc import Iterable
from urllib.parse import SplitResult, unquote, urlsplit

from assayer.models import Identifiers, Paper, title_without_retraction
from assayer.text.folding import fold_text

ARXIV_DOIS = "10.48550/"
"""Prefix of the DOIs that arXiv registers."""

_IN_DOI = r"[^\s\"“”{}|\\^。，；、]"
_DOI = re.compile(rf"10\.\d{{4,9}}/{_IN_DOI}{{1,400}}(?!{_IN_DOI})")
_ARXIV = re.compile(
    r"(?P<id>\d{4}\.\d{4,5}|(?P<archive>[a-z-]+)(?:\.[A-Z-]{2,8})?/(?P<number>\d{7}))(?:v\d+)?", re.IGNORECASE
)
_TAG = re.compile(r"</?[a-z]|<br|&lt;/|\]\(", re.IGNORECASE)
_ARXIV_DOI = re.compile(r"10\.48550/arxiv\.(?P<id>.+)", re.IGNORECASE)
_INITIALS = re.compile(r"(?:[A-ZÀ-ÖØ-Þ]\.?-?){1,4}")
_SUFFIX = re.compile(r"(?<=\w)[,\s]+(?:jr|sr|ii|iii|iv)\.?\s*$", re.IGNORECASE)
"""Generational suffix after a name."""
_MARKUP = re.compile(r"<[^<>]*>|\\[a-zA-Z]+")


def find_doi(text: str) -> str:
    """Return the DOI found in a text or URL, in lower case, without resolver or trailing punctuation. Empty if there is
    none."""
    match = _DOI.search(unquote(text.strip()))
    name = _strip_closing(match[0]).lower() if match else ""
    return name if _DOI.fullmatch(name) else ""


def _strip_closing(name: str) -> str:
    """Strip trailing punctuation from a DOI. A closing bracket stays if the DOI contains its opening bracket, as in
    `10.1061/(asce)…:4(319)`."""
    name = _TAG.split(name, maxsplit=1)[0]
    while name[-1:] and name[-1] in ".,;:>\"')]*_`":
        opening = {")": "(", "]": "[", ">": "<"}.get(name[-1])
        if opening and name.count(opening) >= name.count(name[-1]):
            break
        name = name[:-1]
    return name


def parse_arxiv_id(text: str) -> str:
    """Return the arXiv id from an id, URL or DOI, without version and subject class. Empty if there is none."""
    text = text.strip()
    by_doi = _ARXIV_DOI.search(text)
    if by_doi:
        text = by_doi["id"]
    path = _split_url(text).path if "://" in text else text.removeprefix("arXiv:").removeprefix("arxiv:")
    name = path.removeprefix("/abs/").removeprefix("/pdf/").removesuffix(".pdf").strip("/")
    match = _ARXIV.fullmatch(name)
    if match is None:
        return ""
    return f"{match['archive'].lower()}/{match['number']}" if match["archive"] else match["id"]


def _split_url(url: str) -> SplitResult:
    """Split a URL; if the text is not a URL, all parts are empty."""
    try:
        return urlsplit(url)
    except ValueError:
        return urlsplit("")


def add_arxiv_id(identifiers: Identifiers) -> Identifiers:
    """Return the identifiers, adding the arXiv id if the DOI is one that arXiv registered."""
    if not identifiers.arxiv and _ARXIV_DOI.fullmatch(identifiers.doi):
        return identifiers.model_copy(update={"arxiv": parse_arxiv_id(identifiers.doi)})
    return identifiers


def merge_identifiers(identifiers: Iterable[Identifiers]) -> Identifiers:
    """Merge several papers' identifiers; for each scheme, the first one wins."""
    merged: dict[str, str] = {}
    for identifier in identifiers:
        merged = {scheme: value for scheme, value in identifier if value} | merged
    return Identifiers.model_validate(merged)


def map_identifiers_by_scheme(identifiers: Identifiers) -> dict[str, str]:
    """Return the non-empty identifiers, keyed by scheme. A DOI registered by arXiv is dropped: it repeats the arXiv id,
    and must not conflict with a publisher's DOI."""
    known_identifiers = {scheme: value for scheme, value in add_arxiv_id(identifiers) if value}
    if known_identifiers.get("doi", "").startswith(ARXIV_DOIS):
        del known_identifiers["doi"]
    return known_identifiers


def build_title_key(title: str) -> str:
    """Return a title's letters and digits, without accents, case, markup or retraction mark, for comparison."""
    return "".join(letter for letter in normalise_title(title) if letter.isalnum())


def normalise_title(title: str) -> str:
    """Return a title in lower case, without accents, markup or retraction mark; `&` becomes `and`."""
    plain = html.unescape(title) if "&" in title else title
    plain = title_without_retraction(_MARKUP.sub(" ", plain)).replace("&", " and ")
    return fold_text(plain)


def extract_family_name(author: str) -> str:
    """Return the family name from a name in any of these forms: `Lee, A.`, `Ann Lee`, `A. LEE`, `Lee A`, `Ann Lee
    Jr.`."""
    author = _SUFFIX.sub("", author)
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


def build_work_key(paper: Paper) -> str | None:
    """Return a key made of title, year and first author's family name. None if one of them is missing or the title is
    too short."""
    title = build_title_key(paper.title)
    if len(title) < 16 or not paper.authors or paper.publication_date is None:
        return None
    family = build_title_key(extract_family_name(paper.authors[0]))
    return f"{title}|{paper.publication_date.year}|{family}" if family else None
