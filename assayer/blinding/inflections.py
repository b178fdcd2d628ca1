"""Recognise case forms of names, such as `Hasenmöhls`, `Златогорского` or `Virtasen`."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from assayer.blinding.word_lists import split_words

_CYRILLIC = re.compile("[а-яёіїєґў]")
_MIN_STEM_LETTERS = 4
_MAX_ENDING_LETTERS = 5


class _Endings(NamedTuple):
    strip: str
    """Pattern for the ending of the basic form, which other endings replace."""
    endings: frozenset[str]


_CYRILLIC_ENDINGS = _Endings(
    "ий|ый|ой|ая|яя|а|я|ь|й|о|е|и|і",
    split_words(
        """
        а я у ю ом ем ём ым им е і и ы ой ей ою ею ого его ому ему ая ую ых их ыми ими ам ям ами ями ах ях ов ев
        ові еві єм єю ію ии ію ії ию""",
    ),
)
_SLAVIC = _Endings(
    "ová|ova|ý|á|í|y|i|a|o|e|ě",
    split_words(
        """
        a u owi ovi em om ie y i ą ę ej iej ego iego emu iemu im ym ém ým ého ému é ou ová ové ovou ova ovo ovy ův ů ům
        ami imi ými ích ich ych o e ě í oj og"""
    ),
)
_BY_LANGUAGE = {
    "German": _Endings("", split_words("s sche schen scher sches")),
    "Dutch": _Endings("", frozenset("s")),
    "Swedish": _Endings("", frozenset("s")),
    "Danish": _Endings("", frozenset("s")),
    "Polish": _SLAVIC,
    "Czech": _SLAVIC,
    "Hungarian": _Endings(
        "",
        split_words(
            """
            nak nek t at et ot öt val vel al el ban ben hoz hez höz tól től ról ről ra re ék é ért ból ből n on en ön
            éknak ig kal kel mal mel nal nel ral rel sal sel tal tel zal zel csal"""
        ),
    ),
    "Romanian": _Endings("a|u", split_words("ului lui ul a ei e i u")),
    "Greek": _Endings(
        "ος|ής|ης|άς|ας|ίς|ις|ού|ου|ά|α|ή|η",
        split_words("ος ου ό ο όν ον ε οι ων ους ής ης ή η ας άς ά α ού ις ίς"),
    ),
    "Finnish": _Endings(
        "",
        split_words(
            """
            n a ä ta tä lla llä lle lta ltä ssa ssä sta stä an än en in on un yn ön hin hen han hän ksi na nä seen t kin
            lle ltä"""
        ),
    ),
}
_FINNISH_WEAK = (
    ("kk", "k"), ("pp", "p"), ("tt", "t"), ("nk", "ng"), ("nt", "nn"), ("mp", "mm"), ("lt", "ll"), ("rt", "rr"),
    ("t", "d"), ("k", ""), ("p", "v"),
)  # fmt: skip
_FLEETING_VOWEL = re.compile(r"(?<=[^\W\d_])[eоеёo](?=[ckкц]$)")
_RAISED_VOWEL = re.compile(r"[óąů](?=[^\W\d_]$)")
"""Pattern for the last vowel of a name that changes before endings: `Chwalibóg`, `Chwaliboga`."""


class NameForms:
    """Names, and their case forms in the languages of a text (in all languages if these are unknown). All are
    casefolded."""

    def __init__(self, names: Iterable[str], languages: Iterable[str]) -> None:
        self.names = frozenset(names)
        parts = {part for name in self.names if "-" in name for part in name.split("-")}
        self._parts = NameForms(parts, languages) if parts else None
        """Forms of the parts of double surnames, each of which has an ending: `Wróblewskiego-Kmity`."""
        self._endings: dict[str, set[str]] = {}
        """Endings keyed by stem."""
        known = [_BY_LANGUAGE[language] for language in (languages or _BY_LANGUAGE) if language in _BY_LANGUAGE]
        for name in self.names:
            for endings in [_CYRILLIC_ENDINGS] if _CYRILLIC.search(name) else known:
                finnish = endings is _BY_LANGUAGE["Finnish"]
                for stem in _finnish_stems(name) if finnish else _stems(name, endings.strip):
                    if len(stem) >= _MIN_STEM_LETTERS:
                        self._endings.setdefault(stem, set()).update(endings.endings)

    def __bool__(self) -> bool:
        return bool(self.names)

    def __contains__(self, word: str) -> bool:
        if word in self.names:
            return True
        if self._parts and "-" in word and all(part in self._parts for part in word.split("-")):
            return True
        shortest = max(_MIN_STEM_LETTERS, len(word) - _MAX_ENDING_LETTERS)
        return any(word[length:] in self._endings.get(word[:length], ()) for length in range(shortest, len(word)))


def _stems(name: str, strip: str) -> Iterator[str]:
    yield name
    if strip:
        yield re.sub(rf"(?:{strip})$", "", name)
        yield _FLEETING_VOWEL.sub("", name)
        yield _RAISED_VOWEL.sub(lambda vowel: {"ó": "o", "ą": "ę", "ů": "o"}[vowel[0]], name)


def _finnish_stems(name: str) -> Iterator[str]:
    """Yield the stems of a Finnish name: `virtase` and `virtas` of `virtanen`, `kankaa` of `kangas`, `lahde` of
    `lahti`."""
    yield name
    if name.endswith("nen"):
        yield from (f"{name[:-3]}se", f"{name[:-3]}s")
        return
    body, last = (name[:-2], name[-2:]) if name.endswith(("as", "äs", "is", "es")) else (name[:-1], name[-1:])
    if len(last) == 2:
        yield from (f"{strong}{last[0] * 2}" for strong in _change_grade(body, to_strong=True))
    elif last in "aeiouyäö":
        for stem in (body, *_change_grade(body, to_strong=False)):
            yield from (f"{stem}{last}", f"{stem}e" if last == "i" else stem)
    if name.endswith(("us", "ys")):
        yield from (f"{name[:-1]}kse", f"{name[:-1]}de")


def _change_grade(body: str, *, to_strong: bool) -> Iterator[str]:
    """Yield the body of a name before its last vowel, with each possible change of its last consonants."""
    yield body
    for strong, weak in _FINNISH_WEAK:
        before, after = (weak, strong) if to_strong else (strong, weak)
        if before and body.endswith(before):
            yield body.removesuffix(before) + after
