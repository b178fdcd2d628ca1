"""Find surnames that stand alone beside words about members of a team: `In Roe's lab`, `(Roe, unpublished)`, `Roe will
supervise`, `WP2 (lead: Roe)`."""

import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

from assayer.blinding.acting_people import PREPOSITION_BEFORE, STATED
from assayer.blinding.mentions import find_small_words, is_eponym
from assayer.blinding.names import LOWER, PARTICLE, UPPER
from assayer.blinding.people import NamedPerson
from assayer.blinding.person import Person
from assayer.blinding.remaining_names import ABSTRACT
from assayer.blinding.spans import MaskSpan
from assayer.blinding.word_lists import english_words, english_words_not_surnames, load_phrases, split_words
from assayer.text.languages import common_words, languages_of

_SURNAME = (
    rf"(?:(?i:{PARTICLE}) |[dD]['’](?=[{UPPER}]))?(?:[{UPPER}]\.[ -]?){{0,3}}"
    rf"(?:[DO]['’](?=[{UPPER}])|Ma?c)?[{UPPER}][{LOWER}][^\W\d_]{{0,20}}(?:[-'’](?!s\b)[^\W\d_]{{1,20}}){{0,2}}(?!\w)"
)
_NAME = re.compile(_SURNAME)
_NAMES = re.compile(rf"(?<![\w.-]){_SURNAME}(?:(?:, | and | & | und | et | y | e | i | en |/){_SURNAME}){{0,4}}")
_NOT_CITED = rf"(?! (?:[a-z]+ ){{0,2}}{STATED}\b)(?![^.!?\n]{{0,120}}[(\[][^)\]\n]{{0,60}}\d)"
_GROUP = r"(?:labs?|laborator(?:y|ies)|groups?|teams?)\b"
_MEMBER = (
    r"(?:(?:Ph\.?D|doctoral|graduate|own) )?(?:students?|technicians?|post-?docs?|colleagues?|assistants?|engineers?|"
    r"teams?|salary|effort)\b"
)
_MANAGES = r"(?:co-?)?(?:lead|supervis|coordinat|overse|mentor|recruit|chair)"
_WORKS = (
    rf"(?:(?:{_MANAGES}|direct|manag|train|teach|advis|writ|draft|join|visit|spend|devot|attend|present|assist|conduct|"
    r"carry out|perform|collect|interview|take (?:care|charge)|be (?:responsible|in charge))(?:e|ee)?\b)"
)
_WORKS_ELSEWHERE = (
    r"(?:dirig|coordin|supervis|encadr|consacr|dedic|analy[sz]|analiz|rédig|redact|redig|redat|particip|partecip|"
    r"enseign|seguir|suivr|se occup|si occup|se encarg|effectu|efetu|realiz|réalis|ejecut|execut|esegu|condu|contribu|"
    r"colabor|collabor|mesur|med|misur|recoger|recolt|raccogl|prépar|prepar|apport|pilot)\w{0,5}"
    r"(?:ra|ront|rá|rán|rão|rà|ranno)\b"
)
_WORKS_POLISH = r"(?:poprowadzi|przeprowadzi|wykona|opracuje|koordynuje|kieruje|pokieruje|zajmie się)"
_POST = r"(?:student|technician|post-?doc|engineer|assistant|manager|coordinator|colleague|collaborator)"
_OWNS = re.compile(
    rf"['’]s? (?:{_GROUP}|{_MEMBER}){_NOT_CITED}"
    rf"|, (?:our|my) (?:[a-z-]+ ){{0,2}}{_MEMBER}|, the (?:[a-z-]+ ){{0,2}}{_POST}\b"
    rf"|,? and (?:his|her) (?:[a-z]+ )?{_MEMBER}{_NOT_CITED}"
)
_ACTS = re.compile(
    rf" (?:will (?:also |then |jointly |each )?{_WORKS}|{_MANAGES}(?:e|ee)?s\b|{_WORKS_ELSEWHERE})(?! to\b)"
    r"| (?:zal|zullen) [a-z][^.!?\n]{0,80}?(?:leiden|begeleiden|verzorgen|uitvoeren|coördineren|meten|analyseren)\b"
)
"""Patterns for what members of the team own and do. Cited authors do not act in the future."""
_THE_BEFORE = re.compile(r"\b[Tt]he $")
_IN_BEFORE = re.compile(r"\b[Ii]n $")
_GROUP_AFTER = re.compile(rf" {_GROUP}{_NOT_CITED}")
_OURS_AFTER = re.compile(r"['’]s? (?:[a-z-]{3,20} ){1,2}(?:we|our|I)\b")
_BEFORE = re.compile(
    r"\b(?:PI|[Cc]o-?P?I|PDRA)s?,? \(?$|"
    r"\b(?:(?:led|headed|supervised|coordinated|directed|mentored) by|(?:geleid|begeleid|gecoördineerd) door|"
    r"(?:dirigée?|encadrée?|coordonnée?|pilotée?) par|(?:dirigid|coordinad|liderad|supervisad)[oa]s? por|"
    rf"(?:dirett|coordinat|guidat|seguit)[oa] da|(?:kierowan|prowadzon|wykonan)\w{{1,3}} przez|{_WORKS_POLISH}) $|"
    r"\b(?i:assistant|technician|coordinator|student|post-?doc|manager|engineer|supervisor|mentor|leader|lead|PI) "
    r"(?:is|will be) $|"
    r"\b(?:[Aa]n?|[Oo]ur|[Mm]y|his|her) (?:[a-z-]+ ){0,2}"
    rf"{_POST},? $|(?:['’]s|[Oo]ur|[Mm]y|his|her) (?:brother|sister|wife|husband|son|daughter),? $|"
    r"\b(?:[Cc]o-?)?(?:[Ii]nvestigators?|[Aa]pplicants?) $"
)
_NO_CITATION_AFTER = re.compile(rf"(?! et al\b){_NOT_CITED}")
_ROLE_BEFORE = re.compile(
    r"\b(?i:student|post-?doc\w*(?: researcher| fellow)?|technician|assistant|investigator|personnel|applicant) \($"
)
_TASK_BEFORE = re.compile(
    r"\b(?i:WP|AP|T|task|aim|objective|work package|tarea|tâche|tarefa|taak|werkpakket|lot|zadanie|attività|compito)"
    r" ?\d{1,2}(?:\.\d)?[.:]? \((?:[^\W\d_][\w -]{2,20}: ?)?$"
)
"""Pattern for the number of a task before a bracket. A surname must occur elsewhere too, because tasks have titles. It
is not used in German, whose nouns look like surnames."""
_LABEL_BEFORE = re.compile(r"[(;] ?(?P<label>[^\W\d_][\w -]{1,25}): ?$")
_CAPITALISED_BEFORE = re.compile(rf"(?<![\w.])(?!(?:In|The|An?|PI|At|With|When|If)\b)[{UPPER}][{LOWER}][\w'’-]* $")
_MAX_BEFORE = 60
_LEADS = load_phrases("one_person_labels.txt")
_UNPUBLISHED = re.compile(rf"\b(?:{'|'.join(sorted(load_phrases('unpublished.txt')))})(?!\w)", re.IGNORECASE)
_MAX_CITATION_CHARS = 120
_ITEMS = re.compile(r"\s?[,;&·・、/]\s?|\s(?:and|und|et|y|e|i|en|og|och|wraz z)\s")
_CITED_ITEM = re.compile(
    rf"(?:^|[a-z.] )(?P<name>{_SURNAME}(?: (?!et\b){_SURNAME})?)(?:,? (?:[{UPPER}]\.? ?){{1,3}})?(?: et al\.?)?"
    r"(?:,? \(?(?:19|20)\d\d[a-z]?)?$"
)
_DATES = split_words(
    "January February March April May June July August September October November December Month Months Year Years"
)


