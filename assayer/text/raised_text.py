"""Superscripts and subscripts on one line, in the notation that people type: `10^-3`, `x_i`. A raised number after a
word is a citation mark, `[3]`; a chemical formula and an ordinal need no mark: `CO2`, `19th`."""

import re
from collections.abc import Iterable
from itertools import groupby
from operator import itemgetter
from typing import Literal

Script = Literal["", "^", "_"]
"""Position of a piece of text: on the line, raised or lowered."""
RAISED, LOWERED, ON_LINE = "\ue1a1", "\ue1a2", "\ue1a0"
"""Marks in a line of a PDF before a superscript, before a subscript, and after either."""

_MAX_BASE_CHARS = 120
_MAX_SCRIPT_WORDS = 2
"""Maximum number of words in a superscript or subscript; longer text is only placed there."""
_NUMBERS = re.compile(r"\d{1,3}(?:\s?[-–,;]\s?\d{1,3}){0,20}")
_SIMPLE = re.compile(r"[-−–+]?\d+(?:[.,]\d+)?|\d*[-−–+]|\w+|\d{1,3}(?:[,;]\d{1,3})+")
"""Script that needs no brackets."""
_SIGNED = re.compile(r"[-−–+]\d")
_NEEDS_MARK = re.compile(r"[\w+−–-]")
_BRACKETED = re.compile(r"\[.*\]")
_ORDINALS = re.compile(r"st|nd|rd|th|er|re|e|[eè]me|i[eè]me")
_AFTER_ORDINAL = re.compile(r"(?:\d|\b[IVXLC]{1,7}|(?<![A-Za-z])[ijkmn])$")
_ABBREVIATIONS = re.compile(r"\b(?:[Nn](?:o|os)|M(?:me|lle|mes|r)|D(?:r|re)|P(?:r|rof))$")
"""Abbreviation whose end is raised: `nᵒ`, `Mᵐᵉ`."""
_SIGNS = {"TM": "™", "SM": "℠", "tm": "™"}

_WORD_AT_END = re.compile(r"(?P<word>[^\W\d_]+)[.,;:!?”\"’»*_]{0,4}$")
_WORD = re.compile(r"[^\W\d_]{3}")
_OTHERS_AT_END = re.compile(r"\bet al\b\.?$")
_CLOSED_AT_END = re.compile(r"[.,;:!?”\"’»%]$")
_PARENTHESES_AT_END = re.compile(r"\((?P<inside>[^()]{0,80})\)$")
_FORMULA = re.compile(r"[+−*/=×·^_]| - ")
_YEAR_AT_END = re.compile(r"(?<![\d.,])(?:1[5-9]|20)\d\d$")
_NAME_AND_NUMBER_AT_END = re.compile(r"[^\W\d_]{2,20}-?\d{1,3}$")
_SENTENCE_END = re.compile(r"(?<!\bal)(?<!\bFig)(?P<mark>[.!?])$")
_NEXT_SENTENCE = re.compile(r"\s*$|\s+[^\Wa-z]")
_LONG_WORD = re.compile(r"[^\W\d_]{4,}")
_MIN_LONG_WORDS, _MIN_LOWER_SHARE = 4, 0.4
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_MIN_UNSPACED = 40
_RAISED_TEXT = """
    metre metres meter meters kilometre kilometres kilometer kilometers centimetre centimetres centimeter centimeters
    millimetre millimetres millimeter millimeters inch inches foot feet yard yards mile miles pixel pixels degree
    degrees deg arcsec arcmin rad sec parsec kpc mpc chi eta alpha beta gamma delta epsilon theta lambda sigma omega
    kappa rho tau phi psi sin cos tan log exp mse rmse sse
"""
_UNITS = frozenset(_RAISED_TEXT.split())
"""Units, letters and functions that are raised to a power."""
_SHORT_WORDS = frozenset(["it", "us", "so", "do", "be", "go", "up", "on", "no", "by", "in", "to", "is", "as", "me"])
"""Words of two letters after which a number is a citation mark, unlike after a unit or a variable."""

