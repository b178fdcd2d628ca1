"""Detect whether a research question reveals the method of its source paper, by comparing words alone.

The method consists of every sentence in the abstract that proposes something, with the sentences that follow it until
the results begin. The sentences before the first such sentence are the problem.

A word reveals the method if its stem occurs in the method but not in the problem or the title's topic, and if it is not
among the words that describe any method."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from assayer.curation.options import LeakageLimits
from assayer.text.content_words import content_words
from assayer.text.sentences import sentence_spans
from assayer.text.stems import stems
from assayer_client.curation import LeakageMeasure

_WORD = re.compile(r"[^\W_]+")
_PROPOSES = re.compile(
    r"\b(?:we|this (?:paper|work|article|study)|the authors?)\s(?:\w{1,20}\s){0,3}?"
    r"(?:propose|present|introduce|develop|design|devise|describe|build|train|adapt|extend|formulate|leverage|employ"
    r"|combine|derive|construct|learn|use|apply|model|replace|suggest|contribute|offer)(?:s|es)?\b"
    r"|\b(?:is|are) (?:proposed|introduced|presented|developed)\b"
    r"|\b(?:our|the proposed|the new|a novel|a new|this new) (?:\w{1,20} ){0,3}?"
    r"(?:method|approach|model|framework|algorithm|architecture|system|technique|scheme|network|module|strategy)\b"
    r"|\b(?:in this (?:paper|work|article))\b",
    re.IGNORECASE,
)
_RESULTS = re.compile(
    r"\b(?:experiments?|experimental|empirical(?:ly)?|results?|evaluations?|outperform\w{0,4}|state[- ]of[- ]the[- ]art"
    r"|benchmarks?|demonstrate[sd]?|we (?:show|find|evaluate|validate|verify|test|observe)|accuracy of"
    r"|improves? (?:by|over)|code (?:is|and)|available at)\b",
    re.IGNORECASE,
)
_NAMED = re.compile(r"\b(?:\w{0,20}[A-Z]\w{0,20}[A-Z]\w{0,20}|[A-Z]\w{0,20}\d\w{0,10}|\d\w{0,5}[A-Z]\w{0,20})\b")
"""Matches names of the kind that papers coin: a word with two capitals, or with a capital and a digit."""
_TITLED = re.compile(r"^\s*([A-Z][\w+-]{2,30}):\s")
"""Matches a name before the title's colon."""
_BEFORE_TOPIC = re.compile(r"\b(?:for|in|on|under|without|against)\s", re.IGNORECASE)
_MEANS = re.compile(r"\b(?:with|via|by|using|through|from)\b|:", re.IGNORECASE)
_ANY_METHOD = frozenset(
    """
    approach method model models methods framework algorithm technique system task tasks problem data dataset learning
    learn train training trained network networks neural deep performance result results propose proposed present
    introduce new novel different various existing approaches improve improved efficient effective effectively
    efficiently robust better high low large small single multiple general paper work study research design designed
    develop based called namely first second third finally specifically further moreover achieve make made provide
    enable allow allows help one two three step steps process information
    """.split()  # noqa: SIM905 - a block of words is easier to read than a list of strings
)
"""Words that do not distinguish one method from another."""


_MAX_RUN_WORDS = 100
"""Maximum number of words in a run; longer runs add no information."""


class AbstractParts(NamedTuple):
    problem: str
    method: str
    found_by_wording: bool


def split_abstract(abstract: str) -> AbstractParts:
    """Split an abstract into problem and method. The method starts with the first sentence that proposes something. If
    there is none, it starts with the second sentence; a single sentence is all method."""
    sentences = [abstract[start:end] for start, end in sentence_spans(abstract) if abstract[start:end].strip()]
    method_start = next((position for position, sentence in enumerate(sentences) if _PROPOSES.search(sentence)), None)
    if method_start is None:
        position = min(1, len(sentences) - 1)
        return AbstractParts(" ".join(sentences[:position]), " ".join(sentences[position:]), False)
    method, in_method = list[str](), True
    for sentence in sentences[method_start:]:
        proposes = bool(_PROPOSES.search(sentence))
        in_method = proposes or (in_method and not _RESULTS.search(sentence))
        if in_method:
            method.append(sentence)
    return AbstractParts(" ".join(sentences[:method_start]), " ".join(method), True)


def measure_leakage(question: str, title: str, abstract: str, limits: LeakageLimits) -> LeakageMeasure:
    parts = split_abstract(abstract)
    known_stems = frozenset(stems(_list_distinctive_words(f"{parts.problem} {_extract_topic(title)}")))
    method_stems = frozenset(stems(_list_distinctive_words(parts.method))) - known_stems
    words = _list_distinctive_words(question)
    repeated_words = [word for word, stem in zip(words, stems(words), strict=True) if stem in method_stems]
    longest_run = _measure_longest_run(_stem_words(question), parts, method_stems)
    names = _find_coined_names(title, parts) & {word.casefold(): word for word in _WORD.findall(question)}.keys()
    shown_names = tuple(word for word in _WORD.findall(question) if word.casefold() in names)
    share = len(repeated_words) / len(words) if words else 0.0
    return LeakageMeasure(
        leaks=bool(names) or share >= limits.share or longest_run >= limits.run,
        share=round(share, 4),
        longest_run=longest_run,
        names=tuple(dict.fromkeys(shown_names)),
        repeated=tuple(repeated_words),
        method_identified_by="wording" if parts.found_by_wording else "place",
    )


def _extract_topic(title: str) -> str:
    """Return the topic stated in a title: `Drought` in `A Calculus of Shade for Drought by Way of Sand`. It is needed
    because an abstract that begins with its method does not state the topic."""
    ends = [match.end() for match in _BEFORE_TOPIC.finditer(title)]
    return _MEANS.split(title[ends[-1] :], maxsplit=1)[0] if ends else ""


def _list_distinctive_words(text: str) -> list[str]:
    """Return, in order, the distinct words that could distinguish one method from another."""
    kept_words = content_words(text) - _ANY_METHOD
    return list(dict.fromkeys(word for word in (item.casefold() for item in _WORD.findall(text)) if word in kept_words))


def _find_coined_names(title: str, parts: AbstractParts) -> set[str]:
    """Return coined names in lower case: the words before the title's colon, and names that occur in the method but not
    in the problem."""
    before_colon = _TITLED.match(title)
    names = {item.casefold() for item in _NAMED.findall(parts.method)}
    if before_colon:
        names |= {word.casefold() for word in _WORD.findall(before_colon[1])}
    return names - {word.casefold() for word in _WORD.findall(parts.problem)}


def _measure_longest_run(question: Sequence[str], parts: AbstractParts, method_only: frozenset[str]) -> int:
    """Return the length of the longest run of words that the question shares with the method. A run counts only if it
    contains a word that occurs only in the method; other runs are common phrases."""
    method, problem = _pad_words(_stem_words(parts.method)), _pad_words(_stem_words(parts.problem))
    longest_run = 0
    for start in range(len(question)):
        end = start + longest_run + 1
        last = min(len(question), start + _MAX_RUN_WORDS)
        while end <= last and (run := _pad_words(question[start:end])) in method and run not in problem:
            if method_only.intersection(question[start:end]):
                longest_run = end - start
            end += 1
    return longest_run


def _stem_words(text: str) -> list[str]:
    return stems([word.casefold() for word in _WORD.findall(text)])


def _pad_words(words: Iterable[str]) -> str:
    return f" {' '.join(words)} "