def find_lone_surnames(text: str) -> Iterator[NamedPerson]:
    """Yield the people named by surname only whom the words beside them show as members of the team."""
    words = find_small_words(text) | english_words()
    german = languages_of(text)[:1] == ("German",)
    for match in _NAMES.finditer(text):
        if not _is_of_team(text, *match.span(), german=german):
            continue
        for item in _NAME.finditer(match[0]):
            person = _parse_surname(item[0], words)
            if person is not None and len(person.family) > 2 and not is_eponym(person.family):
                span = MaskSpan(match.start() + item.start(), match.start() + item.end(), "name")
                yield NamedPerson(span, person)
    yield from find_authors_of_unpublished(text)


def _is_of_team(text: str, start: int, end: int, *, german: bool) -> bool:
    """Return whether the words around surnames say what members of a team own or do."""
    before = text[max(0, start - _MAX_BEFORE) : start]
    if text[end : end + 1] in (",", ";", ")"):
        task = None if german else _TASK_BEFORE.search(before)
        if _is_in_brackets(before) or (task and _repeated_words(text).issuperset(re.findall(r"\w+", text[start:end]))):
            return True
    if _BEFORE.search(before) and _NO_CITATION_AFTER.match(text, end):
        return True
    if _CAPITALISED_BEFORE.search(before):
        return False
    return bool(
        _OWNS.match(text, end)
        or (_ACTS.match(text, end) and not PREPOSITION_BEFORE.search(before))
        or (_THE_BEFORE.search(before) and "," not in text[start:end] and _GROUP_AFTER.match(text, end))
        or (_IN_BEFORE.search(before) and _OURS_AFTER.match(text, end))
    )


@lru_cache(maxsize=4)
def _repeated_words(text: str) -> frozenset[str]:
    return frozenset(word for word, times in Counter(re.findall(r"\w+", text)).items() if times > 1)


def _is_in_brackets(before: str) -> bool:
    """Return whether the text before a name opens a bracket after a role, or with a label of a leader."""
    label = _LABEL_BEFORE.search(before)
    labelled = label is not None and label["label"].casefold() in _LEADS
    return labelled or _ROLE_BEFORE.search(before) is not None


def find_authors_of_unpublished(text: str) -> Iterator[NamedPerson]:
    """Yield the authors of works cited as unpublished: `(Roe and Poe, in preparation)`."""
    for mark in _UNPUBLISHED.finditer(text):
        start = max(0, mark.start() - _MAX_CITATION_CHARS)
        start += max(text.rfind(opening, start, mark.start()) - start for opening in "([;") + 1
        cited = text[start : mark.start()].rstrip(" ,:")
        if text[start - 1 : start] not in ("(", "[", ";") or "\n\n" in cited or ")" in cited:
            continue
        place = 0
        for item in map(str.strip, _ITEMS.split(cited)):
            place = cited.index(item, place)
            match = _CITED_ITEM.search(item)
            if match and (person := _parse_surname(match["name"], english_words_not_surnames())):
                begin = start + place + match.start("name")
                yield NamedPerson(MaskSpan(begin, begin + len(match["name"]), "name"), person)


def _parse_surname(name: str, words: frozenset[str]) -> Person | None:
    """Return the person, or None if the surname, a part of it or its beginning is a word."""
    family = re.split(r"[. ]|(?<=\b[dD])['’]", name)[-1]
    parts = [part.lower() for part in re.split("[-'’]", family)]
    is_word = (
        ABSTRACT.search(family) or not words.isdisjoint((family.lower(), *parts[:1])) or parts[0] in common_words()
    )
    return None if is_word or family in _DATES else Person("", family)
