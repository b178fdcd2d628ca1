"""Detect whether a masked text may still name people."""

import re
from collections.abc import Iterator, Sequence

from assayer.blinding.caseless_people import caseless_names_may_remain
from assayer.blinding.mentions import find_small_words, has_english_word, has_small_word, is_eponym
from assayer.blinding.names import LETTER, LOWER, NAME, OPENER, UPPER, has_given_name, person_of
from assayer.blinding.people_labels import is_other_label
from assayer.blinding.person import Person
from assayer.blinding.spans import MaskSpan
from assayer.blinding.word_lists import english_words, split_words
from assayer.text.languages import common_words
from assayer.text.section_titles import is_known_title

POSSIBLE_NAME = re.compile(rf"(?<![\w@/.-]){NAME}")
_CAPITALISED = re.compile(rf"(?<![\w-])[{UPPER}]{LETTER}+(?:-[{UPPER}]{LETTER}+){{0,3}}(?![\w-])")
_HEAD = 1_500
"""Number of characters at the start and end of a text within which an author block can stand."""
_SHORT_LINE = 12
"""Maximum number of words in a line that does not count as a sentence."""
_OPENERS = split_words(
    """
    Thus However Conversely Then Hence Moreover Here Let Since If For We The It This In So Now But And Also Note
    Therefore Furthermore Suppose By From Again Similarly To When Where While As At On These Those There Next First
    Finally Consider Recall Assume Indeed Each Every All Both No Not
    Although Yet Our Their Its
    """
)
"""Words that begin sentences, so that they are neither first names nor family names after an initial."""
_PLACES = split_words(
    """
    Mer Baie Golfe Océan Lac Mont Rivière Fleuve Île Îles Côte Pays Golfo Mar Río Lago Bahía Sierra Costa Isla Islas
    Océano Ría Ria Baía Lagoa Serra Ilha Ilhas Mare Fiume Monte Isole Isola Laguna Baia Zatoka Morze Jezioro Rzeka Wyspy
    Wyspa Zee Meer Baai Eiland Eilanden Rivier Hav Bukt Bucht Union Unión União Unione Unia Unie Estados États Stati
    Vereinigte Deutsche Deutscher Deutsches Europäische Europäischer Große Neue Neues Altes République República
    Repubblica Conseil Ministère Ministerio Ministério Ministero
    Agence Agencia Agência Comisión Commission Comissão Consejo
    Parc Parque Parco Moře Tenger Tó Folyó Deniz Denizi Körfezi Gölü Nehri Dağı Laut Danau Sungai Teluk Pulau Biển Sông
    Harbor Beach City County Island Islands Mountain Mountains Desert Valley River Bay Ocean Sea Gulf Coast Basin Lake
    Lakes Mount Northwest Southwest Northeast Southeast Pacific Atlantic Arctic Survey Reserve Aquarium Hub Belt Park
    Forest New San Santa Los La Las Saint Fort Port Hill Hills Bridge Field Fields Observatory Station Gardens Zoo
    Climatic
    Sul Sur Sud Süd Nord Norte Est Leste Ouest Oeste Ovest Atlântico Atlántico Atlantique Pacífico Pacifique
    """
)
_MAX_LABEL_WORDS = 5
_WORD = re.compile(r"[^\W\d_]+")
_WITHOUT_RULES = re.compile(r"[\u0900-\u109f\u1200-\u139f\u1780-\u17ff]")
"""Pattern for letters in scripts without capitals for which there are no rules, such as Devanagari and Thai."""
_MOSTLY = 0.5
ABSTRACT = re.compile(r"(?:tion|sion|ment|ness|ity|ism|ics|ology|graphy|isation|ization|ical|ware)s?$")
_OF_PLACE = re.compile(r"(?:ian|ese|ish|ean)s?$")
"""Patterns for endings of abstract nouns and of adjectives of places, which some first names share."""
_CAMEL_CASE = re.compile(
    rf"(?<!^Mc)(?<!^Mac)(?<!^De)(?<!^Di)(?<!^La)(?<!^Le)(?<!^Fitz)(?<!^Van)(?<=[{LOWER}])[{UPPER}]"
)
_CYRILLIC = re.compile("[а-яёіїєґ]")
_CYRILLIC_ADJECTIVE = re.compile(r"(?:ск|цк|ов|ев|н)(?:ое|ая|ий|ый|ой|ые|ие|ого|ому|ом|ую|их|ых|ими|ыми|ым|им)$")
_PERSON_BEFORE = re.compile(
    r"\b(?:by|with|to|and|thanks?|von|mit|par|avec|remercie\w*|por|con|agrade\w+|com|da|ringrazi\w+|door|met|av|med|"
    r"af|przez|wraz z|"
    r"благодар\w+|вместе с|от) $"
)
_PERSON_AFTER = re.compile(
    r",? (?:will|has|have|is an?|was an?|are|lent|helped|leads?|provides?|provided|supervises?|joined|who|holds?|"
    r"owns?|agreed?|"
    r"wird|hat|sera|a prêté|dirige|tiene|coordina|vai|tem|ha|heeft|har|ma|má|имеет|руководит)\b"
)
"""Patterns for words beside a name of a person."""
_SENTENCE_START = re.compile(r"(?:^|[.!?:]\s{1,2}|\n[\s*#>-]*)$")
_CITED = re.compile(
    rf"(?:(?:,|,? (?:and|&)) [{UPPER}][\w.’'-]+(?: [{UPPER}][\w.’'-]+){{0,2}}){{0,8}}(?: et al\.?)?,? [(\[]?(?:\d|n\.d)"
)


