"""Detection of the encoding of a text that has no byte order mark and is not UTF-8.

charset-normalizer measures how likely it is that a decoding is text at all, which distinguishes scripts and multi-byte
encodings. It cannot distinguish encodings of one script that differ in only a few special letters (Windows-1252 and Mac
Roman, Windows-1250 and ISO 8859-2), nor Hebrew from lower-case Cyrillic: these are compared by the letters that
languages use."""

import codecs
import re
import unicodedata

from charset_normalizer import from_bytes
from charset_normalizer.constant import FREQUENCIES

_LATIN = ("cp1252", "cp1250", "iso8859_2", "mac_roman", "cp1254", "cp1257", "cp850", "mac_latin2", "iso8859_15")
"""Encodings of Latin letters; if several fit equally well, the first is used."""
_OTHERS = (
    "gb18030", "big5", "cp932", "euc_jp", "cp949", "cp1251", "koi8_r", "koi8_u", "mac_cyrillic", "iso8859_5", "cp866",
    "cp1253", "cp1255", "cp1256", "cp874",
)  # fmt: skip
_MULTI_BYTE = ("gb18030", "big5", "cp932", "euc_jp", "cp949")
_ALPHABETS = tuple(
    frozenset(letters + letters.upper())
    for letters in (
        "àâæçéèêëîïôœùûüÿ", "äöüßé", "áéíñóúüªº", "àáâãçéêíóôõú", "àèéìòóùî", "éëïóöüèê", "åäöæøéü", "áðéíóúýþæö",
        "àçèéíïòóúü", "ąćęłńóśźż", "áčďéěíňóřšťúůýžäĺľŕô", "áéíóöőúüű", "ăâîșțşţ", "čćđšž", "çğıöşüâîûİ", "ąčęėįšųūž",
        "āčēģīķļņšūž", "äõöüšž", "ëç",
    )
)  # fmt: skip
"""Special letters used by languages in Latin script."""
_NAMES = frozenset("áàâäãåæçéèêëíìîïñóòôöõøœúùûüßÁÀÂÄÃÅÆÇÉÈÊËÍÌÎÏÑÓÒÔÖÕØŒÚÙÛÜ")
"""Letters in names and loan words that can occur in a text of any language."""
_PUNCTUATION = frozenset("“”‘’„‚«»‹›–—…•·°±×§€£©®™½¼¾²³µ†‡¿¡ \u00ad")
_ALONE = _NAMES.difference("ÀÂÄÃÆÇÊËÌÎÏÑÒÔÕØŒÙÛÜÚ") | frozenset("ýąÅÖªº")
"""Letters that can stand alone, as words or as symbols."""
_AFTER_WORDS = frozenset("®™©¾½¼³²±¶")
_WITHIN_WORDS = frozenset("’‘·–\u00ad")
_FOREIGN_LETTER = 0.4
_IN_NAMES = 0.01
_DENSE = 0.3
"""Minimum number of special letters per word for them to count as letters of the text's language."""
_WRONG = 1.0
_MAX_COST = 0.15
"""Maximum accepted cost per special character."""
_MAX_CHAOS = 0.1
"""Maximum accepted mess ratio of a decoding, as measured by charset-normalizer (0 is none)."""
_MOSTLY_LATIN = 0.4
"""Maximum share of special bytes among the bytes of words for a text to count as Latin script."""
_MIN_SPECIAL_BYTES = 12
"""Minimum number of special bytes in a mostly Latin text for another script to be considered."""
_ALIKE = 0.05
_MULTI_BYTE_ADVANTAGE = 0.6
"""Amount by which the familiarity of a script with few letters must exceed that of one with thousands of characters."""
_SAMPLE = 1 << 16


def special_lines(data: bytes, max_bytes: int = _SAMPLE) -> bytes:
    """Return the lines that contain non-ASCII bytes, up to `max_bytes` bytes. In all encodings detected here, the byte
    of a line ending never occurs within another character."""
    lines, size = [], 0
    for line in data.split(b"\n"):
        if not line.isascii():
            lines.append(line[:max_bytes])
            size += len(line)
            if size > max_bytes:
                break
    return b"\n".join(lines)


def detect_encoding(data: bytes) -> str | None:
    """Return the encoding; None if no known encoding produces readable text."""
    sample = special_lines(data)
    special = sum(byte > 0x7F for byte in sample)
    words = sum(byte > 0x7F or chr(byte).isalnum() for byte in sample)
    if special < _MOSTLY_LATIN * words:
        return _latin(sample) or (_other(sample) if special >= _MIN_SPECIAL_BYTES else None)
    return _other(sample)


