"""Quote sentences in which papers state limitations or comparisons, recognised by typical wording."""

import re
from collections.abc import Iterator, Mapping, Sequence

from assayer.citing.evidence import Evidence, ShownPlace, build_citation, check_quote
from assayer.models import Citation, FullText, PaperId
from assayer.text.sanitise import sanitise
from assayer.text.sentences import sentences

_LIMITATION_TITLE = re.compile(r"\b(?:limitations?|threats? to validity|shortcomings?)\b", re.IGNORECASE)
_LIMITATION = re.compile(
    r"\b(?:limitations?|limited (?:to|by)|we (?:did|do|have|could) not|nothing can be said"
    r"|remains? (?:open|unclear|unknown)|only (?:for|in|on|one|two)"
    r"|(?:was|were|has|have) not (?:been )?(?:measured|tested|studied|evaluated|examined))\b",
    re.IGNORECASE,
)
_COMPARISON = re.compile(
    r"\b(?:baselines?|compare[ds]? (?:\w+ ){0,6}?(?:with|to|against)|outperform\w*|versus"
    r"|control (?:group|condition|arm))\b",
    re.IGNORECASE,
)
_MAX_QUOTE_WORDS = 45
_MAX_PER_PAPER = 2


def find_limitations(papers: Sequence[Evidence], texts: Mapping[PaperId, FullText], limit: int) -> tuple[Citation, ...]:
    """Quote the limitations that the papers state, nearest papers first. If a paper has a section on limitations,
    quotes come only from there."""
    return _quote_sentences(
        ((paper, _find_limitation_sentences(paper, texts.get(paper.paper_id))) for paper in papers),
        _MAX_PER_PAPER,
        limit,
    )


def find_comparisons(papers: Sequence[Evidence], limit: int) -> tuple[Citation, ...]:
    """Quote one sentence that states a comparison from each paper that has one, nearest papers first."""
    return _quote_sentences(
        ((paper, (paper, _find_matching_sentences(paper.text, _COMPARISON))) for paper in papers), 1, limit
    )


def _find_limitation_sentences(paper: Evidence, text: FullText | None) -> tuple[Evidence, list[str]]:
    """Return the text from which limitations can be quoted, and its sentences that state limitations."""
    for section in text.sections if text else ():
        if _LIMITATION_TITLE.search(section.title):
            body = sanitise(section.text)[0]
            places = (ShownPlace(start=0, name=" ".join(sanitise(section.title)[0].split())),)
            paper_with_titles = paper.model_copy(update={"text": body, "places": places})
            return paper_with_titles, sentences(body)
    return paper, _find_matching_sentences(paper.text, _LIMITATION)


def _find_matching_sentences(text: str, pattern: re.Pattern[str]) -> list[str]:
    return [sentence for sentence in sentences(text) if pattern.search(sentence)]


def _quote_sentences(
    sentences_by_paper: Iterator[tuple[Evidence, tuple[Evidence, list[str]]]], max_per_paper: int, limit: int
) -> tuple[Citation, ...]:
    quotes: list[Citation] = []
    for paper, (source, candidates) in sentences_by_paper:
        previous_count = len(quotes)
        for sentence in candidates:
            if len(quotes) == limit or len(quotes) - previous_count == max_per_paper:
                break
            if len(sentence.split()) > _MAX_QUOTE_WORDS:
                continue
            quote = check_quote(sentence, source)
            if quote is not None and quote.state == "verified":
                quotes.append(build_citation(paper.paper_id, quote))
    return tuple(quotes)
