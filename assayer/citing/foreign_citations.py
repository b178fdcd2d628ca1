"""Citations that stand in a text although nobody gave them: found by their form, for a report may name only what it can
show.

Author and year, numbers in brackets, identifiers, addresses, quoted titles. A name without a year (“as Smith showed”)
or the name of a system is nothing that a form could tell. Every pattern is bounded, so that a text of any length is
read in time that grows with it.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from assayer.text.lookalikes import folded, words_of

__all__ = ["ForeignCitation", "foreign_citations"]


class ForeignCitation(NamedTuple):
    start: int
    end: int
    kind: str
    """What it looks like, in words: `an author and a year`."""
    bracketed: bool
    """Whether the sentence reads on without it."""


_YEAR = r"(?:1[6-9]|20)\d\d[a-h]?(?!\w)"
_NAME = r"(?:[A-Z]['’][A-Z]|Mac|Mc|De|Di|La|Le|Van|Von|Fitz|)[A-Z]?[a-z]{1,24}(?:[-'’][A-Za-z][a-z]{1,24}){0,2}"
_SURNAME = rf"(?<![\w.-])(?=[A-Z])(?:(?:[Vv][ao]n|[Dd]e[rnl]?|[Dd]i|[Ll]a|[Ee]l|[Aa]l|[Tt]e[rn]) ){{0,2}}{_NAME}"
_PARTICLED = rf"(?:(?:van|von|de|der|den|del|di|la|el|al|ter|ten|zu) ){{0,3}}(?=[A-Z]){_NAME}"
_INITIALS = r"(?:,? ?(?:[A-Z]\.[ -]?){1,3}(?![a-z]))?"
_AND = r"(?:, ?(?:and|&) |,? (?:and|&) |, ?)"
_AUTHORS = rf"(?<![\w-])(?P<last>{_PARTICLED}){_INITIALS}(?:{_AND}{_PARTICLED}{_INITIALS}){{0,4}}"
_ET_AL = rf"(?<![^\W\d_])(?i:et)\.?\s{{0,3}}(?i:al)(?![a-z])\.?|и дp\.|等人?\s?[(\[]?(?={_YEAR})"
_COLLEAGUES = r"(?:and|&) (?:colleagues|co-?workers|co-?authors|collaborators|associates)\b"
_REPORTS = (
    r"(?:show|shew|found|find|report|propos|demonstrat|argu|introduc|prov|observ|suggest|conclud|establish|describ|claim"
    r"|conjectur|note)"
)
_WORK = (
    r"(?:paper|stud(?:y|ies)|work|article|preprint|thesis|book|review|analysis|experiments?|results?|findings?|proof)"
)

_NO_NAMES = frozenset(
    """
    january february march april may june july august september october november december spring summer autumn fall
    winter monday tuesday wednesday thursday friday saturday sunday early mid late since until before after around about
    circa from during between by in on as of for to the this that these those an it its we our their they figure fig
    table section sec appendix chapter equation eq step phase stage version release edition year years period wave round
    fiscal fy quarter baseline act law treaty directive regulation olympics election elections census pandemic crisis
    recession war summit agreement protocol week day month data dataset benchmark cohort copyright published updated
    retrieved accessed released founded est established current today now ca approximately approx over under through
    post pre covid brexit europe america africa asia china india japan germany france italy spain russia ukraine brazil
    canada australia england britain london paris berlin tokyo beijing york california
    """.split()  # noqa: SIM905 - words are read as text, not as a list
)
"""Capitalised words that stand before a year and are nobody's name."""
_PREFIX = re.compile(
    r"(?:(?:see|also|e\.?g\.?|i\.?e\.?|cf\.?|compare|following|after|by|from|as in|as|in|reviewed|shown|proposed"
    r"|based on|adapted|introduced|developed|according to|unlike|similar to|and|or|but)[,:]?\s+){1,4}",
    re.IGNORECASE,
)

