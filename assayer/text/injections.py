"""Find instructions to reviewers and language models in texts that are only meant to be judged.

Detection uses a curated list of wordings observed in practice, not a classifier. It does not match papers *about* such
attacks unless they quote one. A match is a flag for people to check, never a reason to drop text."""

import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

from assayer.text.orders_by_language import ORDERS_BY_LANGUAGE


class _Order(NamedTuple):
    needs: tuple[tuple[str, ...], ...]
    """Word groups. The pattern is tried only if the text contains a word from each group, because plain search is about
    fifty times faster."""
    pattern: re.Pattern[str]


def _order(*needs: str, pattern: str) -> _Order:
    """Return an instruction pattern. Each need is a word group such as `a;b`. In patterns, `~` stands for a bounded run
    of white space and light markup between two words."""
    return _Order(
        tuple(tuple(need.split(";")) for need in needs),
        re.compile(pattern.replace("~", r"[\s*_\"'`>,-]{1,8}"), re.MULTILINE),
    )


_WORK = r"(?:paper|idea|proposal|submission|manuscript|work|article|research~(?:plan|idea)|plan|research|study)"
_MODEL = r"(?:llms?|ai|a\.i\.|chatbots?|assistants?|(?:large~)?language~models?|gpt|chatgpt|claude|gemini)"
_REVIEWER = r"(?:reviewers?|evaluators?|referees?|assessors?|graders?|judges?)"
_AUTOMATIC = rf"(?:(?:ai|llm|automated|automatic|machine)~{_REVIEWER}|{_MODEL})"
_READER = rf"(?:{_AUTOMATIC}|(?:peer~)?{_REVIEWER})"
_BEST = r"(?:highest|maximum|max|top|perfect|full|best|outstanding|excellent|positive|favou?rable|high)"
_BEST_WORDS = "highest;max;top;perfect;full;best;outstanding;excellent;positive;favo;high"
_MARK = r"(?:scores?|ratings?|grades?|marks?|points|reviews?|evaluations?|verdict|assessments?)"
_FAULTS = r"(?:negatives?|weakness(?:es)?|flaws?|shortcomings?|limitations?|problems?|criticisms?|concerns?)"
_MUST = r"(?:must|should|shall|will|have~to|need~to|(?:are|is)~(?:required|instructed|obliged|ordered)~to)"
_TO_READER = rf"(?:\b(?:you|the~{_READER}|{_REVIEWER})~{_MUST}~(?:only~|always~)?)"
_BEGIN = rf"(?:^|[.!?:;({{\[\"'“>-]\s{{0,4}}|\b(?:please|now|just)~|{_TO_READER})"
"""Pattern for the place where an instruction starts: a sentence, a clause, or an address to the reader."""
_EARLIER = r"(?:previous|prior|above|earlier|preceding|foregoing)"
_INSTRUCTIONS = r"(?:instructions?|prompts?|directions|directives?|guidelines|commands?|rubrics?|criteria|orders)"

