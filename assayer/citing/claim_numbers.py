"""Numbers of a claim that stand in none of the texts it cites, nor in the idea.

Texts are read generously: a share as a part of one and as per cent, thousands and millions written in any way, small
numbers as words, and rounded. What is left over in a claim was not read there, whatever else it may be.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Set
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache
from typing import NamedTuple

from assayer.citing.labels import MARKER
from assayer.models import PaperId
from assayer.text.lookalikes import folded

__all__ = ["KnownNumbers", "numbers_in"]

_NUMBER = re.compile(
    r"(?<![0-9])(?P<digits>[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]{1,12})?|[0-9]{1,15}(?:\.[0-9]{1,12})?)"
    r"(?![0-9])(?P<unit>\s?(?:%|percent\b|per\scent\b)|\s?(?:thousand|million|billion|trillion)\b|[A-Za-z]{1,10}\b)?",
    re.IGNORECASE,
)
_APART = re.compile(r"(?<![0-9])[0-9]{1,3}(?: [0-9]{3}){1,4}(?![0-9])")
"""Thousands apart, `12 000`."""
_COMMA = re.compile(r"(?<![0-9,.])[0-9]{1,9},[0-9]{1,2}(?![0-9,])")
"""A decimal comma."""
_RAISED = re.compile("[¹²³⁰⁴-⁹₀-₉½¼¾]")
_TIMES = {
    "k": 10**3, "thousand": 10**3, "m": 10**6, "million": 10**6, "b": 10**9, "bn": 10**9, "billion": 10**9,
    "t": 10**12, "trillion": 10**12,
}  # fmt: skip
_SHARES = frozenset(("%", "percent", "per cent"))
_WORDS = {
    word: Decimal(number)
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve".split()  # noqa: SIM905
    )
} | {"twice": Decimal(2), "double": Decimal(2), "half": Decimal("0.5"), "twenty": Decimal(20), "hundred": Decimal(100)}
_WORD = re.compile(r"[a-z]{3,7}")
_ORDINAL = frozenset(("st", "nd", "rd", "th", "d"))
_GLUED = re.compile(r"[A-Za-z][-–_]?$")
"""Before a number that is part of a name, `GPT-4`."""
_COUNTED = re.compile(
    r"\b(?:table|figure|fig\.?|section|sec\.?|equation|eq\.?|appendix|chapter|algorithm|version|step|stage"
    r"|phase|level|type|part|layer|question|hypothesis|aim|claim|study|experiment|group|no\.?|method|dimension)\s$",
    re.IGNORECASE,
)
"""Before a number that counts things of their kind, `Table 2`."""
_LAST_COUNTED = 20
"""`We study 5000 patients` and `we group 40 items` name nothing."""
_NAME_LOOK_BACK = 14
"""Characters."""


class _Stated(NamedTuple):
    written: str
    readings: tuple[tuple[Decimal, ...], ...]
    """It is known if all numbers of one of them are."""


def numbers_in(text: str) -> frozenset[Decimal]:
    """Every number of a text, in all the ways it may be told again."""
    return _numbers_in(_read(text))


def _read(text: str) -> str:
    """As long as the text, in plain digits. What stands raised or lowered beside a number is a mark or a power."""
    return folded(_RAISED.sub(" ", text))


@lru_cache(maxsize=256)
def _numbers_in(text: str) -> frozenset[Decimal]:
    """Kept, as the same papers are cited by many claims."""
    found = {value for match in _NUMBER.finditer(text) for value in _values(match)}
    found |= {Decimal(match[0].replace(" ", "")) for match in _APART.finditer(text)}
    found |= {Decimal(match[0].replace(",", ".")) for match in _COMMA.finditer(text)}
    found |= {_WORDS[word] for word in _WORD.findall(text.casefold()) if word in _WORDS}
    found |= {share for value in found if value < 1 for share in (value * 100,)}
    return frozenset(rounded for value in found for rounded in (value.normalize(), *_rounded(value)))


def _values(match: re.Match[str]) -> Iterator[Decimal]:
    value = Decimal(match["digits"].replace(",", ""))
    yield value
    unit = (match["unit"] or "").strip().lower()
    if unit in _TIMES:
        yield value * _TIMES[unit]
    if unit in _SHARES:
        yield value / 100


def _rounded(value: Decimal) -> Iterator[Decimal]:
    """With fewer decimals, as long as two digits that tell something are left."""
    exponent = value.as_tuple().exponent
    for places in range(-exponent if isinstance(exponent, int) else 0):
        rounded = value.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)
        if abs(rounded) >= 10 or (places and abs(rounded) >= Decimal("0.1") and abs(rounded) * 10**places >= 10):
            yield rounded.normalize()


class KnownNumbers(NamedTuple):
    """What a claim may take its numbers from."""

    idea: Set[Decimal]
    papers: Mapping[PaperId, Set[Decimal]]
    """Of each paper's text as it was shown, and its year."""

    def missing_from(self, claim: str, cited: Iterable[PaperId]) -> tuple[str, ...]:
        """Numbers of the claim, as it writes them, that neither the idea nor a cited paper has; none where it cites
        nothing that was shown. Number words are not looked for: they are mostly no figures."""
        papers = [paper for paper in cited if paper in self.papers]
        if not papers:
            return ()
        known = {Decimal(len(papers))}.union(self.idea, *(self.papers[paper] for paper in papers))
        missing = [
            one.written
            for one in _stated(MARKER.sub(" ", claim))
            if not any(all(value in known for value in reading) for reading in one.readings)
        ]
        return tuple(dict.fromkeys(missing))


def _stated(claim: str) -> Iterator[_Stated]:
    """In the claim's order but for those with spaces or commas in them, which come first."""
    read = _read(claim)
    for pattern, mark, instead in ((_APART, " ", ""), (_COMMA, ",", ".")):
        for match in pattern.finditer(read):
            pieces = tuple(Decimal(one).normalize() for one in match[0].split(mark))
            whole = Decimal(match[0].replace(mark, instead)).normalize()
            yield _Stated(claim[slice(*match.span())], ((whole,), pieces))
        read = pattern.sub(lambda match: " " * len(match[0]), read)
    for match in _NUMBER.finditer(read):
        unit = (match["unit"] or "").strip().lower()
        before = read[max(0, match.start() - _NAME_LOOK_BACK) : match.start()]
        value = Decimal(match["digits"].replace(",", ""))
        if unit in _ORDINAL or _GLUED.search(before):
            continue
        if not unit and value <= _LAST_COUNTED and _COUNTED.search(before):
            continue
        start, end = match.span()
        if unit in _SHARES:
            yield _Stated(" ".join(claim[start:end].split()), ((value.normalize(),), ((value / 100).normalize(),)))
        elif unit in _TIMES:
            as_unit = ((value.normalize(),),) if unit == "m" else ()  # five million, or five metres
            yield _Stated(" ".join(claim[start:end].split()), (((value * _TIMES[unit]).normalize(),), *as_unit))
        else:
            yield _Stated(claim[slice(*match.span("digits"))], ((value.normalize(),),))