def names_may_remain(title: str, text: str, people: Sequence[Person]) -> bool:
    """Return whether the masked text still seems to name an author. If no person was recognised in the original text,
    any possible name counts. Otherwise, only known first names count, and only where authors are usually named: at the
    beginning, at the end and in short lines. Names in other sentences usually refer to other people. Texts in scripts
    without capitals for which there are no rules always count."""
    if known_names_remain(text, people) or caseless_names_may_remain(title, text, bool(people)):
        return True
    unknown = len(_WITHOUT_RULES.findall(text))
    if unknown > _MOSTLY * len(text) or (unknown and not people):
        return True
    small = find_small_words(text)
    names = [match for match in POSSIBLE_NAME.finditer(text) if _line(match).strip(" *_#") != title]
    if any(has_given_name(person) for match in POSSIBLE_NAME.finditer(title) if (person := person_of(match[0]))):
        return True
    if not people:
        return any(may_be_person(match, small) for match in names)
    return any(_looks_like_person(match, small) and _names_authors(match) for match in names)


def known_names_remain(text: str, people: Sequence[Person]) -> bool:
    """Return whether a masked text still contains the family name of one of these people outside a citation."""
    families = {family for person in people if len(family := person.family.split(" ")[-1]) > 1}
    return any(
        not families.isdisjoint((match[0], *match[0].split("-"))) and not _CITED.match(text, match.end())
        for match in _CAPITALISED.finditer(text)
    )


def find_exact(text: str, names: Sequence[str]) -> Iterator[MaskSpan]:
    """Yield the verbatim occurrences of these names outside citations."""
    for name in names:
        for match in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", text):
            if not _CITED.match(text, match.end()):
                yield MaskSpan(*match.span(), "name")


def may_be_person(match: "re.Match[str]", small: frozenset[str], *, without_places: bool = True) -> bool:
    """Return whether words with the form of a name are not cited and no term. `without_places` leaves out those that
    begin with an adjective such as `Norwegian`."""
    person = person_of(match[0]) or person_of(match[0].partition(" ")[2])
    if person is None or is_eponym(person.family) or _CITED.match(match.string, match.end()):
        return False
    if (
        is_known_title(person.family)
        or person.given.split(" ")[0] in _OPENERS
        or OPENER.fullmatch(person.given.split(" ")[0])
        or (len(person.given) == 2 and person.family in _OPENERS)
    ):
        return False
    if not has_given_name(person) and (
        (without_places and any(map(_OF_PLACE.search, _WORD.findall(person.given))))
        or _is_term(person)
        or _is_term_in_prose(match, person)
        or _has_other_label(_line(match))
    ):
        return False
    return not has_small_word(person, small)


def _has_other_label(line: str) -> bool:
    """Return whether a line begins with a label that does not name people, such as `Study area:`."""
    label, colon, _ = line.partition(":")
    return bool(colon) and len(label.split()) <= _MAX_LABEL_WORDS and is_other_label(label)


def _is_term(person: Person) -> bool:
    """Return whether a word of a possible name with an unknown first name is an English word, an abstract noun, an
    adjective of a place, or the name of a program; or the name begins with that of a method."""
    words = _WORD.findall(person.full)
    return (
        has_english_word(person)
        or any(ABSTRACT.search(word) for word in words[:-1])
        or any(_CAMEL_CASE.search(word) for word in words)
        or (len(words[0]) > 1 and words[0].lower() in common_words())
        or (len(words) > 1 and is_eponym(words[0]))
    )


def _is_term_in_prose(match: "re.Match[str]", person: Person) -> bool:
    """Return whether a possible name with an unknown first name is a thing or place in a sentence, because it follows
    `the`, contains an abbreviation or a word for a place, or begins with an English word."""
    if len(_line(match).split()) <= _SHORT_LINE:
        return False
    before = match.string[max(0, match.start() - 5) : match.start()]
    words = re.split(r"[ -]", person.full)
    if _CYRILLIC.search(person.full):
        starts = _SENTENCE_START.search(match.string[max(0, match.start() - 20) : match.start()])
        spelled_out = not any(word.endswith(".") for word in words)
        return spelled_out and bool(starts or any(_CYRILLIC_ADJECTIVE.search(word) for word in words[:-1]))
    return (
        before.endswith("the ")
        or any(word.isupper() and len(word) > 1 and "." not in word for word in words)
        or not _PLACES.isdisjoint(words)
        or english_words().issuperset(_WORD.findall(person.given.lower()))
    )


def _looks_like_person(match: "re.Match[str]", small: frozenset[str]) -> bool:
    person = person_of(match[0])
    if person is None or not may_be_person(match, small):
        return False
    if has_given_name(person):
        return True
    line = _line(match)
    if len(line.split()) <= _SHORT_LINE or (_CYRILLIC.search(person.full) is not None and match[0].count(".") > 1):
        return True
    before = match.string[max(0, match.start() - 20) : match.start()]
    return bool(_PERSON_BEFORE.search(before) or _PERSON_AFTER.match(match.string, match.end()))


def _names_authors(match: "re.Match[str]") -> bool:
    """Return whether a name stands where authors are usually named."""
    at_end = len(match.string) - match.end() < _HEAD
    return match.start() < _HEAD or at_end or len(_line(match).split()) <= _SHORT_LINE


def _line(match: "re.Match[str]") -> str:
    return match.string[match.string.rfind("\n", 0, match.start()) + 1 :].partition("\n")[0]