_ANY_YEAR = re.compile(_YEAR)
_ET_AL_CITED = re.compile(
    rf"(?:{_SURNAME}{_INITIALS},? ){{0,3}}(?:{_ET_AL})(?:['’]s)?(?:[ ,]{{0,2}}[(\[]?\s?{_YEAR}\s?[)\]]?)?"
)
_COLLEAGUES_CITED = re.compile(rf"(?<![\w-])(?P<last>{_PARTICLED}) {_COLLEAGUES}(?: ?[(\[]\s?{_YEAR}\s?[)\]])?")
_NO_YEAR = r"(?:in press|forthcoming|to appear|in preparation|n\. ?d\.)"
_NARRATIVE = re.compile(
    rf"{_AUTHORS}(?:['’]s?)? ?[(\[]\s?(?:(?:in )?{_YEAR}(?:[,;:] ?[^()\[\]]{{1,60}})?|{_NO_YEAR})[)\]]"
)
_NAMES_WITH_YEAR = re.compile(rf"(?P<names>(?:{_NAME} (?:and|&) )?{_NAME}) ?\(\s?(?P<year>{_YEAR})\s?\)")
_PAIR = re.compile(rf"(?<![\w-])(?P<last>{_PARTICLED}) (?:and|&) {_PARTICLED}(?:['’]s?)?,? ?{_YEAR}")
_YEAR_SAYS = re.compile(rf"{_AUTHORS}(?:['’]s?)?,? {_YEAR}\)?,? (?:{_REPORTS}|{_WORK}\b)")
_BY_YEAR = re.compile(
    rf"\b(?:by|see|cf\.|per|following|pace) (?P<last>{_PARTICLED})(?: (?:and|&) {_PARTICLED})?,? {_YEAR}"
)

_GROUP = re.compile(r"[(\[{][^()\[\]{}]{1,240}[)\]}]")
_PART_WITH_COMMA = re.compile(
    r"(?P<last>[^\W\d_][\w.'’&-]{0,30})(?:,? [\w.'’&-]{1,30}){0,9}, ?(?:"
    rf"{_YEAR}|['’]\d\d(?!\d)|n\. ?d\.|in press|forthcoming|to appear|submitted|personal communication|unpublished)"
    r"(?P<rest>(?:, ?\d{4}[a-h]?){0,6}(?:[,:] ?[^;]{0,60})?)$"
)
_PART_WITHOUT = re.compile(rf"{_AUTHORS}(?:['’]s?)? (?:{_YEAR}|['’]\d\d(?!\d))(?:[,:] ?[^;]{{0,60}})?$")
_KEY = re.compile(r"[A-Z][A-Za-z-]{1,30}\+?[:_]?(?:['’]?\d\d|(?:19|20)\d\d)(?:[a-h]|[A-Za-z]{2,20}|:[\w-]{1,30})?$")
"""Keys that bibliographies are made with: `Smi21`, `SLB+21`, `smith2021attention`."""

_LOCATOR = (
    r"(?:,?\s?(?:pp?|sect?|section|figs?|figure|tab|table|ch|chapter|eqs?|thm|theorem|app|appendix)\.?\s?[\w.-]{1,10})?"
)
_NUMBERS = re.compile(
    rf"(?:(?:refs?|nos?)\.? ?)?#?\^?\d{{1,4}}(?:\s?(?:[,;&-]|--|to|and)\s?#?\d{{1,4}}){{0,30}}{_LOCATOR}", re.IGNORECASE
)
_INTERVAL_BEFORE = re.compile(
    r"\b(?:range|ranges|ranging|interval|intervals|scale|scaled|between|values?|scores?|rated|ratings?|normali[sz]ed?"
    r"|clip|clipped|bounded|bounds?|within|limits?|confidence|CI|IQR|median|mean|domain|map|maps|mapped|rescaled"
    r"|uniform|sampled|lies?|window|weights?|probabilit(?:y|ies)|shape|tensor|vector|array|indices|index"
    r"|estimate|estimated|likert|odds|ratio)"
    r"(?:[ (](?:of|in|is|the|to|are|at|was|were|on|over|by|from|lie|lies|[\d.,%]{1,8})){0,3}[ (]{0,2}$"
    r"|[∈=~≈≤≥<>×^:%]\s?$",
    re.IGNORECASE,
)
_INDEXED = re.compile(r"(?:(?<![^\W\d_])[^\W\d_]{1,2}\d{0,2}(?:\([^()]{0,12}\))?|[_}])(?:\[[^\[\]]{1,12}\]){0,3}$")
"""What stands before an index, as in `x[1]`, `f(x)[1]` and `x[1][2]`; a longer word, `GPT-4` and a closing bracket may
be followed by a citation without a space."""
_REFERENCE = re.compile(
    r"\b(?:[Rr]efs?\.|[Rr]eferences?|[Cc]itations?|[Ff]ootnotes?|[Bb]ibliography entry)\s?(?:no\.\s?|#)?\[?\d{1,3}\b"
)
_RAISED = re.compile(r"(?:[^\W\d_]{4}|[^\W\d_]{2}[.,;:)\]])(?P<digits>[¹²³⁰⁴-⁹][¹²³⁰⁴-⁹⁻,˒–-]{0,20})(?![^\W\d_])")
_COMMAND = re.compile(
    r"\\[A-Za-z]{0,8}cite[A-Za-z]{0,12}\*?\s?(?:\[[^\]\n]{0,60}\]){0,2}\{[^{}\n]{0,200}\}?|\[-?@[^\[\]\n]{1,120}\]?"
)

