"""Why words that do stand in a source are still no quote of it: what was cut away around them changes what they say.

A quote may not begin right after what negates it, end before its sentence takes it back or asks for it, cut a number
from what it counts, be shortened in a way that changes it (`assayer.citing.shortening`), run two sentences together as
if they were one, or be so short that it says nothing. Rules
over words, without grammar: they look at one sentence, and a quote that carries its negation inside is as good as any.
"""

import re
from collections.abc import Sequence

from assayer.citing.quotes import SourceSpan
from assayer.citing.shortening import cut_figure_after, cut_figure_before, shortened_badly
from assayer.citing.spelling import spelled, unified
from assayer.citing.unspaced_negations import negation_after, negation_before, negation_within
from assayer.text.content_words import content_words, is_grammar
from assayer.text.scripts import WORD_LETTER, unspaced_letters

__all__ = ["objection"]

LEAST_WORDS = 8
"""Of a quote that is no whole sentence."""
LEAST_CONTENT = 4
"""Distinct words of a quote that are more than grammar."""
REACH = 6
"""Words before a quote that may negate it."""
REACH_OF_AVERSIONS = 2
"""The same for `prevents`, `lack of`, `rather than`, which govern only what is next to them."""
REACH_OF_CLAIMS = 12
"""The same before `that`, `whether` and `if`: there is no evidence at all in the trials so far that …"""
REACH_AHEAD = 2
"""Words between a quote and what takes it back."""
_LOOK_BACK = 300
_LOOK_AHEAD = 200
_LONGEST_WORD = 60
"""Characters."""

_TOKEN = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_PART_OF_WORD = re.compile(rf"{WORD_LETTER}+")
_BREAK = re.compile(r"[.!?][\"'”’)\]]{0,3}\s++(?![a-z])|[。！？]\s*+")
_ABBREVIATIONS = r"al|approx|cf|dr|e\.g|eqs?|eqn|figs?|i\.e|no|nos|pp|prof|refs?|resp|secs?|st|tabs?|vol|vs|w\.r\.t"
_ABBREVIATION = re.compile(rf"\b(?:{_ABBREVIATIONS})$", re.IGNORECASE)
_INITIAL_OR_ABBREVIATION = re.compile(rf"\b(?:[a-z]|{_ABBREVIATIONS})$", re.IGNORECASE)
"""What a full stop does not end a sentence after."""
_FIRST_WORD = re.compile(r"[A-Z][a-z]+\b(?!\.)")

