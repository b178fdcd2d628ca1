"""Identifiers of papers in web addresses: of publishers, archives, indexes and their mirrors, and of services that hold
another address inside."""

import re
from typing import NamedTuple
from urllib.parse import unquote

from assayer.literature.paper_identity import add_arxiv_id, find_doi, parse_arxiv_id
from assayer.models import Identifiers

_MAX_CHARS = 2_000
_HOST = re.compile(
    r"(?:https?:/{1,2})?(?:[^/@\s]{1,80}@)?(?P<host>[\w.-]{3,200})(?::\d{1,5})?(?P<rest>.*)", re.IGNORECASE | re.DOTALL
)
_INNER_ADDRESS = re.compile(r"(?<=[/=?&])https?:/{1,2}", re.IGNORECASE)
"""Beginning of an address inside another: of a web archive, a proxy or a redirect."""
_FOLLOWING_ADDRESS = re.compile(r"(?<=[^/=?&])https?://|(?<=[.,;)\]])www\.", re.IGNORECASE)
"""Beginning of an address printed after another without a space."""
_DOI = re.compile(r"10\.\d{4,9}/")
_QUERY = re.compile(r"[?#&]")
_AFTER_DOI = re.compile(
    r"(?:/(?:full(?:[/.-]\w{1,20})?|full-?text(?:\.html?)?|abstract|abs|pdf|epdf|pdfft|meta|html|xml|summary|references|"
    r"citations?|figures?|tables?|suppl(?:ementary)?(?:[_-]\w+)?|suppl_file/\S*|metrics|issuetoc|download|asset/\S*)"
    r"|\.(?:full(?:[.-](?:pdf|text))?(?:\+html)?|abstract|short|long|pdf|e?pub|html?|xml|supplementary-material)"
    r"|;jsessionid=\S*)+/?$|/$",
    re.IGNORECASE,
)
"""Parts of an address that publishers add to a DOI."""
_VERSION = re.compile(r"^(?P<name>10\.(?:(?:1101|64898)/[\d.]{6,30}?|48550/arxiv\.\S{6,20}?))v\d{1,2}$", re.IGNORECASE)
"""DOI of a preprint server with the version that its addresses have."""
_RECORD_NUMBER = re.compile(r"(?<=\w)/\d{5,9}$")
_ARXIV = re.compile(
    r"(?P<mark>arxiv[:/]\s?|[/=](?:abs|pdf|html|ps|format|e-print|src|papers|arxiv|overview|audio|pid)?[/=:]?)"
    r"(?P<id>\d{4}\.\d{4,5}|[a-z-]{2,10}(?:\.[a-z-]{2,8})?/\d{7})(?:v\d{1,2})?(?!\d)",
    re.IGNORECASE,
)
_ARXIV_HOSTS = (
    "arxiv.org", "ar5iv.org", "alphaxiv.org", "arxiv-vanity.com", "arxiv-sanity.com", "arxiv-sanity-lite.com",
    "scirate.com", "huggingface.co", "semanticscholar.org", "inspirehep.net", "harvard.edu",
)  # fmt: skip
"""Hosts whose addresses hold arXiv ids."""


class _Rule(NamedTuple):
    path: re.Pattern[str]
    scheme: str
    form: str
    """Identifier with braces in place of what the pattern's group matches."""


def _build_rule(path: str, scheme: str, form: str = "{}") -> _Rule:
    return _Rule(re.compile(path, re.IGNORECASE), scheme, form)


