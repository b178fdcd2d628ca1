"""Labels of lines and columns that name people, and phrases before a byline, in the languages in which proposals are
written."""

import re
from collections.abc import Iterable

from assayer.blinding.word_lists import load_phrases


def _join(phrases: Iterable[str]) -> str:
    return "|".join(sorted(map(re.escape, phrases), key=len, reverse=True))


_ALL_LABELS = load_phrases("people_labels.txt")
_ONE_PERSON = load_phrases("one_person_labels.txt")
_VAGUE = load_phrases("vague_labels.txt")
_OTHER_LABELS = re.compile(rf"\b(?:{'|'.join(load_phrases('other_labels.txt'))})\b", re.IGNORECASE)
ROLES_IN_PROSE = re.compile(
    rf"(?<![^\W_])(?:{_join(item for item in _ONE_PERSON if len(item) > 6 and (not item.isascii() or ' ' in item))}),? "
    r"(?-i:(?=[^\W\d_a-z]))",
    re.IGNORECASE,
)
"""Pattern for a role before a person's name in a sentence."""
FAMILY_LABELS = re.compile(
    r"surnames?|family names?|last names?|nachname|familienname|nom(?: de famille)?|apellidos?|apelido|sobrenome|"
    r"cognome|"
    r"achternaam|efternamn|etternavn|efternavn|sukunimi|nazwisko|příjmení|priezvisko|vezetéknév|nume|soyadı?|prezime|"
    r"фамилия|прізвище|姓",
    re.IGNORECASE,
)
GIVEN_LABELS = re.compile(
    r"first names?|given names?|forenames?|vorname|prénoms?|nombres?|nome|voornaam|förnamn|fornavn|etunimi|imię|"
    r"jméno|meno|"
    r"keresztnév|prenume|adı?|ime|имя(?: отчество)?|имя, отчество|ім'я|名",
    re.IGNORECASE,
)
COMPANIONS = re.compile(
    r"\b(?:role|rôle|rolle|rol|ruolo|papel|affiliation|institution|institut\w*|organi[sz]ation|position|e-?mail|expertise|"
    r"(?:person[- ])?months?|fte|orcid|department|university|universit\w+|responsibilit\w+|qualification|degree|phone|"
    r"tasks?|work ?packages?|wps?|milestones?|deliverables?|aufgabe|arbeitspaket|tarea|tâche|tarefa|attività|"
    r"zadanie|úkol|"
    r"tehtävä|görev|задача|работы?|"
    r"funktion|funktio|función|função|funzione|einrichtung|должность|роль|степень|організація|организация)\b"
    r"|单位|職名|职称|职务|所属|分工|소속|역할|직위|الجهة|الدور|תפקיד",
    re.IGNORECASE,
)
"""Pattern for labels of columns that stand beside names of people."""
PHRASES = re.compile(
    rf"(?<![^\W_])(?:{_join(load_phrases('people_phrases.txt'))})"
    r"(?<!')[ \t:*_]{1,4}|(?<=sous la direction d['’])",
    re.IGNORECASE,
)
"""Pattern for a phrase that a person's name follows."""
_ENDINGS = re.compile(r"(?<=\w)[(/*·_:-]{1,2}(?:innen|in|e|a|as|es|s|se|trice|ne|rice|euse|ов|ы|и|а|ка)\b\)?")
"""Pattern for the ending for other genders or numbers: `Autor:in`, `Auteur(e)`, `Investigador/a`, `Author(s)`."""
_JOINED = re.compile(r"\s?[/&,+]\s?|\s(?:and|und|et|y|e|и|i|och|og|ja|ve|en|és)\s")
_NAME_OF = re.compile(
    r"^(?:(?:full )?names?(?: and (?:title|position|affiliation))? of (?:the )?|nombres?(?: y apellidos)? (?:del? "
    r"la |del |de los |de )|"
    r"noms?(?: et prénoms?)? (?:d['’]|du |de la |des |de )|nome (?:do |da |dos |del |della |dei |de )|name (?:des "
    r"|der )|"
    r"naam van (?:de )?|imię i nazwisko |jméno |اسم )|(?:['’]s)? (?:full )?names?$"
)
"""Pattern for `name of the` and the like around a label."""
_IN_BRACKETS = re.compile(r"\s?[(（][^()（）]{0,40}[)）]")
_CASELESS_LABEL = re.compile(
    r"[\u4e00-\u9fff]{0,8}(?:负责人|負責人|主持人|申请人|申請人|申报人|参与人|人员|人員|成员|成員|作者|导师|導師|教师|教師|联系人|聯絡人|姓名|氏名|者|担当|教員|教授)"
    r"|[\uac00-\ud7af ]{0,8}(?:책임자|연구원|연구자|교수|저자|성명|이름|담당자|신청자|참여자)"
)
"""Pattern for Chinese, Japanese and Korean labels that end with a word for people."""
_ABBREVIATION_AFTER = re.compile(r"(?<=[a-zà-ÿ]) (?!P?I$)[A-Z]{1,4}\d?$")
_MAX_MORE_WORDS = 2
"""Maximum number of words in a label before or after a known label, as in `Автор идеи`."""
_SYMBOLS = re.compile(r"[\u2190-\u2bff\ufe0f\U0001f000-\U0001faff]")
"""Pattern for arrows, icons and emoji."""
_AROUND = " \t*_#|>•-–—.:：0123456789)[]【】「」"


def _normalise(label: str) -> str:
    label = _SYMBOLS.sub("", _ABBREVIATION_AFTER.sub("", label))
    bare = _IN_BRACKETS.sub("", _ENDINGS.sub("", label)).casefold().replace("\u0307", "").strip(_AROUND)
    return " ".join(bare.split())


def is_people_label(label: str) -> bool:
    """Return whether a label, such as that of a line or a column, says that names of people follow."""
    bare = _normalise(label)
    if (
        not _ALL_LABELS.isdisjoint((bare, f"{bare}s", bare.removesuffix("s")))
        or bare.startswith(("фио ", "ф.и.о"))
        or _CASELESS_LABEL.fullmatch(bare)
    ):
        return True
    if all(part in _ALL_LABELS or _NAME_OF.sub("", part) in _ALL_LABELS for part in _JOINED.split(bare)):
        return True
    words = bare.split()
    parts = (
        " ".join(part)
        for number in range(1, min(len(words), _MAX_MORE_WORDS + 1))
        for part in (words[:-number], words[number:])
    )
    return not _OTHER_LABELS.search(bare) and any(part in _ALL_LABELS and part not in _VAGUE for part in parts)


def is_vague_label(label: str) -> bool:
    """Return whether the label of a column may also stand above names of things."""
    bare = _normalise(label)
    return not _VAGUE.isdisjoint((bare, f"{bare}s", bare.removesuffix("s"))) or is_guessed_label(label)


def is_guessed_label(label: str) -> bool:
    """Return whether a Chinese, Japanese or Korean label is recognised only by its ending."""
    bare = _normalise(label)
    return bare not in _ALL_LABELS and _CASELESS_LABEL.fullmatch(bare) is not None


def is_other_label(label: str) -> bool:
    """Return whether a label says that something else than people follows."""
    return not is_people_label(label) and _OTHER_LABELS.search(label) is not None


def is_label_of_one_person(label: str) -> bool:
    """Return whether a single word after the label is a name."""
    return _normalise(label) in _ONE_PERSON