_CLAUSE_END = re.compile(r"[;:!?—]|--|\b(?:but|whereas|although|though|thus|hence|therefore|while)\b", re.I)
_SUBJECT = re.compile(r"(?:we|i|our|it|its|this|these|those|they|there|here|he|she)\b", re.IGNORECASE)
"""With one of these a quote begins a statement of its own after `and`."""
_PREDICATE = re.compile(
    r"(?:is|are|was|were|has|have|can|achiev|outperform|attain|obtain|improv|yield|reach|requir|provid|giv|reduc|perform"
    r"|surpass|exceed|produc|enabl|allow|remain|increas|decreas|show|reveal|lead|scal|run|work)(?:e?s|e?d)?\b",
    re.IGNORECASE,
)
_BARE = re.compile(
    r"(?:achieve|outperform|attain|obtain|improve|yield|reach|require|provide|give|reduce|perform|surpass|exceed|produce"
    r"|enable|allow|remain|increase|decrease|show|reveal|lead|scale|run|work|have|can)\b",
    re.IGNORECASE,
)
_VERB_NOT = re.compile(r"(?:not|never|cannot|\w{2,8}n['’]t)", re.IGNORECASE)
"""It does not need labels and reaches 91 %: after `and` an inflected verb is outside what `not` denies; a bare one is
not (it does not need labels and reach 91 %), and neither is one after a subject that is itself denied (no model …)."""
_AND = re.compile(r"\b(?:and|or)\W*$", re.IGNORECASE)
_CLAIM = re.compile(r"\b(?:that|whether|if)\W*$", re.IGNORECASE)
_CLAIM_FIRST = re.compile(r"\W*(?:that|whether|if)\b", re.IGNORECASE)
_ASIDE = re.compile(r"\([^()]{0,200}\)")
_NEGATION = re.compile(
    r"\b(?:no(?!\s+(?:doubt|less|fewer)\b|\.)|not(?!\s+(?:only|just|merely|solely|simply)\b)|non(?!-)|nor|none|never|neither"
    r"|nobody|nothing|nowhere|without(?!\s+loss\b)|cannot|\w{2,8}n['’]t|cant|dont|doesnt|didnt|isnt|arent|wasnt|hardly"
    r"|barely|scarcely|rarely|seldom|fail(?:s|ed|ing|ures?)?\s+(?:to|in|at|of)|(?:un|not\s)able\s+to|inability\s+(?:to|of|in)"
    r"|(?:little|weak|insufficient|limited|scant)\s+(?:evidence|support|reason|indication|proof|sign)"
    r"|few\s+(?:studies|papers|works|authors|trials|experiments|results|of\s+(?:these|them))|little\s+to\s+(?:show|suggest|support)"
    r"|(?:myth|misconception|fallacy)\s+that"
    r"|(?:unclear|unknown|uncertain|unlikely|impossible|infeasible|doubtful|questionable|debatable|disputed|false|wrong|untrue"
    r"|incorrect|mistaken)\s+(?:that|whether|if|how|why|to|for)"
    r"|(?<!\bno\s)doubt(?:s|ed)?\s+(?:that|whether|if)|contrary\s+to|wrongly|falsely|incorrectly|mistakenly)\b",
    re.IGNORECASE,
)
"""What turns the clause after it into its opposite, or leaves open whether it holds."""
_AVERSION = re.compile(
    r"\b(?:lack(?:s|ed|ing)?|absence\s+of|free\s+of|devoid\s+of|refus(?:e|es|ed|al)\s+(?:to|of)|rather\s+than|instead\s+of"
    r"|opposed\s+to|far\s+from|refut(?:e|es|ed|ing)|disprov(?:e|es|ed|ing)|den(?:y|ies|ied|ying)|reject(?:s|ed|ing)?"
    r"|contradict(?:s|ed|ing)?|rul(?:e|es|ed|ing)\s+out|prevent(?:s|ed|ing)?|avoid(?:s|ed|ing)?|ceas(?:e|es|ed)\s+to"
    r"|neglect(?:s|ed|ing)?\s+to|unable|insufficient(?:ly)?)\b",
    re.IGNORECASE,
)
"""What does so only to the words next to it."""
_CONTRAST = re.compile(r"instead|rather|opposed", re.IGNORECASE)
"""These bring their own words with them, and can be left out together."""
_DENIAL = re.compile(
    r"\b(?:is|are|was|were|be|been|being)\s+(?:\w+\s+){0,1}(?:rejected|refuted|disproved|disproven|falsified|contradicted"
    r"|ruled\s+out|unfounded|unsupported|false|wrong|untrue|incorrect|mistaken|a\s+myth|a\s+misconception)"
    r"|\b(?:(?:is|are|was|were|has|have|had|could|can|does|do|did)\s*(?:not|never)|\w{2,8}n['’]t|cannot)\s+(?:\w+\s+){0,2}"
    r"(?:support(?:s|ed)?|confirm(?:s|ed)?|shown|true|the\s+case|found|observed|replicated?|reproduced?|borne\s+out|hold"
    r"|warranted|justified|seen)"
    r"|\band\s+(?:rejected?|refuted?)\s+(?:it|this|them)|\bfail(?:s|ed)?\s+to\s+(?:hold|replicate|be\s+confirmed)"
    r"|\bonly\s+(?:when|if|where)\b",
    re.IGNORECASE,
)
"""What takes back, or narrows, what the words before it in the same sentence say."""
_AUXILIARY_NOT = re.compile(r"(?:\b(?:not|never|neither|cannot)|n['’]t)\s*$", re.IGNORECASE)
"""Before an aside between commas: it did not, in our view, improve."""


