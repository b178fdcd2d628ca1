"""Find mentions of funders and grant numbers."""

import re
from collections.abc import Iterator

from assayer.blinding.names import UPPER
from assayer.blinding.spans import MaskSpan
from assayer.blinding.word_lists import split_words

_FUNDER = (
    r"(?:NSF|NIH|ERC|DFG|EPSRC|BBSRC|ESRC|MRC|NERC|STFC|UKRI|DARPA|IARPA|ONR|AFOSR|ARO|DOE|NASA|NSERC|CIHR|"
    r"SSHRC|SNSF|SNF|"
    r"ANR|JSPS|JST|NSFC|ARC|NHMRC|NWO|FWF|FNRS|BMBF|NRF|FAPESP|CNPq|ISF|BSF|Horizon (?:2020|Europe)|"
    r"Marie (?:Sk[łl]odowska[- ])?Curie)"
)
_MONEY = (
    rf"(?:\b(?:grants?|awards?|fellowships?|scholarships?|contract|agreement|funding|foundation|council|"
    rf"ministry|stiftung|"
    rf"bourse|endowment|trust|program(?:me)?s?)\b|\b(?-i:{_FUNDER})\b)"
)
_FUNDED = re.compile(
    r"\b(?:funded|financed|sponsored|supported|funding|support|grants?|fellowship)"
    r"(?: (?:in part|in full|partly|partially|fully|generously|jointly|financially|received|provided|from|is|"
    r"was)){0,3}"
    r" (?:by|from|through|under) (?=(?:an? |the )?(?-i:[A-ZÀ-Þ]))",
    re.I,
)
_OURS = re.compile(
    r"(?:\b(?:this|our|my|we|I|us|me)\b|\b(?:project|work|research|study|authors?|PI|applicants?|proposal|"
    r"position|award)\b(?: \w+){0,2}"
    r"|(?:^|[.!?\n*#:(])\s*)[^.!?\n]{0,60}$",
    re.I,
)
_FUNDER_WORD = re.compile(r"[\w'’&/.#-]{1,40}")
_BETWEEN = re.compile(r" \(|\),? ?| |, (?=(?:and |the )?[A-Z\d])")
_SMALL = split_words(
    """
    of the and for in on to under by from a an through grant grants award awards no no. nos. number numbers
    program programme fellowship scholarship agreement contract project foundation council funding via und für
    de la du
    """
)
_CODE = (
    r"(?!(?:19|20)\d\d[-/](?:19|20)\d\d\b)"  # years
    r"(?:[A-Z]{2,4} \d{3,5}/\d{1,2}-\d{1,2}|(?=[A-Z\d/._-]{0,24}\d{2})[A-Z\d][A-Z\d]{0,11}"
    r"(?:[-/.][A-Z\d]{1,11}){0,4}(?: ?\d{5,9}| [A-Z]{2}\d{5,6}(?:-\d\d)?)?)"
)
_GRANT = re.compile(
    rf"\b(?:(?-i:{_FUNDER})[ ,/-]{{1,2}})?(?:(?:grant|award|contract|fellowship|scholarship|project|"
    rf"funding)s?(?: (?:agreement|reference))?|agreement)"
    rf"(?: ?(?:nos?\.?|nr\.?|numbers?|id|ref(?:erence)?|#))?[ :#(]{{1,3}}(?:(?-i:{_FUNDER})[ -])?"
    rf"(?P<code>(?-i:{_CODE}))"
    rf"(?:(?:,| and|, and) (?:grant )?(?-i:(?=[A-Z\d/-]{{0,12}}\d{{4}})[A-Z\d/-]{{5,24}})){{0,6}}",
    re.I,
)
_FUNDER_CODE = re.compile(
    rf"\b{_FUNDER}[ ,:-]{{1,2}}(?:[A-Z]{{2,5}} )?(?=[A-Z\d/-]{{0,12}}\d{{4}})"
    rf"[A-Z\d]{{1,10}}(?:[-/][A-Z\d]{{1,10}}){{0,3}}"
    r"|\b(?:EP|BB|ES|NE|ST|MR)/[A-Z]\d{6}/\d\b|\b[RUKPFTD]\d{2}[ -]?[A-Z]{2}-?\d{6}(?:-\d\d)?\b"
    r"|\b(?:IIS|CCF|CNS|DMS|DMR|CHE|PHY|BCS|CBET|CMMI|DGE|EAR|IOS|DEB|MCB|OAC|SES|ECCS)-\d{7}\b"
    r"|\bJP\d{2}[A-Z]\d{5}\b|\b[A-Z]{2,4} \d{3,5}/\d{1,2}-\d{1,2}\b"
)
_CODE_IN_BRACKETS = re.compile(
    r"\((?:grant|award|contract|fellowship)s?(?: agreement)?(?: (?:nos?\.?|numbers?|id|#))?[ :#]{0,2}"
    r"(?=[A-Z\d /.-]{0,24}\d{2})(?-i:[A-Z\d][A-Z\d /.-]{2,24})\)",
    re.I,
)
_AWARD = (
    rf"(?:\b{_FUNDER}\b|\b[{UPPER}][\w'’.-]{{1,24}} (?:(?:[{UPPER}][\w'’.-]{{1,24}}|of|and|for|the) ){{0,5}}"
    r"(?:Grant|Award|Fellowship|Scholarship|Prize|Foundation|Council|Trust|Fund|Ministry)\b)"
)
_AWARDED = re.compile(_AWARD)
_HOLDS = re.compile(
    r"\b(?:I|we|(?:the |our )?(?:PI|principal investigator|applicants?|authors?|team|group|lab|proposer)|"
    r"[Mm]y \w{1,20})"
    r"(?: (?:am|are|is|was|were|have|has|had|been|also|now|currently|recently|already|previously|the|an?)){0,4}"
    r" (?:holds?|held|received?s?|awarded|won|obtained|secured|granted|recipients? of|holders? of|funded by|paid by) "
    rf"(?=(?:(?:an?|the|two|three|several) )?[{UPPER}])"
)
_THANKS = re.compile(
    r"\b(?:thanks?|(?:thankful|grateful|indebted) to|acknowledges?|acknowledging)"
    r"(?: (?:the|financial|generous|funding|support|grants?|from|by|of|for|and|provided)){0,6} "
    rf"(?=(?-i:[{UPPER}]))",
    re.I,
)
_NUMBER_WORD = re.compile(r"\b(?:nos?\b|nr\b|numbers?|id\b|ref|agreement)|#", re.I)
_GRANT_WORD = re.compile(_MONEY, re.I)