_ELEMENT = (
    r"(?:A[cglmrstu]|B[aehikr]?|C[adeflmorsu]?|D[by]|E[rsu]|F[elmr]?|G[ade]|H[efgos]?|I[nr]?|Kr?|L[airuv]|M[dgno]|"
    r"N[abdeiop]?|Os?|P[abdmortu]?|R[abefghnu]|S[bcegimnr]?|T[abcehilm]|U|V|W|Xe|Yb?|Z[nr])"
)
_CHEMICAL = re.compile(rf"(?:[\[(]?{_ELEMENT}\d{{0,3}}(?:[\])]\d{{0,3}})?){{1,20}}$")
_TOKEN_AT_END = re.compile(r"[A-Za-z0-9()\[\].]{1,40}$")
_PAIRS = frozenset(("H", "N", "O", "F", "I", "Cl", "Br"))
"""Elements whose molecules have several atoms."""
_CAPITALS_AT_END = re.compile(r"(?<![A-Za-z])[a-z]?[A-Z]{2,6}$")
_COUNT = re.compile(r"\d{1,3}(?:\.\d)?")

_TAG = re.compile(
    r"<(?:\w{1,10}:)?(?P<name>sup|sub)(?:\s(?![^<>]{0,200}(?:style|hidden))[^<>]{0,200})?>"
    r"(?P<inside>(?:[^<>\n]|</?(?:b|em|i|strong|italic|bold)>){1,200}?)</(?:\w{1,10}:)?(?P=name)\s?>",
    re.IGNORECASE,
)
"""Superscript and subscript in HTML and JATS. Attributes that may hide text are left to the sanitiser."""
_INNER_TAG = re.compile(r"<[^<>]*>")
_PANDOC = re.compile(
    r"(?<=[^\s^\[])\^(?P<raised>[-−+]?[\w,–+−-]{1,12})\^(?![\w^])|(?<=[^\W_])~(?P<lowered>\d{1,4}|[a-z]|max|min)~(?!~)"
)
"""Superscript and subscript in pandoc's Markdown: `10^-3^`, `H~2~O`."""


def rewrite_script_tags(text: str) -> str:
    """Return the text with the superscripts and subscripts of HTML and JATS rewritten on the line."""
    return _rewrite_lines(text, _TAG) if "<" in text else text


def rewrite_script_marks(text: str) -> str:
    """Return a text in Markdown with its superscripts and subscripts, also those of pandoc, rewritten on the line."""
    return (
        _rewrite_lines(rewrite_script_tags(text), _PANDOC) if "^" in text or "~" in text else rewrite_script_tags(text)
    )


def _rewrite_lines(text: str, pattern: re.Pattern[str]) -> str:
    if pattern.search(text) is None:
        return text
    return "\n".join(_rewrite_line(line, pattern) for line in text.split("\n"))


def _rewrite_line(line: str, pattern: re.Pattern[str]) -> str:
    pieces, position = list[tuple[str, Script]](), 0
    for match in pattern.finditer(line):
        groups = match.groupdict()
        is_raised = (groups.get("name") or "").lower() == "sup" or groups.get("raised") is not None
        inside = groups.get("raised") or groups.get("lowered") or _INNER_TAG.sub("", groups.get("inside") or "")
        pieces += [(line[position : match.start()], ""), (inside, "^" if is_raised else "_")]
        position = match.end()
    return join_scripts([*pieces, (line[position:], "")]) if pieces else line


def join_scripts(pieces: Iterable[tuple[str, Script]]) -> str:
    """Return the pieces of a line, each with its position, as one text."""
    runs = [("".join(text for text, _ in run), script) for script, run in groupby(pieces, key=itemgetter(1))]
    if len(runs) < 2:
        return "".join(text for text, _ in runs)
    is_prose = _reads_as_prose("".join(text for text, _ in runs))
    joined, base = list[str](), ""
    for place, (text, script) in enumerate(runs):
        following = runs[place + 1][0] if place + 1 < len(runs) else ""
        base = _append_run(base, text, script, following, is_prose=is_prose)
        if len(base) > 2 * _MAX_BASE_CHARS:
            joined.append(base[:-_MAX_BASE_CHARS])
            base = base[-_MAX_BASE_CHARS:]
    return "".join([*joined, base])