_ORDERS = (
    _order(
        "ignore;disregard;forget;override;follow",
        "previous;prior;above;earlier;preceding;foregoing;before;told;system;review;evaluation;your;all",
        pattern=r"\b(?:ignore|disregard|forget|override|(?:do~not|don['’]t|stop)~follow(?:ing)?)~"
        rf"(?:(?:all|any|every|of|the|your|my|these|those)~){{0,3}}(?:{_EARLIER}|system|reviewing|evaluation|your|all)~"
        rf"(?:(?:and|or|system|user|given|review|reviewing|reviewer|scoring|evaluation)~){{0,3}}{_INSTRUCTIONS}\b"
        rf"|\b(?:ignore|disregard|forget)~(?:(?:all|any|the|of|every)~){{0,3}}{_INSTRUCTIONS}~(?:\w+~)?"
        r"(?:above|before|earlier)\b"
        r"|\b(?:ignore|disregard|forget)~(?:everything|anything|all)~(?:(?:of|the|that|you)~){0,2}"
        rf"(?:{_EARLIER}|before|told|been~told|were~told|came~before)\b",
    ),
    _order(
        "give;assign;award;provide;write;return;output;produce",
        _BEST_WORDS,
        "score;rating;grade;mark;points;review;evaluation;verdict;assessment",
        pattern=rf"(?:{_BEGIN}|,\s{{0,4}})(?:give|assign|award|provide|write|return|output|produce)~(?:it~)?(?:only~)?"
        rf"(?:an?~|the~)?(?:only~)?{_BEST}~(?:possible~|overall~)?{_MARK}\b"
        rf"|\b(?:give|assign|award)~(?:to~)?(?:this|the|these|my|our)~{_WORK}~(?:with~)?(?:only~)?(?:an?~|the~)?"
        rf"{_BEST}~(?:possible~|overall~)?{_MARK}\b"
        rf"|\b(?:give|assign|award)~(?:an?~|the~)?{_BEST}~(?:possible~|overall~)?{_MARK}~(?:to|for)~"
        rf"(?:this|my|our)~{_WORK}\b"
        rf"|{_TO_READER}(?:give|assign|award)~this~(?:an?~|the~)?{_BEST}~(?:possible~|overall~)?{_MARK}\b",
    ),
    _order(
        "rate;score;grade;rank",
        "this;the;my;our",
        "paper;idea;proposal;submission;manuscript;work;article;plan;research;study",
        _BEST_WORDS + ";first;above",
        pattern=rf"(?:{_BEGIN}|,\s{{0,4}})(?:rate|score|grade|rank)~(?:this|the|my|our)~{_WORK}~(?:\w+~){{0,3}}?"
        rf"(?:{_BEST}|first|above)\b",
    ),
    _order(
        "10",
        "give;assign;rate;award;score",
        pattern=r"\b(?:give|assign|rate|award|score)~(?:\w+~){0,4}?(?:10\s?/\s?10|10~out~of~10|a~score~of~10)\b",
    ),
    _order(
        "accept;approv;endorse;fund",
        "please;must;should;shall;will;have;need;this;my;our",
        pattern=rf"(?:{_TO_READER}|\bplease~)(?:\w+~){{0,2}}?(?:recommend|suggest|vote~for)~(?:\w+~){{0,3}}?"
        r"(?:accept(?:ance|ing)?|approval|(?:for~)funding)\b"
        rf"|(?:{_TO_READER}|\bplease~|^|[.!:]\s{{1,4}})(?:accept|approve|endorse|fund)~(?:this|my|our)~{_WORK}\b",
    ),
    _order(
        "do not;don't;don’t;never;avoid",
        "mention;highlight;point;list;report;rais;includ",
        "negative;weakness;flaw;shortcoming;limitation;problem;criticism;concern",
        pattern=_BEGIN + r"(?:do~not|don['’]t|never|avoid)~"
        r"(?:mention(?:ing)?|highlight(?:ing)?|point(?:ing)?~out"
        rf"|list(?:ing)?|report(?:ing)?|raise|raising|includ(?:e|ing))~(?:(?:any|the|its|of|this)~){{0,3}}{_FAULTS}\b",
    ),
    _order(
        "you",
        "must;should;shall;will;have;need;are",
        pattern=rf"\b(?:as|since~you~are|if~you~are|because~you~are)~(?:an?|the)~(?:\w+~){{0,2}}?{_READER}\b"
        rf"(?:~of~(?:this|the)~{_WORK})?[\s,:;-]{{1,4}}you~{_MUST}\b"
        rf"|\bif~you~are~(?:(?:reading|reviewing|evaluating)~(?:\w+~){{0,5}})?(?:an?|the)~(?:\w+~)?{_AUTOMATIC}\b",
    ),
    _order(
        "note;message;reminder;hint;instruction;attention;for",
        ":;!;—;–;,",
        "llm;ai;a.i.;chatbot;assistant;model;gpt;claude;gemini;review;evaluator;referee;assessor;grader;judge",
        pattern=rf"\b(?:note|message|reminder|hint|instruction)s?~to~(?:(?:the|all|any|every|our)~){{0,2}}{_READER}"
        rf"\s{{0,2}}[:!—–]|^\W{{0,6}}attention~(?:all~)?{_READER}\s{{0,2}}[:!,]"
        rf"|^\W{{0,6}}for~(?:(?:the|all|any)~){{0,2}}{_AUTOMATIC}\s{{0,2}}:",
    ),
    _order(
        "you are",
        pattern=r"\byou~are~now~(?:an?|the|in|my)~|\byou~are~(?:an?|the)~(?:helpful|friendly|lenient|generous|kind)~"
        rf"(?:\w+~)?{_READER}\b",
    ),
    _order(
        "prompt;instructions;message",
        "your;system",
        pattern=_BEGIN + r"(?:reveal|print|repeat|output|show|leak)~(?:(?:me|us|all|of)~){0,2}your~"
        r"(?:\w+~)?(?:prompt|instructions|message)\b"
        r"|\b(?:begin|start|new|end~of)~(?:of~)?system~(?:prompt|message)\b",
    ),
    _order(
        "<|;[inst];[/inst];<<sys>>;</system>;<system>",
        pattern=r"<\|(?:im_start|im_end|system|user|assistant|endoftext|eot_id|start_header_id)\|>"
        r"|\[/?inst\]|<<sys>>|</?system>",
    ),
    *(_order(order.needs, pattern=order.pattern) for order in ORDERS_BY_LANGUAGE.values()),
)  # fmt: skip


def _fold(text: str) -> str:
    """Return the text in lower case with styled and full-width letters as plain letters; all offsets stay the same."""
    if text.isascii():
        return text.lower()
    folded = text.replace("İ", "I").lower()
    return _STYLED.sub(lambda m: _fold_letter(m[0]), folded)


_STYLED = re.compile("[\uff01-\uff5e\U0001d400-\U0001d7ff\u24d0-\u24e9]")


def _fold_letter(letter: str) -> str:
    plain = unicodedata.normalize("NFKC", letter).lower()
    return plain if len(plain) == 1 else letter


def find_instructions(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of each suspected instruction, in the order of the patterns."""
    folded = _fold(text)
    for order in _ORDERS:
        if _has_needs(order, folded):
            for match in order.pattern.finditer(folded):
                yield match.span()


def _has_needs(order: _Order, folded: str) -> bool:
    """Return whether a text has a word of each group. Most of the time spent on a text is spent here, and loops take
    half as long as `any`."""
    for group in order.needs:
        for need in group:
            if need in folded:
                break
        else:
            return False
    return True
