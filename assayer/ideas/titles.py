"""Find the title of a proposal in its text: in a form's field, as a heading, or as the opening line."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from assayer.ideas.record_fields import normalise_field_name, title_field
from assayer.ideas.record_vocabulary import TITLE_WORDS
from assayer.models import Section
from assayer.reference_lists.list_titles import list_title
from assayer.text.headings import Heading
from assayer.text.section_titles import is_known_title, strip_number
from assayer.text.sentences import sentences

MAX_TITLE_CHARS = 200
_KIND = re.compile(r"^(?:research\s+)?(?:plan|proposal|idea|project(?:\s+proposal)?|title)\b\s*[:–—-]?\s*", re.I)
_ANNOUNCES = re.compile(
    r"\b(?:we|this (?:study|project|proposal|research|work|plan)|our (?:aim|goal|hypothesis|idea))\b[^.]{0,40}"
    r"\b(?:aims?|hypothesi[sz]es?|propos\w+|investigat\w+|develop\w*|introduc\w+|examin\w+|test\w*|is|will)\b",
    re.I,
)
_MAX_LINES, _MAX_CHARS = 60, 6_000
"""Lines and characters at the beginning of a text in which a form's field for the title is looked for."""
_MAX_LABEL_CHARS, _MAX_LABEL_WORDS = 80, 10
_RULE = re.compile(r"[\s|:+=-]*$")
_BULLET = re.compile(r"^[\s>|*_•-]*(?:\(?(?:\d{1,2}|[A-Za-z])(?:\.\d{1,2}){0,2}[.):]?\s*\|?\s+(?=\S))?[*_]*")
_SEPARATOR = re.compile(r"[*_]*\s*(?:[:：]|\|)[*_]*\s*")
_IN_BRACKETS = re.compile(r"\s*[(\[（][^()\[\]（）]{0,60}[)\]）]")
_PERSONAL = re.compile(
    r"(?:(?:Univ|Assoc|Assistant|Associate|Full)\.?\s)?"
    r"(?:Dr|Prof|Professor|Doctor|Mr|Mrs|Ms|Mx|Miss|Herr|Frau|Mag|PD|MSc|PhD)"
    r"\b.{0,12}$"
)
_GENERIC_TEXT = """
    research project projects grant grants funding phd doctoral master thesis full short small large proposal proposals
    application applications plan form template description draft concept note statement of the for a an and to in on
    submission idea part section call round version final document untitled outline abstract summary letter intent
    expression interest work programme program scheme award fellowship annual new title study pre technical annex i
    ii iii
    antrag projektantrag forschungsantrag antragsformular projektskizze projektbeschreibung skizze forschungsvorhaben
    dossier demande candidature formulaire projet recherche de du des la le d'une solicitud formulario proyecto
    investigación propuesta memoria candidatura formulário projeto pesquisa proposta domanda progetto ricerca aanvraag
    aanvraagformulier projectvoorstel onderzoeksvoorstel ansökan projektansökan søknad ansøgning hakemus wniosek заявка
    申请书 申請書 项目申请书 研究計画書 연구계획서
"""
_GENERIC = frozenset(_GENERIC_TEXT.split())
_FILE_NAME = re.compile(
    r"^(?:untitled|unbenannt|sans titre|microsoft (?:word|powerpoint)|powerpoint presentation|google docs|document\d*|"
    r".*\.(?:docx?|dotx?|odt|tex|dvi|pdf|indd|qxd|html?|md))\b",
    re.IGNORECASE,
)
_SITE = re.compile(r"(?:\s[|·»]\s|\s::\s)[^|·»]{1,80}$|\s[–—-]\s(?:[A-Z0-9][\w.&’'-]*\s?){1,4}$")
"""Name of a website after the title of a page."""
_YEAR = re.compile(r"(?:19|20)\d\d")
_MIN_WORDS = 3
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")


def is_generic_title(title: str) -> bool:
    """Return whether a title names only the kind of document, such as `Research proposal` or `Application form 2025`.
    A number other than a year tells documents apart: `Proposal 17`."""
    words = _WORD.findall(title.casefold())
    return bool(words) and all(
        word in _GENERIC or _YEAR.fullmatch(word) or (word.isalpha() and len(word) == 1) for word in words
    )