_ARXIV = re.compile(
    r"ar\s?[xχ]\s?iv\W{0,3}(?:preprint\W{0,3})?(?:id\W{0,3}|abs/|pdf/)?(?:\d{4}\s?\.\s?\d{4,5}(?:v\d+)?|[a-z-]{2,10}(?:\.[A-Z]{2})?/\d{7})"
    r"|(?<![\w./])(?:0[7-9]|[1-3]\d)(?:0[1-9]|1[0-2])\.\d{5}(?:v\d{1,2})?(?![\w.]?\d)"
    r"|\b(?:astro-ph|cond-mat|gr-qc|hep-(?:ex|lat|ph|th)|math-ph|nucl-(?:ex|th)|quant-ph|nlin|physics|math|cs|q-bio|stat)"
    r"(?:\.[A-Z]{2})?/\d{7}\b",
    re.IGNORECASE,
)
_DOI = re.compile(
    r"(?:\bdoi\b[\s:.]{0,3})?(?<![\d.])10\.\s?\d{4,9}\s?/\s?[^\s\"'<>]{1,120}|\bdoi\s?[:.]\s?\S{1,120}", re.IGNORECASE
)
_IDENTIFIER = re.compile(
    r"\b(?:PMID|PMCID|ISBN(?:-1[03])?|ISSN|CorpusI[dD]|S2CID|OpenAlex|OpenReview|ACL Anthology|SSRN|NBER)\b[\s:#]{0,3}"
    r"(?:ID|id|forum|Working Paper|No\.?)?[\s:#=]{0,3}(?=[\w-]{0,12}\d)[A-Za-z0-9-]{4,40}"
    r"|\bPMC\d{5,9}\b|\b[A-Z]\d{2}-\d{4}\b|\b20\d\d\.[a-z]{2,12}-[a-z]{2,12}\.\d{1,4}\b|\bhal-\d{6,9}\b"
)
_ANY_NUMBER = re.compile(r"\d\d|[Pp]p\.|doi|DOI")
_PAGES = re.compile(
    r"\b[Vv]ol(?:ume|\.)\s?\d{1,4}\b[^.;]{0,30}\d|\bpp\.\s?\d{1,5}|\b\d{1,4}\s?\(\d{1,3}\)\s?:\s?\d{1,5}"
    r"|\b[A-Z][a-z]{2,20}\.? \d{1,4}\s?:\s?\d{1,6}-\d{1,6}"
)

_TLD = (
    "com|org|net|io|ai|edu|gov|dev|info|science|xyz|app|me|tv|cc|ly|gl|eu|uk|de|fr|ch|nl|at|cn|jp|ru|in|br|au|ca|us|se"
    "|no|es|it|pl|kr|tw|example"
)
_DOT = r"(?:\.|\s?[\[({]\s?(?:\.|dot)\s?[\])}]\s?| dot )"
_ADDRESS = re.compile(
    r"\b[a-z][a-z0-9+.-]{1,12}:\s?//[^\s)\]>]{1,2000}|(?<![:\w/])//[^\s)\]>/]{2,2000}"
    r"|\bwww\s?\.\s?[^\s)\]>]{1,2000}|\b(?:mailto|hxxps?|urn|javascript|data):[^\s)\]>]{1,2000}"
    rf"|(?<![\w.-])(?:[a-z0-9-]{{1,63}}{_DOT}){{1,5}}(?:{_TLD})(?![\w-])(?:/[^\s)\]>]{{0,2000}})?"
    r"|(?<![\w.-])(?:[a-z0-9-]{1,63}\.){1,5}[a-z]{2,12}/[^\s)\]>]{1,2000}"
    r"|(?<![\w.])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){0,3}\.[a-z]{2,24}\b",
    re.IGNORECASE,
)
_ANY_ADDRESS = re.compile(r"[@/]|\w[.:]\w|[Ww][Ww][Ww]|dot\b|[\[({]\s?\.")
_NO_HOST = re.compile(
    r"(?:e\.g|i\.e|vs|etc|fig|eq|no|al|cf|approx|p|et)\.(?:in|it|no|at|us|me|is|we|an?|es|ai|de)$", re.IGNORECASE
)

