"""Find every mention of a known person in a text: by full name, by surname, or in a citation."""

import re
import unicodedata
from collections.abc import Container, Iterable, Iterator
from functools import cache, lru_cache
from typing import NamedTuple

from assayer.blinding.caseless_names import find_caseless_mentions, is_caseless
from assayer.blinding.inflections import NameForms
from assayer.blinding.names import (
    LETTER,
    LOWER,
    PARTICLES,
    PERSONAL_TITLE,
    UPPER,
    has_given_name,
    is_given_name,
)
from assayer.blinding.person import Person
from assayer.blinding.spans import MaskSpan
from assayer.blinding.word_lists import english_words, english_words_not_surnames, eponyms, split_words
from assayer.text.languages import languages_of

SMALL_WORD = re.compile(
    rf"(?<![^\W\d_])(?<![^\W\d_]-)(?<![@/_])(?<!\w\.)(?!(?<=[-*>] )[^\W\d_]{{2,20}}:)"
    rf"[{LOWER}]{{2,20}}(?![^\W\d_])(?![@/_])(?!\.\w)(?! ?[\[({{<] ?at\b)"
)
"""Pattern for a lower-case word. Parts of names and addresses do not match, such as `woo` in `Ji-woo`, `roe` in
`jane.roe@example.org` and `jane` in `- jane: all done`."""
_WORD = re.compile(rf"(?:[{UPPER}]['’](?=[{UPPER}]))?[{UPPER}]{LETTER}{{1,24}}(?:[-'’](?!s\b){LETTER}{{1,24}}){{0,3}}")
_ENDING = re.compile(
    r"(?<=\w{2})(?:['’][^\W\d_]{1,8}$|-(?:san|sensei|ssi|nim|[Gg]ruppe|Labor|Team|[Gg]roup|[Ll]ab|[Tt]eam|ryhmä\w*|gruppen?|groep)$)"
)
_GROUP_AFTER = re.compile(r"-(?:gruppe|labor|team|group|lab|ryhm|groep)", re.I)
"""Pattern for a case ending after an apostrophe (`Taşkıran'ın`), or a noun that belongs to people (`Roe-Gruppe`)."""
_BEFORE = re.compile(r"[^\s()\[\],;:]{1,30}[ ]")
_INITIALS_OR_TITLE = re.compile(rf"^(?:(?:[{UPPER}]\.-?)+|{PERSONAL_TITLE})$")
_MAX_GIVEN_CHARS = 60
_MAX_ABBREVIATION_CHARS = 4
_ONE_NAME = re.compile(rf"[{UPPER}]{LETTER}{{2,20}}")
_INITIALS_AFTER = re.compile(rf",? (?:[{UPPER}]\.[ -]?){{1,3}}(?![\w])|, (?P<given>[{UPPER}][^\W\d_]{{1,20}})")
_CITED_AFTER = re.compile(
    rf"(?:['’]s? (?:group|lab|team|work|research|stud|paper|result|earlier|previous|prior|own|expertise|"
    rf"experience|career|laborator|method|idea|proposal|track))|"
    rf" et al\b|,? \(?(?:19|20)\d\d|,? (?:and|&) [{UPPER}][^\W\d_]{{1,20}},? \(?(?:19|20)\d\d"
)
_ACTS_AFTER = re.compile(
    r" (?:will|has|have|is an?|was|leads|led|brings|received|holds|joined|wrote|notes|argued|group\b|lab\b|team\b"
    r"|(?:gratefully |kindly )?(?:acknowledges?|thanks?|declares?|designed|conceived)\b)"
)
_TERM_AFTER = re.compile(
    r"[- –](?:(?!will |can |has |have |is |was |may |must |would |could )[a-z]+[- ])?(?!\w+ed\b)(?:equilibri\w+|"
    r"distribution\w*|process\w*|theorem\w*|models?|filters?|inequalit\w+|"
    r"kernels?|tests?|networks?|algorithms?|methods?|"
    r"transforms?|criteri\w+|numbers?|equations?|laws?|sampl\w+|optimi[sz]\w+|loss\w*|function\w*|spaces?|"
    r"matri\w+|divergence|distance|"
    r"coefficient\w*|correlation\w*|indices|index|regression|estimat\w+|prior\w*|conjecture|paradox|effect|"
    r"score\w*|scale\w*|rule\w*|"
    r"dynamics|field\w*|machine\w*|games?|bound\w*|complex\w*|curve\w*|constant|temperature|disease|syndrome|"
    r"dataset|corpus|benchmark|"
    r"decomposition|factor\w*|chains?|tree\w*|graph\w*|code\w*|approximation|measure\w*|metric\w*|"
    r"hypothes\w+)\b|[-–](?=[A-Z])"
)
_CAPITAL_NEXT = re.compile(rf" [{UPPER}]")
_METHODS = split_words("adam lasso elo metropolis student")
"""Surnames that are method names even without a following noun."""
_NO_NOUN_AFTER = re.compile(
    r"\s{0,2}(?:[.,;:!?)\]\n]|$)|\s(?:and|or|too|also|as|in|on|at|to|with|by|for|from|then|who|would|can|could|may|"
    r"might|must|should|did|does|had|were|are|now|first)\b"
)
_ELEMENTS = {
    "li": "lithium",
    "na": "sodium",
    "ni": "nickel",
    "ge": "germanium",
    "mo": "molybdenum",
    "ho": "holmium",
    "lu": "lutetium",
    "ba": "barium",
    "bi": "bismuth",
    "co": "cobalt",
}
"""Element symbols that are also surnames, with their elements. In a text that names the element, they count as
symbols."""
_FUNCTION_WORDS = split_words("an as at be by can do he her his in it long may my no of on or she so to us we will you")
"""Names that are also function words, and can therefore be capitalised at the start of a sentence."""
_MONTHS = split_words("jan feb mar apr may jun jul aug sep sept oct nov dec")
_AMOUNT = re.compile(r"\d\s?$")


