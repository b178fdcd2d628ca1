"""Find where the last entry of a reference list ends: prose, tables, figures, code or an appendix may follow."""

import re
from collections.abc import Sequence
from itertools import islice, takewhile

from assayer.reference_lists.entry_shape import begins_entry, begins_with_names, has_year_or_link, is_prose, is_record
from assayer.reference_lists.list_lines import CAPTION, ENDED, FENCE, ListLine, split_lines

_MAX_TITLE_CHARS = 60
"""Maximum characters of a line that is the title of a section below a list."""
_MIN_ENTRIES = 3
"""Minimum number of entries above a title that ends a list."""
_MIN_ENTRY_CHARS, _AHEAD = 45, 300
"""Minimum characters of an entry before prose, and number of characters that show whether prose follows."""
FOLLOWS = re.compile(
    r"(?:appendi(?:x|ces)|annex(?:es|e)?|anhang|anexos?|ap[eé]ndices?|allegat[oi]|lampiran|приложени[ея]|supplement|"
    r"(?:list|index) of (?:figures|tables)|(?:author )?biograph(?:y|ies))",
    re.IGNORECASE,
)
"""Beginning of the title of a section that may follow a reference list."""
_LETTER = re.compile(r"^[A-H]\.?\s")
ABOUT_AUTHORS = re.compile(r"\s*(?:affiliations?|correspondence|corresponding authors?|about the authors?):?\s*$", re.I)
_COPYRIGHT = re.compile(r"\s*(?:©|\(c\)|copyright\b)\s?(?:19|20)\d\d", re.IGNORECASE)
"""Notice at the end of a web page."""
_AXIS = re.compile(r"\s*(?:[\d.,%−-]{1,12}\s+){3,40}[\d.,%−-]{1,12}\s*$")
"""Line of numbers only: the labels of an axis, or a row of a table without borders."""
_CODE = re.compile(
    r"""\s*(?:\d{1,4}:?\s+)?(?:
      (?:import|from|package|using)\s[\w.:*]+(?:\s+(?:import|as)\s[\w*., ]+)?;?\s*$
    | (?:def|class|function|func|fn|sub|for|while|if|elif|with|switch|try|except)\b[^.]{0,120}[:{]\s*$
    | (?:else|try|finally|do|begin)\s?[:{]?\s*$ | end(?:if|for|function)?;?\s*$
    | (?:return|yield|raise|print|echo|let|const|var)\b[^.]{0,120}$
    | (?:function\s[^()]{1,60}\([^()]{0,80}\)|(?:library|require|source)\(\S{1,60}\))\s*;?\s*$
    | (?:SELECT|FROM|WHERE|GROUP\ BY|ORDER\ BY|INSERT\ INTO|CREATE\ TABLE|JOIN|UPDATE|DELETE)\b.{0,120}$
    | (?:\#include|\#!|\#\s|//|/\*|\*/|%\s|>>>|\$\s).{0,160}$
    | [\w.\[\]"'$]{1,60}\s*(?:=|<-|:=|[+*/-]=)\s?[^=\s].{0,160}$
    | (?:int|float|double|char|void|bool|auto|string|public|private|static)\s[\w<>*&\[\], ]{1,60}[({=;].{0,120}$
    | [A-Za-z_][\w.:]{0,60}\([^()]{0,80}(?:\([^()]{0,80}\)[^()]{0,40}){0,3}\)\s*[;{]?\s*$
    | "[^"\n]{1,60}"\s*:\s.{0,160}$ | [\[{}\]()]{1,3}[;,]?\s*$ | .{0,160}[{}]\s*$ | .{0,100}[(=].{0,100};\s*$
    )""",
    re.VERBOSE,
)
"""Line of a program, a configuration or a query."""
_IN_SENTENCE = re.compile(r"(?:[^\W\d_]+,? ){5}[^\W\d_]+")
"""Six words in a row, which code has only in comments and texts."""
_MAX_CODE_CHARS = 200


def find_end_of_entries(listed: str) -> int:
    """Return where the last entry of a list ends. Prose without a heading may follow the list."""
    lines = list(split_lines(listed))
    code = _find_code(lines)
    if code is not None:
        listed, lines = listed[: lines[code].start], lines[:code]
    ahead = [" ".join(item.text[:_AHEAD] for item in lines[place : place + 8])[:_AHEAD] for place in range(len(lines))]
    for place, line in enumerate(lines):
        # An appendix cites works too.
        follows = line.stands_alone and len(line.text) <= _MAX_TITLE_CHARS and may_follow_list(line.text.strip())
        if follows or ABOUT_AUTHORS.match(line.text):
            earlier = zip(lines[:place], ahead, strict=False)
            if (
                len(list(islice((1 for it, shown in earlier if _begins_dated_entry(it.text, shown)), _MIN_ENTRIES)))
                == _MIN_ENTRIES
            ):
                return line.start
            break
    last = next(
        (place for place in reversed(range(len(lines))) if _begins_dated_entry(lines[place].text, ahead[place])), 0
    )
    length, dated = 0, False
    for above, line, shown in zip(lines[last:], lines[last + 1 :], ahead[last + 1 :], strict=False):
        length, dated = length + len(above.text), dated or has_year_or_link(above.text)
        is_title = len(line.text) <= _MAX_TITLE_CHARS and may_follow_list(line.text.strip())
        prose = line.text.strip()[:1].isupper() and is_prose(shown)
        is_complete = dated and length >= _MIN_ENTRY_CHARS and ENDED.search(above.text)
        if is_complete and (prose or is_title or any(shape.match(line.text) for shape in (CAPTION, _COPYRIGHT, _AXIS))):
            return line.start
    return len(listed)


def may_follow_list(title: str) -> bool:
    """Return whether a title is that of a section that may follow a list, also with a letter: `A Appendix`."""
    return FOLLOWS.match(_LETTER.sub("", title, count=1)) is not None


def _begins_dated_entry(line: str, ahead: str) -> bool:
    """Return whether a line begins an entry with a date, or a record, whose abstract is part of it."""
    return is_record(line) or (begins_entry(line) and has_year_or_link(ahead) and not is_prose(line[:_AHEAD]))


def _find_code(lines: Sequence[ListLine]) -> int | None:
    """Return the first line of the code that follows entries: two lines of code in a row below the end of an entry, the
    fence above them, and their caption. None if there is none, or if the entries themselves are records."""
    if any(is_record(line.text) for line in lines):
        return None
    is_entry_above = False
    for place, line in enumerate(lines):
        if is_entry_above and _is_code(line.text) and _is_code(lines[min(place + 1, len(lines) - 1)].text):
            above = (item.text for item in reversed(lines[:place]))
            return place - sum(1 for _ in takewhile(lambda text: FENCE.match(text) or CAPTION.match(text), above))
        is_entry_above = is_entry_above or begins_entry(line.text) or has_year_or_link(line.text)
    return None


def _is_code(line: str) -> bool:
    is_short = len(line) <= _MAX_CODE_CHARS and not begins_with_names(line)
    return is_short and _CODE.match(line) is not None and not _IN_SENTENCE.search(line)