def _append_run(base: str, text: str, script: Script, following: str, *, is_prose: bool) -> str:
    """Return the end of the line so far, followed by a run; `following` is the run after it."""
    core = text.strip()
    if not script or not core or len(core.split()) > _MAX_SCRIPT_WORDS:
        return base + text
    before, after = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    if script == "^" and _SIGNED.match(core) and base.endswith(" ") and base.rstrip()[-1:].isalnum():
        base = base.rstrip()
    if script == "^" and _is_citation(base, core.rstrip(",; "), is_prose=is_prose):
        return _add_citation(base, core, after + following) + after
    return base + before + _mark(base, core, script, following) + after


def _mark(base: str, core: str, script: Script, following: str) -> str:
    """Return a superscript or subscript with its mark, if it needs one after this base."""
    if not base or base[-1].isspace() or _BRACKETED.fullmatch(core) or not _NEEDS_MARK.search(core):
        return core
    if script == "^":
        return _SIGNS.get(core) or (core if _is_ordinal(base, core) else f"^{_enclose(core)}")
    return core if _is_chemical(base, core, following) else f"_{_enclose(core)}"


def _enclose(core: str) -> str:
    return core if _SIMPLE.fullmatch(core) else f"({core})"


def _is_ordinal(base: str, core: str) -> bool:
    ordinal = _ORDINALS.fullmatch(core) and _AFTER_ORDINAL.search(base)
    return bool(ordinal or (core.isalpha() and _ABBREVIATIONS.search(base + core)))


def _is_chemical(base: str, core: str, following: str) -> bool:
    """Return whether a subscript counts atoms, as in `CO2`, or ends a name in capitals, as in `PM2.5`."""
    token = _TOKEN_AT_END.search(base)
    element = token and _CHEMICAL.fullmatch(token[0])
    if token is None or not (_COUNT.fullmatch(core) or (core in ("x", "n") and element)):
        return False
    if _CAPITALS_AT_END.search(base):
        return True
    several = element and sum(map(str.isupper, token[0])) > 1
    continued = re.match(rf"{_ELEMENT}|\(", following) is not None
    return bool(element and (several or continued or token[0] in _PAIRS))


def _is_citation(base: str, core: str, *, is_prose: bool) -> bool:
    """Return whether a raised number is a citation mark rather than a power, an index or the mark of an affiliation."""
    printed = base.rstrip()
    if not printed or not _NUMBERS.fullmatch(core):
        return False
    if within := _PARENTHESES_AT_END.search(base):
        return _WORD.search(within["inside"]) is not None and not _FORMULA.search(within["inside"])
    match = _WORD_AT_END.search(printed)
    if match and printed == base and not _OTHERS_AT_END.search(base):
        return _is_cited_word(match["word"], is_alone=base.endswith(match["word"]), is_prose=is_prose)
    ends = (_WORD_AT_END,) if printed != base else (_CLOSED_AT_END, _YEAR_AT_END, _NAME_AND_NUMBER_AT_END)
    return _OTHERS_AT_END.search(base) is not None or (is_prose and any(end.search(printed) for end in ends))


def _is_cited_word(word: str, *, is_alone: bool, is_prose: bool) -> bool:
    """Return whether a raised number after a word is a citation mark. `is_alone` means that the number directly follows
    the word."""
    if is_alone and (word.lower() in _UNITS or (len(word) < 3 and word not in _SHORT_WORDS)):
        return is_prose and _UNSPACED.match(word) is not None
    return is_prose or (word.islower() and len(word) > 2)


def _add_citation(base: str, core: str, following: str) -> str:
    """Return the text with a citation mark at its end, before the full stop that ends the sentence."""
    mark = f" [{' '.join(core.rstrip(',; ').split())}]"
    end = _SENTENCE_END.search(base)
    if end and _NEXT_SENTENCE.match(following):
        return base[: end.start()] + mark + end["mark"]
    return base.rstrip() + mark


def _reads_as_prose(line: str) -> bool:
    """Return whether a line consists of sentences rather than of names and addresses."""
    words = _LONG_WORD.findall(line[:2_000])
    lower = sum(map(str.islower, words))
    return (len(words) >= _MIN_LONG_WORDS and lower >= _MIN_LOWER_SHARE * len(words)) or (
        len(_UNSPACED.findall(line[:2_000])) >= _MIN_UNSPACED
    )