_PMC = _build_rule(r"(PMC\d{3,9})", "pmc")
_ACL = (_build_rule(r"/([A-Z]\d{2}-\d{4}(?!\d)|\d{4}\.[a-z0-9_]+-[a-z0-9]+\.\d+)", "acl"),)
_RULES: dict[str, tuple[_Rule, ...]] = {
    "nature.com": (_build_rule(r"/articles/([a-z][\w-]*(?:\.\d{4}\.\d+)?)", "doi", "10.1038/{}"),),
    "elifesciences.org": (
        _build_rule(r"/(?:articles|reviewed-preprints|content)/(\d{5,6})", "doi", "10.7554/elife.{}"),
    ),
    "zenodo.org": (_build_rule(r"/records?/(\d{4,9})", "doi", "10.5281/zenodo.{}"),),
    "ssrn.com": (_build_rule(r"abstract(?:_?id)?=(\d{4,9})", "doi", "10.2139/ssrn.{}"),),
    "nber.org": (_build_rule(r"/(?:papers|working_papers)/(w\d{3,6})", "doi", "10.3386/{}"),),
    "jstor.org": (_build_rule(r"/(?:stable|pss)/(?:pdf/)?(\d{4,9})", "doi", "10.2307/{}"),),
    "peerj.com": (
        _build_rule(r"/articles/(\d{1,6})(?!\w)", "doi", "10.7717/peerj.{}"),
        _build_rule(r"/articles/cs-(\d{1,6})", "doi", "10.7717/peerj-cs.{}"),
    ),
    "psyarxiv.com": (_build_rule(r"^/([a-z0-9]{5})(?!\w)", "doi", "10.31234/osf.io/{}"),),
    "osf.io": (
        _build_rule(r"/preprints/psyarxiv/([a-z0-9]{5})", "doi", "10.31234/osf.io/{}"),
        _build_rule(r"/preprints/socarxiv/([a-z0-9]{5})", "doi", "10.31235/osf.io/{}"),
    ),
    "researchsquare.com": (_build_rule(r"/article/(rs-\d{4,9}/v\d{1,2})", "doi", "10.21203/rs.3.{}"),),
    "acm.org": (_build_rule(r"[?&](?:doid|id)=(\d{5,9}\.\d{5,9})", "doi", "10.1145/{}"),),
    "biorxiv.org": (_build_rule(r"/early/\d{4}/\d\d/\d\d/([\d.]{6,30}\d)", "doi", "10.1101/{}"),),
    "medrxiv.org": (_build_rule(r"/early/\d{4}/\d\d/\d\d/([\d.]{6,30}\d)", "doi", "10.1101/{}"),),
    "aclanthology.org": _ACL, "aclweb.org": _ACL, "aclanthology.info": _ACL, "uni-saarland.de": _ACL,
    "openreview.net": (_build_rule(r"^/(?:forum|pdf|attachment|revisions)\?(?:\S*&)?id=([\w-]{1,60})", "openreview"),),
    "nih.gov": (_PMC, _build_rule(r"(?:^/(?:pubmed/)?|/pubmed/\?term=)(\d{5,8})(?!\d)", "pubmed")),
    "europepmc.org": (_PMC, _build_rule(r"/MED/(\d{5,8})", "pubmed")),
    "semanticscholar.org": (_build_rule(r"/paper/(?:[^/\s]{1,300}/)?([0-9a-f]{40})(?!\w)", "s2"),),
    "openalex.org": (_build_rule(r"/(W\d{5,11})", "openalex"),),
}  # fmt: skip
"""Rules by host, without its subdomains."""
_UPPER_CASE = ("pmc", "openalex")


def find_identifiers(address: str) -> Identifiers:
    """Return the identifiers in the web address of a paper's page or file, whatever punctuation follows it."""
    address = _unquote(_FOLLOWING_ADDRESS.split(address.strip()[:_MAX_CHARS], maxsplit=1)[0])
    parts = [address[match.start() :] for match in reversed(list(_INNER_ADDRESS.finditer(address)))]
    return next(
        (found for part in [*parts, address] if (found := _parse_address(part)) != Identifiers()), Identifiers()
    )


def _parse_address(address: str) -> Identifiers:
    match = _HOST.match(address)
    if match is None:
        return Identifiers()
    host, rest = match["host"].lower(), match["rest"]
    site = ".".join(host.split(".")[-2:])
    rules = _RULES.get(site, ())
    if named := _find_arxiv_id(site, rest):
        return Identifiers(arxiv=named)
    if name := _find_doi(host, rest):
        return add_arxiv_id(Identifiers(doi=name))
    for rule in rules:
        if found := rule.path.search(rest):
            value = found[1].upper() if rule.scheme in _UPPER_CASE else found[1]
            return Identifiers.model_validate({rule.scheme: rule.form.format(value)})
    return Identifiers()


def _unquote(address: str) -> str:
    """Return an address without percent-encoding, also if it was encoded twice."""
    for _ in range(3):
        if "%" not in address:
            break
        address = unquote(address)
    return address


def _find_arxiv_id(site: str, rest: str) -> str:
    for match in _ARXIV.finditer(rest):
        if site in _ARXIV_HOSTS or match["mark"].lower().strip("/=").startswith("arxiv"):
            return parse_arxiv_id(match["id"])
    return ""


def _find_doi(host: str, rest: str) -> str:
    """Return the DOI in the path or query of a URL, without any suffix added by the publisher."""
    start = _DOI.search(rest)
    if start is None:
        return ""
    name = find_doi(_QUERY.split(rest[start.start() :], maxsplit=1)[0])
    shorter = _AFTER_DOI.sub("", name)
    if host.endswith("oup.com"):
        shorter = _RECORD_NUMBER.sub("", shorter)
    if version := _VERSION.match(shorter):
        shorter = version["name"]
    return find_doi(shorter) or name