def is_file_name(title: str) -> bool:
    """Return whether the title in a file's properties is the name of a file or of a program."""
    return _FILE_NAME.match(title) is not None


def strip_site(title: str) -> str:
    """Return the title of a page without the name of the website after it."""
    bare = _SITE.sub("", title)
    return bare if len(bare.split()) >= _MIN_WORDS else title


def find_labelled_title(text: str, *, named: bool = False) -> str:
    """Return the title in a form's field, such as `Project title: …`, a row of a table, or a line below the label;
    empty if there is none. With `named`, `Title` alone is no label. Only fields above the first section are read."""
    lines = [line for line in text[:_MAX_CHARS].split("\n") if not _RULE.fullmatch(line)][:_MAX_LINES]
    candidates = list(_labelled_values(lines))
    others = (value for value, _ in candidates if not named)
    return next((value for value, is_named in candidates if is_named), next(others, ""))


def _labelled_values(lines: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """Yield the values of fields for the title, and whether the label names whose title it is: the project's."""
    for place, line in enumerate(lines):
        bare = line.strip(" \t#*_|")
        if is_known_title(strip_number(bare)) or list_title(bare):
            return
        content = _BULLET.sub("", line, count=1)
        separator = _SEPARATOR.search(content, 0, _MAX_LABEL_CHARS)
        label = _IN_BRACKETS.sub("", content[: separator.start()] if separator else content).strip(" *_")
        kind = _title_kind(label)
        if not kind:
            continue
        value = content[separator.end() :].strip(" \t|*_") if separator else ""
        if not value and place + 1 < len(lines) and kind == "named":
            value = lines[place + 1].strip(" \t|*_#")
        if _may_be_title(value):
            yield value, kind == "named"


def _title_kind(label: str) -> str:
    """Return `named` for the label of a project's title, `bare` for `Title` alone; empty for other labels."""
    if len(label) > _MAX_LABEL_CHARS or len(label.split()) > _MAX_LABEL_WORDS or title_field([label]) is None:
        return ""
    return "named" if set(normalise_field_name(label).split("_")) - TITLE_WORDS else "bare"


def _may_be_title(value: str) -> bool:
    return (
        len(value) >= 8 and not _PERSONAL.match(value) and not _title_kind(value) and len(value) <= 2 * MAX_TITLE_CHARS
    )


def find_title_heading(text: str, headings: Sequence[Heading]) -> Heading | None:
    """Return the heading that is the title of the whole text and not of a section, or None. A heading that names only
    the kind of document is skipped if another follows."""
    skipped_count = 0
    for heading, following in pairwise(headings):
        if not is_generic_title(heading.title) or text[heading.end : following.start].strip():
            break
        skipped_count += 1
    if skipped_count == len(headings) or is_known_title(strip_kind(headings[skipped_count].title) or "-"):
        return None
    first, rest = headings[skipped_count], headings[skipped_count + 1 :]
    outermost = all(first.level < heading.level for heading in rest)
    without_own_text = bool(rest) and not text[first.end : rest[0].start].strip()
    opens = not text[headings[skipped_count - 1].end if skipped_count else 0 : first.start].strip()
    return first if opens and (outermost or without_own_text) else None


def strip_kind(title: str) -> str:
    """Return a title without the kind of document before it: `Research plan: …`."""
    words = _KIND.sub("", title)
    return words if any(map(str.isalpha, words)) else title


def find_opening_line(text: str) -> str:
    """Return the first line if it stands alone and is neither a sentence nor the name of the kind of document."""
    line, _, rest = text.strip().partition("\n")
    alone = (
        not is_generic_title(line)
        and rest.startswith("\n")
        and len(line) <= MAX_TITLE_CHARS
        and not line.rstrip().endswith((".", ":", ";", ","))
    )
    return line if alone else ""


def find_announcing_sentence(sections: Sequence[Section]) -> str:
    """Return the sentence that announces the work, or the first sentence if there is none."""
    opening = [sentence for section in sections[:2] for sentence in sentences(section.text[:5_000], min_words=4)]
    announcing = (item for item in opening if _ANNOUNCES.search(item))
    return next(announcing, next(iter(opening), sections[0].text))
