"""Find people named after phrases such as `submitted by`, `we thank` or `notre stagiaire`, in many languages."""

import re
from collections.abc import Iterator

from assayer.blinding.mentions import find_small_words, may_be_name
from assayer.blinding.names import NAME, PERSONAL_TITLE
from assayer.blinding.people import NamedPerson, parse_named_person, people_from
from assayer.blinding.people_labels import PHRASES, ROLES_IN_PROSE, is_people_label

_TITLE = re.compile(rf"{PERSONAL_TITLE},? ")
_WORD_BEFORE_NAME = re.compile(r"([^\W\d_][\w’'-]{0,30}\.?),? ")
_MAX_WORDS_BEFORE_NAME = 5
_THANKS = re.compile(
    r"thank|grateful|indebted|acknowledge|dank|remerci|gratitude|agrade|ringrazi|bedank|tack|takk|kiit|dzięk|děk|ďak|köszön|"
    r"mulțum|благодар|призна|вдячн|дяку|подяк|hvala|zahval|ευχαριστ",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[^\n.!?]{0,40}(?:\.(?=[^\s]|\s?[^\W\d_]\.)[^\n.!?]{0,40}|[^\n.!?]{1,40}){0,8}")
_NAME = re.compile(rf"(?<![\w@/.-]){NAME}")
_CITED = re.compile(r",? (?:et al\.?,? )?[(\[]?(?:19|20)\d\d")


def find_people_after_phrases(text: str) -> Iterator[NamedPerson]:
    """Yield the people named after phrases. In a sentence of thanks, all names count that are not cited."""
    small = find_small_words(text)
    for pattern in (PHRASES, ROLES_IN_PROSE):
        for trigger in pattern.finditer(text):
            yield from _people_after_phrase(text, trigger.end(), small)
            if _THANKS.search(trigger[0]):
                yield from _people_of_sentence(text, trigger.end(), small)


def _people_after_phrase(text: str, place: int, small: frozenset[str]) -> Iterator[NamedPerson]:
    """Yield the people named after a phrase, also after words such as `our`, `student` or a title."""
    for _ in range(_MAX_WORDS_BEFORE_NAME):
        people = list(people_from(text, place, small))
        yield from people
        word = _WORD_BEFORE_NAME.match(text, place)
        if people or word is None:
            return
        if not _TITLE.match(word[0]) and (word[1][-1] == "." or not (word[1].islower() or is_people_label(word[1]))):
            return
        place = word.end()


def _people_of_sentence(text: str, start: int, small: frozenset[str]) -> Iterator[NamedPerson]:
    sentence = _SENTENCE.match(text, start)
    for match in _NAME.finditer(text, start, sentence.end() if sentence else start):
        named = parse_named_person(match, group=0)
        if named and may_be_name(named.person, small) and not _CITED.match(text, named.span.end):
            yield named