def objection(quote: str, source: str, spans: Sequence[SourceSpan]) -> str | None:
    """What speaks against the quote at this place of a paragraph, in words that follow `not verified:`; None when
    nothing does."""
    breaks = _sentence_breaks(source, _INITIAL_OR_ABBREVIATION)
    return (
        _too_short(source, spans, breaks)
        or _reversed_before(source, spans, breaks)
        or _reversed_after(source, spans[-1].end, breaks)
        or _cuts_figure(source, spans[0].start, spans[-1].end)
        or _badly_joined(source, spans, breaks)
        or _run_together(quote, source, spans)
    )


def _sentence_breaks(source: str, but_after: re.Pattern[str]) -> list[SourceSpan]:
    """Between sentences: from the end of one to the start of the next. After an abbreviation one ends where the next
    word could begin a sentence only: hepatitis B. The …"""
    found = []
    for match in _BREAK.finditer(source):
        if match[0][0] == "." and but_after.search(source[max(0, match.start() - 8) : match.start()]):
            word = _FIRST_WORD.match(source, match.end())
            if word is None or not is_grammar(word[0].casefold()):
                continue
        found.append(SourceSpan(match.start(), match.end()))
    return found


def _sentence_start(place: int, breaks: Sequence[SourceSpan]) -> int:
    return max((one.end for one in breaks if one.end <= place), default=0)


def _sentence_end(place: int, breaks: Sequence[SourceSpan], source: str) -> int:
    return min((one.start for one in breaks if one.start >= place), default=len(source))


def _is_opening(text: str) -> bool:
    """Whether nothing but marks stands before the first word."""
    return not _TOKEN.search(text)


def _too_short(source: str, spans: Sequence[SourceSpan], breaks: Sequence[SourceSpan]) -> str | None:
    text = " ".join(source[one.start : one.end] for one in spans)
    unspaced = unspaced_letters(text) // 2
    if unspaced >= LEAST_WORDS:
        return None
    words = _PART_OF_WORD.findall(text)
    if len(content_words(text)) < LEAST_CONTENT:
        return "too few words to say anything"
    if len(words) + unspaced >= LEAST_WORDS or _is_whole(source, spans[0].start, spans[-1].end, breaks):
        return None
    return f"fewer than {LEAST_WORDS} words of a longer sentence"


def _is_whole(source: str, start: int, end: int, breaks: Sequence[SourceSpan]) -> bool:
    before = source[_sentence_start(start, breaks) : start]
    return _is_opening(before) and _is_opening(source[end : _sentence_end(end, breaks, source)])


def _reversed_before(source: str, spans: Sequence[SourceSpan], breaks: Sequence[SourceSpan]) -> str | None:
    previous: SourceSpan | None = None
    for span in spans:
        start = _sentence_start(span.start, breaks)
        if previous is None or previous.end <= start:
            before = source[max(start, span.start - _LOOK_BACK) : span.start]
            found = _reversal(before, source[span.start : span.end]) or negation_before(before)
            if found:
                return f"it begins right after “{found}” in the source"
        previous = span
    return None


def _reversed_after(source: str, end: int, breaks: Sequence[SourceSpan]) -> str | None:
    """What the rest of the sentence takes back."""
    stop = _sentence_end(end, breaks, source)
    rest = source[end : min(stop, end + _LOOK_AHEAD)]
    found = _DENIAL.search(rest)
    if found and len(_TOKEN.findall(rest[: found.start()])) <= REACH_AHEAD:
        return f"its sentence goes on “{' '.join(found[0].split())}” in the source"
    if unspaced := negation_after(rest):
        return f"its sentence goes on “{unspaced}” in the source"
    return "it is part of a question in the source" if source[stop : stop + 1] in ("?", "？") else None


