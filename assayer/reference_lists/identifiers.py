"""Complete identifiers in running text and in entries: DOIs and arXiv ids."""

import re
from collections.abc import Iterator

from assayer.literature.paper_addresses import find_identifiers
from assayer.literature.paper_identity import find_doi, parse_arxiv_id
from assayer.models import Identifiers

_CLOSING = '\\s"“”{}|\\\\^。，；、）（」』'
DOI = (
    rf"10\.\d{{4,9}}/(?:[^{_CLOSING}<>\[\]]|<(?=[\w:./-]{{1,60}}>)|(?<=\w)>(?=[\d.])"
    r"|\[[^\s\[\]]{1,40}\](?=\d)){1,250}"
)
"""Pattern of a DOI. DOIs of older journals contain `<` and `[`: `10.1002/(SICI)…365:1<113::AID-XNE9>3.0.CO;2-6`."""
_DOI = re.compile(rf"(?<![\w.]){DOI}", re.IGNORECASE)
_ARCHIVES = (
    "acc-phys|adap-org|alg-geom|ao-sci|astro-ph|atom-ph|bayes-an|chao-dyn|chem-ph|cmp-lg|comp-gas|cond-mat|cs|dg-ga|"
    "econ|eess|funct-an|gr-qc|hep-ex|hep-lat|hep-ph|hep-th|math|math-ph|mtrl-th|nlin|nucl-ex|nucl-th|patt-sol|physics|"
    "plasm-ph|q-alg|q-bio|q-fin|quant-ph|solv-int|stat|supr-con"
)
_OLD = rf"(?:{_ARCHIVES})(?:\.[A-Za-z-]{{2,8}})?/\d{{7}}"
_ARXIV = re.compile(
    rf"(?<![\w-])arxiv(?:\.org/(?:abs|pdf|html)/|[:.\s]{{0,3}}(?:preprint[\s,]{{1,3}})?(?:arxiv[:\s]{{1,2}})?(?:e-?prints?[\s,]{{1,3}})?"
    rf"(?:abs/)?)(?P<new>\d{{4}}\.\d{{4,5}}|[a-z-]{{2,10}}(?:\.[a-z-]{{2,8}})?/\d{{7}})(?:v\d+)?"
    rf"|\babs/(?P<corr>\d{{4}}\.\d{{4,5}})|(?<![\w/.-])(?P<old>{_OLD})(?:v\d+)?(?![\w/])"
    r"|10\.48550/arxiv\.(?P<registered>\d{4}\.\d{4,5}|[a-z-]{2,10}(?:\.[a-z-]{2,8})?/\d{7})"
    r"|(?<![\w-])e-?print[:\s]{1,2}(?P<eprint>\d{4}\.\d{4,5})",
    re.IGNORECASE,
)
ADDRESS = re.compile(rf"(?:https?://|www\.)\S+|(?:doi:?\s*)?{DOI}|(?:doi|arxiv):\s*\S+|{_ARXIV.pattern}", re.IGNORECASE)
"""Address or identifier, which is not part of a title or a year."""
_BROKEN_ARXIV = re.compile(r"(?P<start>arxiv:\s?\d{4}\.\d{0,4}) (?P<rest>\d{1,5})(?!\d)", re.IGNORECASE)
_AFTER_DOI = re.compile(r"[.;,]?(?:https?:|www\.|arxiv:|(?-i:PMC?ID|Epub|ISSN|ISBN))", re.IGNORECASE)
"""Beginning of an address or another identifier printed after a DOI without a space."""
_WEB_ADDRESS = re.compile(r"(?:https?://|(?<![\w.])www\.)(?:[^\s\"'“”]|'(?!>)){4,2000}", re.IGNORECASE)
_BROKEN_PII = re.compile(r"(?P<start>10\.\d{4,9}/[SB]?\d{4}-?\d{3}[\dX]\(\d\d\)) (?P<rest>\d{5}-[\dX])", re.IGNORECASE)
"""Publisher's item identifier in a DOI, broken by a line end: `10.1016/S1574-0110(02) 80007-8`."""
_BROKEN_ADDRESS = re.compile(
    r"(?P<start>(?:https?://|doi:\s?|10\.\d{4,9}/)\S*(?:[/._=-]|\w(?= [._/-]\w))) "
    r"(?P<rest>(?<=- )\d\S*|[._/-]\w\S*|[\w(][\w.()/:;-]*[\d/]\S*|[a-z][\w-]*(?:\.[a-z][\w-]*)*\.?$)"
)
"""Address or DOI that is broken by a line end. Its second part contains a digit or a slash, or ends the entry."""


def dois_in(text: str) -> Iterator[str]:
    """Yield the DOIs of a text, in normal form."""
    for piece, found in _part_addresses(text):
        if found.doi:
            yield found.doi
        plain = piece.replace("%3C", "<").replace("%3E", ">").replace("%3c", "<").replace("%3e", ">")
        for match in _DOI.finditer(plain):
            if name := find_doi(_AFTER_DOI.split(match[0], maxsplit=1)[0]):
                yield name


def arxiv_ids_in(text: str) -> Iterator[str]:
    """Yield the arXiv ids of a text, without version and subject class."""
    for piece, found in _part_addresses(text):
        if found.arxiv:
            yield found.arxiv
        for match in _ARXIV.finditer(piece):
            printed = match["new"] or match["corr"] or match["old"] or match["registered"] or match["eprint"]
            if name := parse_arxiv_id(printed):
                yield name


def _part_addresses(text: str) -> Iterator[tuple[str, Identifiers]]:
    """Yield the pieces of a text between its web addresses, each with the identifiers in the address above it."""
    start, found = 0, Identifiers()
    for match in _WEB_ADDRESS.finditer(text):
        yield text[start : match.start()], found
        start, found = match.end(), find_identifiers(match[0])
    yield text[start:], found


def rejoin_identifiers(entry: str) -> str:
    """Return an entry on one line, with identifiers rejoined that were broken by a line end."""

    def joined(match: "re.Match[str]") -> str:
        digits = len(match["start"].rpartition(".")[2]) + len(match["rest"])
        return match["start"] + match["rest"] if digits in (4, 5) else match[0]

    entry = _BROKEN_PII.sub(r"\g<start>\g<rest>", entry)
    return _BROKEN_ADDRESS.sub(r"\g<start>\g<rest>", _BROKEN_ARXIV.sub(joined, entry))
