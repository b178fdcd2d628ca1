"""Look-alike characters: for searching, fold a text, character by character, to the letters that a reader sees."""

import re
import unicodedata

LOOKALIKES = dict(
    zip(
        "АВЕІЈКМНОРСТУХЅԌԚԜаеорсухіјѕԁһԛԝΑΒΕΖΗΙΚΜΝΟΡΤΥΧο",
        "ABEIJKMHOPCTYXSGQWaeopcyxijsdhqwABEZHIKMNOPTYXo",
        strict=True,
    )
)
"""Letters that look the same as Latin letters. Greek letters that science uses together with Latin ones (α, ν, ρ, κ …)
are excluded."""
_ALIKE = LOOKALIKES | dict.fromkeys("ᏢᴘⲢꓑ", "P")
_ALIKE |= dict.fromkeys("【〔⟦〖❲⦗「『〚｢⁅⟬⟮❨❪❴⦋❬❰⟨⟪〈《〈", "[") | dict.fromkeys(
    "】〕⟧〗❳⦘」』〛｣⁆⟭⟯❩❫❵⦌❭❱⟩⟫〉》〉", "]"
)
_ALIKE |= dict(zip("ŁłØøĐđıÆæŒœ", "LlOoDdiAaOo", strict=True))
_ALIKE |= dict.fromkeys("‐‑‒–—―−⁃﹣", "-") | dict.fromkeys("’ʼ′＇", "'") | {"，": ",", "；": ";", "：": ":", "。": "."}


class _Folding(dict[int, str]):
    def __missing__(self, code: int) -> str:
        char = chr(code)
        base = _ALIKE.get(char) or unicodedata.normalize("NFKD", char)[0]
        base = _ALIKE.get(base, base)
        digit = unicodedata.digit(char, None)
        self[code] = base if base.isascii() else str(digit) if digit is not None else char
        return self[code]


_FOLDING = _Folding()
_WORD = re.compile(r"[^\W_]+")


def fold_lookalikes(text: str) -> str:
    """Fold a text character by character, keeping its length: accents, widths and styles are removed, foreign
    letters that look Latin become Latin, and all kinds of brackets become `[]`. Use it for pattern search, not for
    display."""
    return text if text.isascii() else text.translate(_FOLDING)


def normalise_words(text: str) -> str:
    """Return the text's words in lower case, separated by single spaces. Titles are compared in this form."""
    return " ".join(_WORD.findall(fold_lookalikes(text).casefold()))
