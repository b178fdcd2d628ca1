"""Title of an entry in a reference list, and where it ends."""

import re
from typing import NamedTuple

from assayer.reference_lists.entry_shape import UPPER

_MIN_TITLE_CHARS = 8
_MAX_TITLE_CHARS = 300
_REST_OF_NAMES = re.compile(
    rf"(?:{UPPER}|[a-z])\.,|(?:{UPPER}\. ?)+ ?{UPPER}[\w’'-]+(?:,| and | & )|{UPPER}, (?:and |& )?{UPPER}"
    rf"|[a-z]+: {UPPER}$|{UPPER}[\w’'-]+, [Ee]ds?$"
)
"""Initials with a comma or a family name after them: the end of a list of names, not a title."""
SENTENCE_END = re.compile(
    r"(?<!\b[^\W\d_a-z\u3040-\u9fff\uac00-\ud7ff])(?<!\bal)(?<!\bVol)(?<!\bNo)(?<!\bSt)(?<!\bJr)(?<!\(Tech)"
    r"(?:[.?!][”\"]?\s+(?=(?:[\"“(¿¡]|[´¨`ˆ˜] )?\w)|[。．]\s*)"
)
_ENDS_IN_INITIAL = re.compile(rf"^(?!.*(?:^|\s)[a-z]{{2,}}\s)\S+\s\S.*\s{UPPER}$")
"""Capitalised words that end in an initial, which are names rather than a title."""


class EntryFields(NamedTuple):
    authors: tuple[str, ...] = ()
    title: str = ""


def may_be_title(title: str) -> bool:
    """Return whether a text has the length of a title and is not the end of a list of names."""
    unspaced = any("\u3040" <= letter <= "\uffdc" for letter in title)
    shortest = _MIN_TITLE_CHARS // 2 if unspaced else _MIN_TITLE_CHARS
    return shortest <= len(title) <= _MAX_TITLE_CHARS and not (
        _REST_OF_NAMES.match(title) or _ENDS_IN_INITIAL.match(title)
    )