@lru_cache(maxsize=4)
def find_small_words(text: str) -> frozenset[str]:
    """Return the lower-case words of a text. Cached because many readers of one text need them."""
    return frozenset(SMALL_WORD.findall(text))


def has_small_word(person: Person, small: Container[str]) -> bool:
    """Return whether a word in the person's name, except particles, also occurs in lower case."""
    return any(word.lower() in small for word in re.findall(r"\w+", person.full) if word.lower() not in PARTICLES)


def may_be_name(person: Person, small: Container[str]) -> bool:
    """Return whether a name has a known first name, or none of its words are in lower case in the text and they are not
    all English."""
    if is_caseless(person):
        return has_given_name(person)
    if has_given_name(person):
        return not has_only_words(person, small)
    return not has_small_word(person, small) and not is_eponym(person.family) and not has_english_word(person)


@cache
def _eponym_forms() -> NameForms:
    return NameForms((name.casefold() for name in eponyms()), ("Polish", "Romanian"))


def is_eponym(surname: str) -> bool:
    """Return whether a surname, or a part of a double one, also names methods, in any case."""
    return any(part in _eponym_forms() for part in re.split("[-–]", surname.casefold()))


def has_only_words(person: Person, small: Container[str]) -> bool:
    """Return whether all words of a name are words of the text or of English, as in `Long Short Term Memory`."""
    return all(word in small or word in english_words() for word in re.findall(r"[^\W\d_]{2,}", person.full.lower()))


def has_english_word(person: Person) -> bool:
    """Return whether a word in the person's name is an English word, other than a surname such as `White`."""
    *given, family = (word.lower() for word in re.findall(r"[^\W\d_]{2,}", person.full) or [""])
    return family in english_words_not_surnames() or not english_words().isdisjoint(given)


def person_of_word(word: str, small: frozenset[str]) -> list[Person]:
    """Return the person if the text is a single capitalised word that is no word of the document or of English."""
    if not _ONE_NAME.fullmatch(word) or (word.isupper() and len(word) <= _MAX_ABBREVIATION_CHARS):
        return []
    low = word.lower()
    return [] if low in small or low in english_words() or word in eponyms() else [Person("", word)]


def _fold(name: str) -> str:
    """Casefold a name. Dotted and dotless i become equal, because their capitals can look the same."""
    return unicodedata.normalize("NFC", name).casefold().replace("ı", "i").replace("\u0307", "")


class _Known(NamedTuple):
    """Casefolded names of the people in a text, and the text's lower-case words. The latter are not names."""

    families: NameForms
    givens: NameForms
    small: frozenset[str]
    short: frozenset[str]
    """First names without their last letters, as in `Zeb` for `Zebulon`."""

    def is_short_form(self, word: str) -> bool:
        low = _fold(word)
        is_word = low in self.small or low in english_words() or low in _MONTHS or low in _FUNCTION_WORDS
        return low in self.short and not is_word

    def is_given(self, word: str) -> bool:
        return _fold(word) in self.givens or is_given_name(word) or is_given_name(word.partition("-")[0])

    def is_unknown(self, word: str) -> bool:
        """Return whether a word before a surname is likely to be a first name, because it is no other word."""
        low = word.lower()
        return bool(_ONE_NAME.fullmatch(word)) and low not in self.small | english_words() and not is_eponym(word)

    def is_word(self, surname: str) -> bool:
        """Return whether the surname is also a word or a symbol in this text."""
        low = _fold(surname)
        return low in self.small or low in _FUNCTION_WORDS or _ELEMENTS.get(low, "") in self.small or low in _METHODS