def _reversal(before: str, words: str) -> str | None:
    """What, in the clause before them, negates the words."""
    clause = _CLAUSE_END.split(_ASIDE.sub(" ", before))[-1]
    if _AND.search(clause) and _SUBJECT.match(words):
        return None
    *earlier, last = clause.split(",")
    is_claim = _CLAIM.search(last) or _CLAIM_FIRST.match(words)
    if is_claim and len(_TOKEN.findall(last)) < 2:  # it does not follow, in our view, that …
        last = clause
    found = (
        _NEGATION.search(_last_words(last, REACH_OF_CLAIMS if is_claim else REACH))
        or _AVERSION.search(_last_words(last, REACH_OF_CLAIMS if is_claim else REACH_OF_AVERSIONS))
        or next((one for part in earlier[-2:] if (one := _AUXILIARY_NOT.search(part))), None)
    )
    if found and _VERB_NOT.fullmatch(found[0].strip()) and _begins_predicate(clause, words):
        return None
    return " ".join(found[0].split()) if found else None


def _begins_predicate(clause: str, words: str) -> bool:
    return bool(_AND.search(clause) and _PREDICATE.match(words) and not _BARE.match(words))


def _last_words(text: str, most: int) -> str:
    words = list(_TOKEN.finditer(text))
    return text[words[-most].start() :] if len(words) > most else text


def _cuts_figure(source: str, start: int, end: int) -> str | None:
    if cut := cut_figure_before(source[max(0, start - _LOOK_BACK) : start], source[start:end]):
        return f"it begins right after “{cut}” in the source"
    if cut := cut_figure_after(source[start:end], source[end : end + _LOOK_AHEAD]):
        return f"it cuts “{cut}” in the source"
    return None


def _badly_joined(source: str, spans: Sequence[SourceSpan], breaks: Sequence[SourceSpan]) -> str | None:
    """Pieces on both sides of an ellipsis are of one sentence, or each side ends and begins with a sentence."""
    for i in range(1, len(spans)):
        left, right = spans[i - 1].end, spans[i].start
        start, end = _sentence_start(right, breaks), _sentence_end(left, breaks, source)
        if start <= left:
            left_out = source[left:right]
            if found := _negation_in(left_out) or negation_within(left_out):
                return f"its ellipsis leaves out “{found}”"
            before, after = source[spans[i - 1].start : left], source[right : spans[i].end]
            if changed := shortened_badly(before, left_out, after):
                return changed
        elif not (_is_opening(source[left:end]) and _is_opening(source[start:right])):
            return "its ellipsis joins parts of two sentences"
    return None


def _negation_in(left_out: str) -> str | None:
    found = (match for pattern in (_NEGATION, _AVERSION) for match in pattern.finditer(left_out))
    return next((" ".join(one[0].split()) for one in found if not _CONTRAST.match(one[0])), None)


_STOP = re.compile(r"[.!?;:。！？…\n]")


def _run_together(quote: str, source: str, spans: Sequence[SourceSpan]) -> str | None:
    """Where a sentence ends within the quoted words, the quote has to end one too. After initials one may: whoever
    copies them copies their full stop."""
    breaks = _sentence_breaks(source, _ABBREVIATION)
    crossed = [(span, one) for span in spans for one in breaks if span.start < one.start and one.end < span.end]
    stops = [
        _last_word(quote[max(0, match.start() - _LONGEST_WORD) : match.start()]) for match in _STOP.finditer(quote)
    ]
    for span, one in crossed:
        word = _last_word(source[max(span.start, one.start - _LONGEST_WORD) : one.start])
        if word and not any(stop.endswith(word) for stop in stops):
            return "it runs two sentences into one"
    return None


def _last_word(text: str) -> str:
    words = _TOKEN.findall(text)
    return spelled(unified(words[-1])) if words else ""