def _latin(sample: bytes) -> str | None:
    """Return the encoding in which all special characters are letters of one language, or punctuation in plausible
    positions."""
    costs = {name: cost for name in _LATIN if (cost := _latin_cost(sample, name)) is not None}
    best = min(costs, key=costs.__getitem__, default=None)
    return best if best and costs[best] <= _MAX_COST else None


def _latin_cost(sample: bytes, encoding: str) -> float | None:
    """Return the cost per special character; None if the bytes are invalid in the encoding."""
    try:
        text = sample.decode(encoding)
    except UnicodeDecodeError:
        return None
    places = [number for number, character in enumerate(text) if character > "\x7f"]
    if not places:
        return None
    special = [text[place] for place in places]
    misplaced = sum(_is_misplaced(text, place) for place in places)
    letters = [character for character in special if character not in _PUNCTUATION]
    of_names = _IN_NAMES if len(letters) < _DENSE * len(text.split()) else _FOREIGN_LETTER
    foreign = min(sum(_letter_cost(letter, alphabet, of_names) for letter in letters) for alphabet in _ALPHABETS)
    return (misplaced * _WRONG + foreign) / len(places)


def _letter_cost(character: str, alphabet: frozenset[str], of_names: float) -> float:
    """Return the cost of a special letter; 0 if it is in the language's alphabet. `of_names` is the cost of letters
    that occur in names: low if the text's special letters are so rare that they may all come from names."""
    if character in alphabet:
        return 0.0
    return of_names if character in _NAMES else _FOREIGN_LETTER if character.isalpha() else _WRONG


def _is_misplaced(text: str, place: int) -> bool:
    """Return whether the character is in an implausible position: a symbol within a word, or a capital after a
    lower-case letter."""
    character, before, after = text[place], text[place - 1 : place], text[place + 1 : place + 2]
    if unicodedata.category(character) == "Cc":
        return True
    if not character.isalpha():
        within = before.isalpha() and after.isalpha() and character not in _WITHIN_WORDS
        return within or (after.isalpha() and character in _AFTER_WORDS)
    if not before.isalpha() and not after.isalpha():
        return character not in _ALONE
    return character.isupper() and before.islower()


def _other(sample: bytes) -> str | None:
    """Return the encoding of a text that is not in Latin script; None if no encoding fits. If several encodings fit
    about equally well, the one is chosen whose decoded letters are the most frequent ones in some language."""
    matches = [match for match in from_bytes(sample, cp_isolation=list(_OTHERS)) if match.chaos <= _MAX_CHAOS]
    lowest = min((match.chaos for match in matches), default=0.0)
    alike = [match for match in matches if match.chaos <= lowest + _ALIKE]
    fits = {match.encoding: _familiarity(str(match)) for match in alike}
    # Bytes of another encoding are hardly ever valid in a multi-byte encoding.
    best = max(
        fits,
        key=lambda name: fits[name] + _MULTI_BYTE_ADVANTAGE * (name in _MULTI_BYTE and fits[name] > 0),
        default=None,
    )
    return best if best and fits[best] else None


def _familiarity(text: str) -> float:
    """Return how frequent the special letters of a text are in the best-matching language, from 0 to 1."""
    letters = [character.lower() for character in text if character.isalpha() and not character.isascii()]
    if not letters:
        return 0.0
    # Japanese is recognised by its kana, because its Han characters also occur in Chinese.
    alphabets = (item for name, item in FREQUENCIES.items() if not item[0].isascii() and name != "Japanese")
    ranks = ({letter: rank for rank, letter in enumerate(listed)} for listed in alphabets)
    return max(
        sum(1 / (1 + ranks_of[letter] / len(ranks_of)) for letter in letters if letter in ranks_of) / len(letters)
        for ranks_of in ranks
    )


def utf16_without_mark(data: bytes) -> str | None:
    """Return the byte order of UTF-16 text without a byte order mark; None if the bytes are not UTF-16. In every
    script, spaces and line endings contain a zero byte, whose position gives the byte order."""
    sample = data[: len(data[:_SAMPLE]) // 2 * 2]
    for encoding, marks in (("utf-16-le", (b"\n\0", b" \0")), ("utf-16-be", (b"\0\n", b"\0 "))):
        if all(match.start() % 2 for mark in marks for match in re.finditer(mark, sample)):
            continue
        try:
            text = codecs.getincrementaldecoder(encoding)().decode(sample)  # the sample may end within a character
        except UnicodeDecodeError:
            continue
        odd = sum(unicodedata.category(character) in ("Cc", "Cn", "Co", "Cs") for character in text.translate(_BLANKS))
        if not odd and "\0" not in text:
            return encoding
    return None


_BLANKS = dict.fromkeys(map(ord, "\t\n\r\f\ufeff"), " ")