def find_mentions(text: str, people: Iterable[Person]) -> Iterator[MaskSpan]:
    """Yield mentions of the people, ignoring case. A surname is not masked where it is part of a method's name (`Nash
    equilibrium`)."""
    people = list(people)
    yield from find_caseless_mentions(text, people)
    languages = languages_of(text) if people else ()
    known = _Known(
        families=NameForms(
            (_fold(person.family.split(" ")[-1]) for person in people if len(person.family) > 1), languages
        ),
        givens=NameForms(
            (
                _fold(part)
                for person in people
                for part in person.given.split(" ")
                if len(part) > 1 and _fold(part) not in PARTICLES
            ),
            languages,
        ),
        small=find_small_words(text),
        short=frozenset(
            given[:length]
            for person in people
            for given in re.split("[ -]", _fold(person.given))
            for length in range(3, len(given) - 1)
            if given[0] not in PARTICLES
        ),
    )
    if not known.families:
        return
    for match in _WORD.finditer(text):
        word, start, end = _fold(match[0]), match.start(), match.end()
        ending = _ENDING.search(match[0])
        if ending and word not in known.families:
            word, end = _fold(match[0][: ending.start()]), start + ending.start()
        if word in known.families:
            yield from _mention_at(text, start, end, known)
            continue
        is_given = word in known.givens and not known.is_word(match[0])
        inflected = is_given and word not in known.givens.names
        following = _WORD.match(text, end + 1)
        joined = inflected or (following is not None and _fold(following[0]) in known.givens)
        is_alone = (is_given or known.is_short_form(match[0])) and _is_alone(text, end, match[0], joined=joined)
        if is_alone or _is_joined(word, known):
            yield MaskSpan(start, end, "name")


def _is_joined(word: str, known: _Known) -> bool:
    """Return whether a word is a first name and a surname joined by a hyphen, as in account names."""
    first, hyphen, last = word.partition("-")
    return bool(hyphen) and first in known.givens and last in known.families


def _is_alone(text: str, end: int, word: str, *, joined: bool) -> bool:
    """Return whether a first name on its own refers to the person, because no method has that name and no other surname
    follows. `joined`: another of the person's first names follows, or the word is a case form such as `Janes`."""
    return (
        word.capitalize() not in eponyms()
        and not (word.isupper() and len(word) <= _MAX_ABBREVIATION_CHARS)
        and not _TERM_AFTER.match(text, end)
        and (joined or not _CAPITAL_NEXT.match(text, end))
    )


def _mention_at(text: str, start: int, end: int, known: _Known) -> Iterator[MaskSpan]:
    begin = _find_name_start(text, start, known)
    is_group = _GROUP_AFTER.match(text, end) is not None
    following = _INITIALS_AFTER.match(text, end)
    given_after = following is not None and (following["given"] is None or known.is_given(following["given"]))
    if begin == start and not is_group and _is_before_term(text, start, end):
        return
    whole = begin < start or given_after
    if not whole and _is_something_else(text, start, end, known):
        return
    if given_after and following is not None and begin == start:
        end = following.end()
    yield MaskSpan(begin, end, "name")


def _is_before_term(text: str, start: int, end: int) -> bool:
    """Return whether a surname stands before a technical term. If it is not known to name methods, the term must follow
    directly, and may not be a plural, which can also be a verb: `Roe models the flow`."""
    term = _TERM_AFTER.match(text, end)
    if term is None or text[start:end].capitalize() in eponyms():
        return term is not None
    return term[0][-1] != "s" and len(re.findall("[ –-]", term[0])) < 2


def _is_something_else(text: str, start: int, end: int, known: _Known) -> bool:
    """Return whether a surname on its own could be an abbreviation, a unit, a word or a method's name."""
    word = text[start:end]
    if word.isupper() and len(word) <= _MAX_ABBREVIATION_CHARS:
        return not text.startswith(" will ", end)
    if _CITED_AFTER.match(text, end) or (_ACTS_AFTER.match(text, end) and _fold(word) not in _FUNCTION_WORDS):
        return False
    after_number = _AMOUNT.search(text, max(0, start - 2), start) is not None
    return after_number or known.is_word(word) or _is_of_method(text, start, end)


def _is_of_method(text: str, start: int, end: int) -> bool:
    """Return whether a surname that also names methods is used for a method here: before a noun, or as half of a
    pair."""
    if text[start:end].capitalize() not in eponyms():
        return False
    return text[max(0, start - 1) : start] in ("-", "–", "/") or _NO_NOUN_AFTER.match(text, end) is None


def _find_name_start(text: str, start: int, known: _Known) -> int:
    """Return where a name begins, including titles, first names and initials. `start` is where its surname begins."""
    begin = start
    for match in reversed(list(_BEFORE.finditer(text, max(0, start - _MAX_GIVEN_CHARS), start))):
        word = match[0].rstrip()
        if match.end() != begin:
            break
        if known.is_given(word) or _INITIALS_OR_TITLE.match(word) or known.is_unknown(word):
            begin = match.start()
        elif word.lower() not in PARTICLES or not (word.islower() or word.isupper()):
            break
    return begin