_QUOTED = re.compile(r"[\"“„«‘*_]{1,3}(?P<title>[^\"“”„«»‘’*_\n]{12,300})[\"”“»’*_]{1,3}")
_SINGLE_QUOTED = re.compile(r"(?<!\w)['‘](?P<title>[^\"“”„«»‘’'\n]{12,300})['’](?!\w)")
_ANNOUNCED = re.compile(
    r"(?:titled|entitled|called|named|papers?|articles?|stud(?:y|ies)|preprints?|surveys?|works?|book|thesis|report|in|see|by)"
    r"[,:]?\s{0,2}$",
    re.IGNORECASE,
)
_SMALL = frozenset(
    """
    a an and are as at be but by can do does for from in into is it not of on or over so than that the to via vs with
    """.split()  # noqa: SIM905 - words are read as text, not as a list
)
_RUN = r"[A-Z0-9][\w'’-]{0,30}(?: (?:[a-z]{1,4} ){0,3}[A-Z0-9][\w'’-]{0,30})"
_TITLED_RUN = re.compile(
    rf"(?<![“\"*#] )(?<![\w“\"*#])(?P<with_colon>[A-Z][\w'’-]{{1,30}}(?: [\w'’-]{{1,30}}){{0,3}}: {_RUN}{{3,20}})"
    rf"|\b(?:papers?|article|preprint|survey|book|thesis),? (?P<announced>{_RUN}{{2,20}})"
)

Finder = Callable[[str, str], Iterator[tuple[int, int, bool]]]


def foreign_citations(text: str, given: Callable[[], str] = lambda: "") -> list[ForeignCitation]:
    """In order, without overlaps. The text is without labels of our own; `given` makes the words, as `words_of` makes
    them, of everything that was shown: a title among them is not foreign."""
    seen = _seen(text)
    found = [one for one in seen.found if not _is_shown_title_with_year(seen.plain, one, given)]
    found += _titles(seen, given)
    return _without_overlaps(found)


class _Seen(NamedTuple):
    """What a text looks like to whoever does not know what was shown."""

    plain: str
    found: tuple[ForeignCitation, ...]
    titles: tuple[tuple[int, int], ...]
    runs: tuple[tuple[int, int], ...]
    """Of capitalised words."""


@lru_cache(maxsize=1_024)
def _seen(text: str) -> _Seen:
    """A text of an answer is looked at when it is cleaned and when it is checked."""
    plain = folded(text)
    found = tuple(
        ForeignCitation(start, end, kind, bracketed)
        for kind, find in _FINDERS
        for start, end, bracketed in find(plain, text)
    )
    titles = tuple(
        match.span("title")
        for pattern in (_QUOTED, _SINGLE_QUOTED)
        for match in pattern.finditer(plain)
        if _is_title_like(match["title"])
        or (_ANNOUNCED.search(plain[max(0, match.start() - 20) : match.start()]) and len(match["title"].split()) >= 4)
    )
    runs = tuple(match.span(match.lastgroup or 0) for match in _TITLED_RUN.finditer(plain))
    return _Seen(plain, found, titles, runs)


def _named(match: re.Match[str]) -> bool:
    """Whether the word next to the year can be somebody's name."""
    return match["last"].casefold().split(" ")[-1].partition("'")[0] not in _NO_NAMES


def _authors(plain: str, text: str) -> Iterator[tuple[int, int, bool]]:
    yield from ((*match.span(), False) for match in _ET_AL_CITED.finditer(plain))
    with_year = (_PAIR, _YEAR_SAYS, _BY_YEAR) if _ANY_YEAR.search(plain) else ()
    for pattern in (_COLLEAGUES_CITED, _NARRATIVE, *with_year):
        yield from ((*match.span(), False) for match in pattern.finditer(plain) if _named(match))


def _groups(plain: str, text: str) -> Iterator[tuple[int, int, bool]]:
    """Brackets that hold nothing but citations, or one of them beside other words."""
    for group in _GROUP.finditer(plain):
        inside = group[0][1:-1]
        if any(_is_cited(part.strip()) for part in inside.split(";")) or (
            plain[group.start()] == "[" and all(_KEY.match(part.strip()) for part in re.split("[,;]", inside))
        ):
            yield (*group.span(), True)


def _is_cited(part: str) -> bool:
    part = _PREFIX.sub("", part, count=1) if _PREFIX.match(part) else part
    match = _PART_WITH_COMMA.match(part) or _PART_WITHOUT.match(part)
    return match is not None and match["last"].casefold() not in _NO_NAMES


