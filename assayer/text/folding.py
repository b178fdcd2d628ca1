"""Folding of names and titles, which removes differences in spelling: accents, case, and letters that are sometimes
written out."""

import re
import unicodedata

_LETTERS = str.maketrans(
    {
        "ø": "o", "ł": "l", "đ": "d", "ð": "d", "ħ": "h", "ŧ": "t", "ı": "i", "ŋ": "ng", "ə": "a",
        "æ": "ae", "œ": "oe", "þ": "th", "ß": "ss", "ĸ": "k", "ƒ": "f", "ɓ": "b", "ɗ": "d", "ƙ": "k",
        "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "ζ": "zeta", "η": "eta",
        "θ": "theta", "ι": "iota", "κ": "kappa", "λ": "lambda", "μ": "mu", "ν": "nu", "ξ": "xi", "π": "pi",
        "ρ": "rho", "σ": "sigma", "ς": "sigma", "τ": "tau", "φ": "phi", "χ": "chi", "ψ": "psi", "ω": "omega",
    }
)  # fmt: skip
"""Letters that Unicode does not decompose, with their usual ASCII replacements."""
_WRITTEN_OUT = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa"})


def fold_text(text: str) -> str:
    """Return a text in lower case without accents; for example, `Ø` becomes `o`, `ß` becomes `ss`, `β` becomes
    `beta`."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
    letters = "".join(letter for letter in plain if unicodedata.category(letter) != "Mn" or letter > "\u0370")
    return letters.translate(_LETTERS)


def german_folded(text: str) -> str:
    """Return a folded text with its umlauts written out: `Müller` becomes `mueller`, `Høst` becomes `hoest`."""
    return fold_text(unicodedata.normalize("NFC", text).casefold().translate(_WRITTEN_OUT))


def pinyin_folded(text: str) -> str:
    """Return a folded text with the `ü` of Chinese names written as in passports: `Lü` becomes `lyu`."""
    return fold_text(re.sub("(?<=[ln])ü", "yu", unicodedata.normalize("NFC", text).casefold()))
