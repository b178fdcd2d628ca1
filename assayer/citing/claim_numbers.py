"""Find the numbers in a claim that occur neither in the texts that it cites nor in the idea.

Numbers in source texts are matched generously: a share matches a percentage, thousands and millions match in any
notation, small numbers match words, and rounded values match."""

import re
from collections.abc import Iterable, Iterator, Mapping, Set
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache
from typing import NamedTuple

from assayer.citing.labels import MARKER
from assayer.models import PaperId
from assayer.text.lookalikes import fold_lookalikes

_NUMBER = re.compile(
    r"(?<![0-9])(?P<digits>[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]{1,12})?|[0-9]{1,15}(?:\.[0-9]{1,12})?)"
    r"(?![0-9])(?P<unit>\s?(?:%|percent\b|per\scent\b)|\s?(?:thousand|million|billion|trillion)\b|[A-Za-z]{1,10}\b)?",
    re.IGNORECASE,
)
_APART = re.compile(r"(?<![0-9])[0-9]{1,3}(?: [0-9]{3}){1,4}(?![0-9])")
"""Matches a number with spaces as thousands separators, such as `12 000`."""
_COMMA = re.compile(r"(?<![0-9,.])[0-9]{1,9},[0-9]{1,2}(?![0-9,])")
"""Matches a number with a decimal comma."""
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
_PART_OF_NAME = re.compile(r"[A-Za-z][-–_]?$")
"""Matches text directly before a number that makes the number part of a name, as in `GPT-4`."""
_LABEL_BEFORE = re.compile(
    r"\b(?:table|figure|fig\.?|section|sec\.?|equation|eq\.?|appendix|chapter|algorithm|version|step|stage"
    r"|phase|level|type|part|layer|question|hypothesis|aim|claim|study|experiment|group|no\.?|method|dimension)\s$",
    re.IGNORECASE,
)
"""Matches a word before a number that makes the number a label, as in `Table 2`."""
_MAX_LABEL_NUMBER = 20
"""Largest number that counts as a label: in `study 5000 patients` and `group 40 items`, the numbers are not labels."""
_NAME_LOOK_BACK = 14
"""Number of characters before a number that are searched for a name or a word such as `Table`."""


class _StatedNumber(NamedTuple):
    written: str
    readings: tuple[tuple[Decimal, ...], ...]
    """Possible readings of the number. The number is known if all values in any one reading are known."""


def collect_numbers(text: str) -> frozenset[Decimal]:
    """Return every number that occurs in a text, in all forms in which a claim may repeat it, such as rounded
    values."""
    return _collect_numbers(_normalise_digits(text))


def _normalise_digits(text: str) -> str:
    """Normalise a text to plain digits without changing its length. Superscripts and subscripts next to a number become
    spaces, because they are footnote marks or powers."""
    return fold_lookalikes(_RAISED.sub(" ", text))


@lru_cache(maxsize=256)
def _collect_numbers(text: str) -> frozenset[Decimal]:
    """Return the numbers that occur in a normalised text. Cached because many claims cite the same papers."""
    values = {value for match in _NUMBER.finditer(text) for value in _parse_values(match)}
    values |= {Decimal(match[0].replace(" ", "")) for match in _APART.finditer(text)}
    values |= {Decimal(match[0].replace(",", ".")) for match in _COMMA.finditer(text)}
    values |= {_WORDS[word] for word in _WORD.findall(text.casefold()) if word in _WORDS}
    values |= {share for value in values if value < 1 for share in (value * 100,)}
    return frozenset(rounded for value in values for rounded in (value.normalize(), *_round_to_fewer_decimals(value)))


def _parse_values(match: re.Match[str]) -> Iterator[Decimal]:
    value = Decimal(match["digits"].replace(",", ""))
    yield value
    unit = (match["unit"] or "").strip().lower()
    if unit in _TIMES:
        yield value * _TIMES[unit]
    if unit in _SHARES:
        yield value / 100


def _round_to_fewer_decimals(value: Decimal) -> Iterator[Decimal]:
    """Yield the value rounded to fewer decimals, while at least two significant digits remain."""
    exponent = value.as_tuple().exponent
    for places in range(-exponent if isinstance(exponent, int) else 0):
        rounded = value.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)
        if abs(rounded) >= 10 or (places and abs(rounded) >= Decimal("0.1") and abs(rounded) * 10**places >= 10):
            yield rounded.normalize()


class KnownNumbers(NamedTuple):
    """Numbers that a claim may use: those in the idea and in the papers that the claim cites."""

    idea: Set[Decimal]
    papers: Mapping[PaperId, Set[Decimal]]
    """Numbers in each paper's text as shown, and the paper's year."""

    def find_missing(self, claim: str, cited: Iterable[PaperId]) -> tuple[str, ...]:
        """Return the claim's numbers, as written, that occur neither in the idea nor in a cited paper. Empty if the
        claim cites no paper that was shown. Numbers written as words are ignored, because they seldom state
        measurements."""
        papers = [paper for paper in cited if paper in self.papers]
        if not papers:
            return ()
        known_values = {Decimal(len(papers))}.union(self.idea, *(self.papers[paper] for paper in papers))
        missing = [
            item.written
            for item in _find_numbers(MARKER.sub(" ", claim))
            if not any(all(value in known_values for value in reading) for reading in item.readings)
        ]
        return tuple(dict.fromkeys(missing))


def _find_numbers(claim: str) -> Iterator[_StatedNumber]:
    """Yield the numbers in a claim: first those that contain spaces or commas, then the others in text order."""
    normalised_claim = _normalise_digits(claim)
    for pattern, separator, replacement in ((_APART, " ", ""), (_COMMA, ",", ".")):
        for match in pattern.finditer(normalised_claim):
            pieces = tuple(Decimal(part).normalize() for part in match[0].split(separator))
            whole = Decimal(match[0].replace(separator, replacement)).normalize()
            yield _StatedNumber(claim[slice(*match.span())], ((whole,), pieces))
        normalised_claim = pattern.sub(lambda match: " " * len(match[0]), normalised_claim)
    for match in _NUMBER.finditer(normalised_claim):
        unit = (match["unit"] or "").strip().lower()
        preceding_text = normalised_claim[max(0, match.start() - _NAME_LOOK_BACK) : match.start()]
        value = Decimal(match["digits"].replace(",", ""))
        if unit in _ORDINAL or _PART_OF_NAME.search(preceding_text):
            continue
        if not unit and value <= _MAX_LABEL_NUMBER and _LABEL_BEFORE.search(preceding_text):
            continue
        start, end = match.span()
        if unit in _SHARES:
            yield _StatedNumber(
                " ".join(claim[start:end].split()), ((value.normalize(),), ((value / 100).normalize(),))
            )
        elif unit in _TIMES:
            as_unit = ((value.normalize(),),) if unit == "m" else ()  # five million, or five metres
            yield _StatedNumber(" ".join(claim[start:end].split()), (((value * _TIMES[unit]).normalize(),), *as_unit))
        else:
            yield _StatedNumber(claim[slice(*match.span("digits"))], ((value.normalize(),),))