def _numbers(plain: str, text: str) -> Iterator[tuple[int, int, bool]]:
    for group in _GROUP.finditer(plain):
        if (
            group[0][0] + group[0][-1] == "[]"
            and _NUMBERS.fullmatch(group[0][1:-1].strip())
            and not _is_interval(plain, group)
        ):
            yield (*group.span(), True)
    yield from ((*match.span(), False) for match in _REFERENCE.finditer(plain))
    if not text.isascii():
        yield from ((*match.span("digits"), True) for match in _RAISED.finditer(text))
    if "\\" in plain or "@" in plain:
        yield from ((*match.span(), True) for match in _COMMAND.finditer(plain))


def _is_interval(plain: str, group: re.Match[str]) -> bool:
    """`[0, 1]`, and what words or signs before it make an interval or an index."""
    before = plain[max(0, group.start() - 60) : group.start()]
    numbers = [int(one) for one in re.findall(r"\d+", group[0])]
    if _INDEXED.search(before):
        return True
    if len(numbers) != 2 or "," not in group[0]:
        return bool(len(numbers) <= 2 and re.search(r"[∈=×^]\s?$|scale (?:of )?$", before))
    return numbers[0] == 0 or (numbers[0] < numbers[1] and _INTERVAL_BEFORE.search(before) is not None)


def _identifiers(plain: str, text: str) -> Iterator[tuple[int, int, bool]]:
    if not _ANY_NUMBER.search(plain):
        return
    for pattern in (_ARXIV, _DOI, _IDENTIFIER, _PAGES):
        yield from ((*match.span(), False) for match in pattern.finditer(plain))


def _addresses(plain: str, text: str) -> Iterator[tuple[int, int, bool]]:
    if _ANY_ADDRESS.search(plain):
        for match in _ADDRESS.finditer(plain):
            if not _NO_HOST.match(match[0]):
                yield (*match.span(), False)


def _titles(seen: _Seen, given: Callable[[], str]) -> Iterator[ForeignCitation]:
    if seen.titles or seen.runs:
        shown = given()
        yield from (
            ForeignCitation(start, end, "a title", False)
            for start, end in seen.titles
            if f" {words_of(seen.plain[start:end])} " not in shown
        )
        yield from (
            ForeignCitation(start, end, "a title", False)
            for start, end in seen.runs
            if not _is_shown_run(seen.plain[start:end], shown)
        )


def _is_shown_run(run: str, shown: str) -> bool:
    """What stands before a colon may be the answer's own (“Earlier work: …”), and the last words the beginning of what
    comes next; six words of a title, or all but its last, tell which it is."""
    for one in (run, run.partition(": ")[2]):
        words = words_of(one).split()
        begin = words if len(words) < 4 else words[: min(6, len(words) - 1)]
        if begin and f" {' '.join(begin)} " in shown:
            return True
    return False


def _is_shown_title_with_year(plain: str, found: ForeignCitation, given: Callable[[], str]) -> bool:
    """`… for Language Understanding (2019)` of a title that was shown: three words of it have to stand there, and not
    with the year, as a text that cites has them."""
    match = _NAMES_WITH_YEAR.fullmatch(plain, found.start, found.end)
    if match is None:
        return False
    words = words_of(plain[max(0, found.start - 80) : match.end("names")]).split()[-3:]
    shown = given()
    return len(words) == 3 and f" {' '.join(words)} " in shown and f" {words[-1]} {match['year']} " not in shown


def _is_title_like(text: str) -> bool:
    """At least four words, with capitals where titles have them."""
    words = [word.strip(".,:;!?()") for word in text.split()]
    if len(words) < 4:
        return False
    weighty = [word for word in words if word and word.lower() not in _SMALL]
    capitals = sum(word[0].isupper() or word[0].isdigit() for word in weighty)
    return capitals >= 3 and capitals >= 0.8 * len(weighty)


_FINDERS: tuple[tuple[str, Finder], ...] = (
    ("an author and a year", _authors),
    ("an author and a year", _groups),
    ("a number in brackets", _numbers),
    ("an identifier", _identifiers),
    ("an address", _addresses),
)


def _without_overlaps(found: Iterable[ForeignCitation]) -> list[ForeignCitation]:
    kept: list[ForeignCitation] = []
    for one in sorted(found, key=lambda each: (each.start, -each.end)):
        if kept and one.start < kept[-1].end:
            if one.end > kept[-1].end:
                kept[-1] = kept[-1]._replace(end=one.end, bracketed=False)
        else:
            kept.append(one)
    return kept
