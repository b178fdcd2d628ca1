"""Names of universities, including reordered, shortened and translated forms.

"University of Turin", "Turin University", "Univ. of Turin" and "Università di Torino" have the same words once words
with the same meaning are normalised and connecting words are removed. Other words, commas, full stops and line ends
separate names: "Polytechnic University, Turin" does not match. Names of other institutions are searched for unchanged.
"""

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

_SYNONYMS = {
    "university": "univ uni universita universitat universitaet universite universidad universidade universitet "
    "universitetet universiteit universitatea universitas universitate universitetas uniwersytet univerzita "
    "univerzitet univerza univerzitete sveuciliste egyetem yliopisto ulikool universitesi πανεπιστημιο университет",
    "technical": "technische technischen technique tecnica technicka techniczna teknillinen tekniska tekniske "
    "technological technology tehnica muszaki",
    "polytechnic": "polytechnique politecnico politecnica politechnika polytechnische politehnica",
    "institute": "inst institut istituto instituto instytut institutt",
    "free": "freie freien libre libera vrije",
    "catholic": "katholische katholieke catholique cattolica catolica katolicki",
    "medical": "medizinische medicale medica",
    # Cities whose English names differ from their names in other languages.
    "turin": "torino",
    "rome": "roma rom",
    "milan": "milano mailand",
    "florence": "firenze florenz",
    "venice": "venezia venedig",
    "naples": "napoli neapel",
    "padua": "padova",
    "genoa": "genova genua",
    "munich": "munchen muenchen",
    "cologne": "koln koeln",
    "vienna": "wien",
    "zurich": "zuerich",
    "geneva": "geneve genf",
    "basel": "basle bale",
    "bern": "berne",
    "lisbon": "lisboa",
    "seville": "sevilla",
    "prague": "praha prag",
    "warsaw": "warszawa warschau",
    "cracow": "krakow krakau",
    "copenhagen": "københavn københavns kopenhagen",
    "gothenburg": "goteborg",
    "antwerp": "antwerpen anvers",
    "brussels": "bruxelles brussel",
    "ghent": "gent gand",
    "leuven": "louvain",
    "athens": "αθηνων athen",
    "bucharest": "bucuresti bukarest",
    "belgrade": "beograd",
}
_CANONICAL_FORMS = {synonym: canonical for canonical, synonyms in _SYNONYMS.items() for synonym in synonyms.split()}
_CONNECTING_WORDS_TEXT = (
    "of the at in for and di del della degli dei da de du des la le les der die das den zu von van og av w v studi"
)
_CONNECTING_WORDS = frozenset(_CONNECTING_WORDS_TEXT.split())
_UNIVERSITY_WORDS = frozenset({"university", "polytechnic"})
_COMMON_WORDS = _UNIVERSITY_WORDS | {
    "technical",
    "institute",
    "free",
    "catholic",
    "medical",
    "national",
    "state",
    "science",
    "sciences",
}
_ORDER_SENSITIVE_WORDS = frozenset({"york", "miami", "washington"})
"""Words that make the order of a name significant: York University and the University of York are two institutions."""
_WORD_GAP = re.compile(r"[ \t'’\-–]*")
_GAP_AFTER_ABBREVIATION = re.compile(r"\.?[ \t'’\-–]*")
_ABBREVIATIONS = frozenset({"univ", "uni", "inst", "tech"})


class InstitutionName(NamedTuple):
    words: tuple[str, ...]
    """Normalised words in alphabetical order."""
    as_written: tuple[str, ...]
    """Normalised words in their original order, without connecting words."""
    allows_any_order: bool
    """True if the words name the same institution in any order."""


def normalise_word(word: str) -> str:
    """Return the canonical form that a word shares with its translations and abbreviations; empty for a connecting
    word. `word` must be without case and accents."""
    return "" if word in _CONNECTING_WORDS else _CANONICAL_FORMS.get(word, word)


def parse_institution_name(words: list[str]) -> InstitutionName | None:
    """Return the name of a university; None if the words do not name a university, or if all of them occur in many
    names."""
    name_words = tuple(word for word in map(normalise_word, words) if word)
    if _UNIVERSITY_WORDS.isdisjoint(name_words) or _COMMON_WORDS.issuperset(name_words):
        return None
    return InstitutionName(tuple(sorted(name_words)), name_words, _ORDER_SENSITIVE_WORDS.isdisjoint(name_words))


def find_institution(
    name: InstitutionName, text: str, matches: list[re.Match[str]], fold: Callable[[str], str]
) -> Iterator[int]:
    """Yield the positions in a text at which the name begins. `matches` are the words of the text; `fold` removes case
    and accents from a word."""
    size = len(name.words)
    for run in _split_runs(text, matches, fold):
        for start in range(len(run) - size + 1):
            words = tuple(word for word, _ in run[start : start + size])
            if words == name.as_written or (name.allows_any_order and _is_reordered(name, words, text, run, start)):
                yield run[start][1]


def _is_reordered(
    name: InstitutionName, words: tuple[str, ...], text: str, run: list[tuple[str, int]], start: int
) -> bool:
    """Return True if the words are those of the name in another order and no capitalised word precedes them: "Central
    Michigan University" is not the University of Michigan."""
    return tuple(sorted(words)) == name.words and (start == 0 or not text[run[start - 1][1]].isupper())


def _split_runs(text: str, matches: list[re.Match[str]], fold: Callable[[str], str]) -> Iterator[list[tuple[str, int]]]:
    """Yield runs of words without a comma or full stop between them, with the position of each word. Connecting words
    are left out."""
    run: list[tuple[str, int]] = []
    end, is_after_abbreviation = 0, False
    for match in matches:
        if not (_GAP_AFTER_ABBREVIATION if is_after_abbreviation else _WORD_GAP).fullmatch(text, end, match.start()):
            yield run
            run = []
        folded = fold(match.group())
        if word := normalise_word(folded):
            run.append((word, match.start()))
        end, is_after_abbreviation = match.end(), folded in _ABBREVIATIONS
    yield run
