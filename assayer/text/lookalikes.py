"""Characters that only look like others: a text as the eye reads it, letter for letter, to search in."""

import re
import unicodedata

__all__ = ["LOOKALIKES", "folded", "words_of"]

LOOKALIKES = dict(
    zip(
        "АВЕІЈКМНОРСТУХЅԌԚԜаеорсухіјѕԁһԛԝΑΒΕΖΗΙΚΜΝΟΡΤΥΧο",
        "ABEIJKMHOPCTYXSGQWaeopcyxijsdhqwABEZHIKMNOPTYXo",
        strict=True,
    )
)
"""Letters that nobody can tell from Latin ones. Greek letters that science writes beside Latin ones on
purpose (α, ν, ρ, κ …) are not among them."""
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


def folded(text: str) -> str:
    """As long as the text, every character at its place: accents, widths and styles gone, foreign letters that look
    Latin made Latin, all brackets of the world made `[]`. To look for forms in, not to show."""
    return text if text.isascii() else text.translate(_FOLDING)


def words_of(text: str) -> str:
    """Its words in small letters with one space between, to look for the words of a title in."""
    return " ".join(_WORD.findall(folded(text).casefold()))
