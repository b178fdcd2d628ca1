"""What an ellipsis within a sentence may leave out, and what it may not: a quote that is shorter says no other thing.

It may leave out asides, examples, conditions of a trial, citations. It may not leave out what negates or hedges what is
quoted on, cut a number from what it counts, carry a figure from one place of the sentence to another, or give the
subject of one clause to the predicate of the next. Rules over words, as in `assayer.citing.quote_context`.
"""

import re

from assayer.text.content_words import is_grammar

__all__ = ["cut_figure_after", "cut_figure_before", "shortened_badly"]

_LOOK = 300
"""Characters on each side of a cut."""
NEAR = 4
"""Words beside the cut in which a figure counts."""
_WORD = re.compile(r"[^\W_]+(?:[.,'’-][^\W_]+)*|[%‰±<>≤≥≈]")
_NUMBER_WORDS = (
    "two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|eighteen|twenty|thirty"
    "|forty|fifty|sixty|seventy|eighty|ninety"
)
_MAGNITUDE = r"(?:hundred|thousand|million|billion|trillion|dozen)s?"
_NUMBER = rf"(?:(?<![\w.,-])[-−±]?\d[\d.,]*(?:[eE][-+]?\d+)?|\b(?:{_NUMBER_WORDS}|{_MAGNITUDE}))"
_ENDS_IN_NUMBER = re.compile(rf"{_NUMBER}[^\S\n]*$", re.IGNORECASE)
_ENDS_IN_DIGITS = re.compile(r"(?<![\w.,-])[-−±]?\d[\d.,]*[^\S\n]*$")
_MEASURE = re.compile(
    rf"[^\S\n]*-?(?:{_MAGNITUDE}|per[^\S\n]?cent|percentage[^\S\n]points?|percentiles?|‰|%|±|(?:out[^\S\n]+)?of[^\S\n]+\d|times|fold"
    rf"|in[^\S\n]+\d|[×x·⋅][^\S\n]*10|[kKMG]\b|bn\b|mio\b|millions?|milliards?|mille|milliers|cent\b|Millionen|Milliarden"
    rf"|Prozent|pour[^\S\n]cent|por[^\S\n]ciento)(?![^\W\d_])",
    re.IGNORECASE,
)
"""Of a number: without it the number is another one."""
_BOUND = re.compile(
    r"\b(?:(?:less|fewer|lower|smaller|more|greater|higher|larger|better|worse)\s+than|at\s+(?:least|most)|up\s+to|as\s+(?:few|little"
    r"|many|much|low|high)\s+as|minus|not\s+exceeding|(?:from|between)\s+[\d.,]+\s*%?\s*(?:to|and))\s*$",
    re.IGNORECASE,
)
"""Before a number: without it the number says more, or less."""
_STARTS_WITH_NUMBER = re.compile(rf"[\s($]*{_NUMBER}", re.IGNORECASE)
_ASIDE = re.compile(r"\[[\d,;\s–-]+\]|\([^()]*\)")
_YEAR = re.compile(r"(?:1[89]|20)\d\d\s*$")
_NEXT_WORD = re.compile(r"[^\S\n]*([^\W_]+|[%‰±])")
_FIGURE = re.compile(r"(?<![\w.,-])[-−±]?\d[\d.,]*")
_HEDGE = re.compile(
    r"(?:may|might|could|would|should|possibly|perhaps|potentially|probably|supposedly|allegedly|presumably|partly|partially"
    r"|only|sometimes|occasionally|unless|almost|nearly|would-be)$",
    re.IGNORECASE,
)
_NOT_ONLY = re.compile(r"\bnot\s+only\b", re.IGNORECASE)
_HEDGED_VERB = re.compile(
    r"\b(?:seem|appear|claim|aim|hope|intend|plan|try|tried|attempt|tend|expect|need)(?:s|ed)?\s+to$|\b(?:thought|believed|expected"
    r"|said|claimed|supposed|assumed|hypothesi[sz]ed|reported|planned|intended|designed|likely)\s+to(?:\s+(?:be|have))?$|\bif$|\bwhether$",
    re.IGNORECASE,
)
_OTHER_CLAUSE = re.compile(r";|\b(?:but|whereas|while|although|though|however)\b", re.IGNORECASE)


def shortened_badly(before: str, left_out: str, after: str) -> str | None:
    """What is wrong with leaving this out between these two pieces of one sentence."""
    before, after = before[-_LOOK:], after[:_LOOK]
    return (
        _cut_number(before, left_out, after)
        or _moved_figure(before, left_out, after)
        or _hedge(left_out)
        or _clause(left_out)
    )


def cut_figure_after(words: str, rest: str) -> str | None:
    """The number at the end of the words, with what it is a number of; None where it is whole."""
    number, measure = _ENDS_IN_DIGITS.search(words) or _ENDS_IN_NUMBER.search(words), _MEASURE.match(rest)
    return f"{number[0].strip()} {measure[0].strip()}" if number and measure else None


def cut_figure_before(before: str, words: str) -> str | None:
    """What belongs to the number with which the words begin, or the number of which they begin with the measure."""
    if _STARTS_WITH_NUMBER.match(words) and (bound := _BOUND.search(before)):
        return " ".join(bound[0].split())
    number, measure = _ENDS_IN_NUMBER.search(before), _MEASURE.match(words)
    return number[0].strip() if number and measure else None


def _cut_number(before: str, left_out: str, after: str) -> str | None:
    number, following = _ENDS_IN_DIGITS.search(before), _NEXT_WORD.match(left_out)
    if number and following:
        is_year = _YEAR.search(before) and is_grammar(following[1].casefold()) and not _MEASURE.match(left_out)
        if not is_year:
            return f"its ellipsis cuts “{number[0].strip()}” from “{following[1]}”"
    if cut := cut_figure_after(before, left_out[:_LOOK]):
        return f"its ellipsis cuts “{cut}”"
    cut = cut_figure_before(left_out[-_LOOK:], after)
    return f"its ellipsis cuts “{cut}” from what follows it" if cut else None


def _moved_figure(before: str, left_out: str, after: str) -> str | None:
    if not _FIGURE.search(_ASIDE.sub(" ", left_out)):
        return None
    last, first = _near_words(before, -NEAR), _near_words(after, NEAR)
    found = _FIGURE.search(_ASIDE.sub(" ", last)) or _FIGURE.search(_ASIDE.sub(" ", first))
    return f"its ellipsis brings “{found[0].strip()}” to another place" if found else None


def _near_words(text: str, most: int) -> str:
    words = list(_WORD.finditer(text))
    if len(words) <= abs(most):
        return text
    return text[words[most].start() :] if most < 0 else text[: words[most - 1].end()]


def _hedge(left_out: str) -> str | None:
    words = [one[0] for one in _WORD.finditer(_NOT_ONLY.sub(" ", left_out))]
    beside = [*words[:1], *words[-2:]]
    found = next((one for one in beside if _HEDGE.match(one)), None)
    if found is None and (verb := _HEDGED_VERB.search(" ".join(words))):
        found = verb[0]
    return f"its ellipsis leaves out “{found}”" if found else None


def _clause(left_out: str) -> str | None:
    """An aside that begins so ends with a comma; what is a clause to the end has a subject of its own."""
    breaks = list(_OTHER_CLAUSE.finditer(left_out))
    if not breaks:
        return None
    rest = left_out[breaks[-1].end() :]
    is_aside = "," in rest or ")" in rest or "–" in rest or "—" in rest
    return "its ellipsis joins parts of two clauses" if _WORD.search(rest) and not is_aside else None
