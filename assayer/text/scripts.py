"""Scripts without spaces between words, and scripts whose letters carry marks, which `\\w` does not handle.

Python's `\\w` does not match vowel signs of Thai, Hindi, Bengali, Tamil and others, so words that differ only in vowel
signs would be equal. In Chinese, Japanese, Thai, Lao, Khmer and Burmese, words begin and end without a space."""

import re
import unicodedata
from collections.abc import Iterator

UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17d3\u17dc-\u17ff\u3005-\u3007\u3040-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Character ranges of scripts without spaces, for a regular expression class."""


def ranges(codes: Iterator[int]) -> str:
    """Return the ranges of the codes, in increasing order, for use in a regular expression class."""
    found: list[list[int]] = []
    for code in codes:
        if found and code == found[-1][1] + 1:
            found[-1][1] = code
        else:
            found.append([code, code])
    return "".join(chr(first) if first == last else f"{chr(first)}-{chr(last)}" for first, last in found)


MARKS = ranges(
    code
    for first, end in ((0x483, 0x1AB0), (0x1B00, 0x1DC0), (0x302A, 0x3100), (0xA66F, 0xAC00), (0x11000, 0x11FFF))
    for code in range(first, end)
    if unicodedata.category(chr(code)) in {"Mn", "Mc"}
)
"""Vowel signs, tone marks and points that are part of the spelling like letters, for use in a regular expression class.
Accents on Latin letters are excluded, because they are merged with their letter or dropped."""
WORD_LETTER = rf"(?:[^\W_]|[{MARKS}])"
"""Pattern for a letter or digit, or of a mark that is part of the spelling."""

UNSPACED_LETTER = re.compile(rf"(?![{MARKS}])[{UNSPACED}]")
_WORD = re.compile(rf"(?![{MARKS}])[{UNSPACED}][{MARKS}]*|(?:(?![{UNSPACED}]){WORD_LETTER}|_)+")
_PLAIN_WORD = re.compile(r"\w+")
_SPECIAL = re.compile("[\u0483-\u1fff\u3000-\U0010ffff]")
"""Pattern for every letter of MARKS and UNSPACED, and others; a class of two ranges is fast to search for."""


def normalise_words(text: str) -> list[str]:
    """Return the words in lower case, without punctuation. In scripts without spaces, each letter with its marks is
    a word."""
    folded = text.casefold()
    # The long pattern takes ten times as long, and few texts need it.
    return (_WORD if _SPECIAL.search(folded) else _PLAIN_WORD).findall(folded)


def count_unspaced_letters(text: str) -> int:
    """Return the number of letters in scripts without spaces; two such letters correspond to about one word of
    other scripts."""
    return len(UNSPACED_LETTER.findall(text))