def funding_mentions(text: str) -> Iterator[MaskSpan]:
    """Yield the spans that name funders and grant numbers. Support by a grant, a council or a funder counts as funding;
    `supported by evidence` does not."""
    for match in _FUNDED.finditer(text):
        end = _clause_end(text, match.end())
        if _GRANT_WORD.search(text, match.end(), end) and _OURS.search(
            text[max(0, match.start() - 120) : match.start()]
        ):
            yield MaskSpan(match.end(), end, "funding")
    for pattern in (_HOLDS, _THANKS):
        for match in pattern.finditer(text):
            end = _clause_end(text, match.end())
            if _AWARDED.search(text, match.end(), end):
                yield MaskSpan(match.end(), end, "funding")
    for match in _CODE_IN_BRACKETS.finditer(text):
        yield MaskSpan(*match.span(), "funding")
    for match in _GRANT.finditer(text):
        if _is_number_of_grant(match):
            yield MaskSpan(*match.span(), "funding")
    for match in _FUNDER_CODE.finditer(text):
        yield MaskSpan(*match.span(), "funding")


def _is_number_of_grant(match: "re.Match[str]") -> bool:
    """Return whether the match is a grant number. `Award R01 GM123456` and `grant no. 815` are; `project 2025` is
    not."""
    code = match["code"]
    digits = sum(map(str.isdigit, code))
    announced = _NUMBER_WORD.search(match[0][: match.start("code") - match.start()]) is not None
    return digits >= 5 or (digits >= 4 and not code.isdigit()) or (announced and digits >= 3)


def _clause_end(text: str, start: int) -> int:
    """Return the offset at which a funder's name ends. The name consists of capitalised words, numbers and lower-case
    words between them."""
    place = end = start
    while place < min(len(text), start + 300):
        word = _FUNDER_WORD.match(text, place)
        if word is None:
            break
        bare = word[0].rstrip(".")
        if bare[:1].isupper() or bare[:1].isdigit() or bare[:1] == "#":
            end = word.start() + len(bare)
        elif word[0].lower() not in _SMALL:
            break
        if word[0].endswith(".") and word[0].lower() not in _SMALL:
            break
        between = _BETWEEN.match(text, word.end())
        if between is None:
            break
        place = between.end()
    return end + (text[end : end + 1] == ")" and text.count("(", start, end) > text.count(")", start, end))
