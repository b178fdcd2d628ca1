"""Evidence shown in prompts, points that cite it, and verification of quotes from it."""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from decimal import Decimal
from typing import Literal, TypeVar

from assayer.citing.claim_numbers import KnownNumbers, collect_numbers
from assayer.citing.foreign_citations import find_foreign_citations
from assayer.citing.foreign_labels import blank_labels
from assayer.citing.labels import MARKER, build_marker, parse_marker, replace_labels_with_markers, strip_citations
from assayer.citing.quotes import SourceSpan, find_quote, occurs_in
from assayer.citing.whole_sentences import explain_too_short, find_quoted_sentences
from assayer.errors import Defect
from assayer.models import Citation, Frozen, PaperId, PlanQuote, Point

EvidenceT = TypeVar("EvidenceT", bound="Evidence")
Out = TypeVar("Out")

_ENDS = re.compile(r"[.!?…。！？:*$}\])»”’\"']$|://|^www\.|@")
"""Matches the last word of a complete text: it ends a sentence or with a closing mark, or it is a URL or an email
address."""


class ShownPlace(Frozen):
    """Where a span of the evidence's text comes from. The span ends where the next one starts."""

    start: int
    """Offset in the text."""
    name: str
    """Name of the place: `abstract`, `title`, the title of a section, and so on."""


class Evidence(Frozen):
    """A paper as shown in a prompt."""

    label: str
    """Label without brackets, such as `P3`; valid only within the prompt."""
    paper_id: PaperId
    title: str
    year: int | None
    text: str
    """Abstract, passages and sections, as shown in the prompt."""
    places: tuple[ShownPlace, ...] = ()
    """Origins of the text's spans, in order. Spans that start after the end of the text were cut off."""
    full_text: bool = False
    similarity: float | None = None
    """Cosine similarity between the paper and the text that it is compared with; never shown to a model."""

    @property
    def shown(self) -> str:
        """The paper's title and text as shown in the prompt. Quotes may be taken from the text but not from the
        title."""
        return f"{self.title}\n\n{self.text}"

    @property
    def breaks_off(self) -> bool:
        """Whether the text ends in mid-sentence, because it was cut here or by its source."""
        last_word = self.text.split()[-1:]
        return bool(last_word) and not _ENDS.search(last_word[0])

    @property
    def numbers(self) -> frozenset[Decimal]:
        """Numbers that a claim about the paper may use: all numbers in the text shown, and the year."""
        return collect_numbers(f"{self.shown}\n\n{self.year or ''}")

    def find_place_name(self, offset: int) -> str | None:
        """Return the name of the place that the character at `offset` comes from, or None if it is unknown."""
        return next((place.name for place in reversed(self.places) if place.start <= offset), None)


def batch_evidence(
    evidence: Sequence[EvidenceT], max_items: int, max_chars: int | None = None
) -> list[tuple[EvidenceT, ...]]:
    """Split evidence into batches, one per LLM request, of at most `max_items` items and about `max_chars` characters.
    The order is kept. Labels restart at P1 in every batch, because a label is valid only within its prompt."""
    batches: list[list[EvidenceT]] = []
    space_left = 0
    for item in evidence:
        if not batches or len(batches[-1]) >= max_items or (max_chars is not None and len(item.text) > space_left):
            batches.append([])
            space_left = max_chars or 0
        batches[-1].append(item.model_copy(update={"label": f"P{len(batches[-1]) + 1}"}))
        space_left -= len(item.text)
    return [tuple(batch) for batch in batches]


async def ask_about_all(
    batch: Sequence[EvidenceT], ask: Callable[[tuple[EvidenceT, ...]], Awaitable[Sequence[Out]]]
) -> list[Out]:
    """Get one answer per item in the batch. If the question was cut to fit the model's context window, `ask` answers
    for the first items only; it is then called again with the rest. Raises Defect if it answers for none."""
    answers: list[Out] = []
    while len(answers) < len(batch):
        further_answers = await ask(tuple(batch[len(answers) :]))
        if not further_answers:
            raise Defect(f"A question about {len(batch) - len(answers)} papers was answered for none of them.")
        answers += further_answers
    return answers


class Quoted(Frozen):
    """A quote from an answer, with the result of its verification against the source."""

    words: str
    """If verified, whole sentences from the source; otherwise the words as written in the answer."""
    state: Literal["verified", "not_found"]
    place: str | None = None
    """Where in the source a verified quote was found."""
    objection: str | None = None
    """Why words that do occur in the source were not verified, worded to follow `not verified:`."""


def build_point(
    kind: Literal["support", "contradiction", "strength", "weakness", "suggestion"],
    text: str,
    papers: Mapping[str, PaperId],
    quotes: Mapping[PaperId, Quoted],
    numbers: KnownNumbers | None = None,
) -> Point:
    """Build a point, with quotes from the papers that it cites. The point is downgraded if it has quotes and none was
    verified. Its numbers are checked only if `numbers` is passed."""
    text = replace_labels_with_markers(text, papers)
    cited_papers = list(dict.fromkeys(parse_marker(item) for item in MARKER.findall(text)))
    citations = tuple(build_citation(paper, quotes.get(paper)) for paper in cited_papers)
    states = {citation.quote_state for citation in citations}
    return Point(
        kind=kind,
        text=text,
        citations=citations,
        downgraded="not_found" in states and "verified" not in states,
        numbers_not_found=numbers.find_missing(text, cited_papers) if numbers else (),
    )


def build_citation(paper: PaperId, quoted: Quoted | None) -> Citation:
    if quoted is None:
        return Citation(label=build_marker(paper), quote=None, quote_state="none")
    return Citation(
        label=build_marker(paper),
        quote=quoted.words,
        quote_state=quoted.state,
        place=quoted.place,
        objection=quoted.objection,
    )


def check_quote(quote: str, evidence: Evidence) -> Quoted | None:
    """Look for a quote in the evidence, and return the sentences that contain it, with their place. None if the quote
    has no words. URLs in these sentences are kept, because they are the paper's own."""
    words = " ".join(quote.strip().strip("\"'“”").split())
    if not words:
        return None
    contradiction: str | None = None
    # Search paragraph by paragraph, because a quote must not span two passages or sections.
    for paragraph in _PARAGRAPH.finditer(evidence.text):
        place = evidence.find_place_name(paragraph.start())
        if place == "title" or paragraph[0].strip() == place:
            continue
        for spans in find_quote(words, paragraph[0]):
            objection = explain_too_short(paragraph[0], spans) or _find_title_objection(
                evidence.title, paragraph[0], spans
            )
            if objection is None:
                sentences = find_quoted_sentences(paragraph[0], spans)
                return Quoted(words=_join_spans(paragraph[0], sentences), state="verified", place=place)
            contradiction = contradiction or objection
    if contradiction is None and occurs_in(words, evidence.title):
        contradiction = TITLE_ALONE
    return Quoted(words=strip_citations(_replace_citations(words)), state="not_found", objection=contradiction)


def check_plan_quote(quote: str, plan: str) -> PlanQuote:
    """Return a quote as it occurs in the plan, with its verification state."""
    quoted = check_quote(quote, Evidence(label="", paper_id=PaperId("plan"), title="", year=None, text=plan))
    if quoted is None:
        return PlanQuote(quote="", state="not_found")
    line = " ".join(quote.split())
    is_unknown = quoted.state == "not_found" and quoted.objection is None
    if is_unknown and len(line) >= _MIN_VERBATIM_CHARS and line in " ".join(plan.split()):
        return PlanQuote(quote=strip_citations(line), state="verified")
    return PlanQuote(quote=quoted.words, state=quoted.state, objection=quoted.objection)


_MIN_VERBATIM_CHARS = 12
"""Minimum length, in characters, at which words that occur verbatim in the plan, such as a list item, count as a
quote."""


def _replace_citations(text: str) -> str:
    """Replace foreign citations with `…`. Words that were not found in a source are the model's own, so they must not
    name a work that was not shown."""
    for foreign_citation in reversed(find_foreign_citations(blank_labels(text))):
        text = f"{text[: foreign_citation.start]}…{text[foreign_citation.end :]}"
    return text


_PARAGRAPH = re.compile(r"(?:[^\n]+|\n(?!\n))+")
TITLE_ALONE = "it is only the title of the paper"


def _find_title_objection(title: str, source: str, spans: Sequence[SourceSpan]) -> str | None:
    """Return an objection if the quote is nothing but the paper's title, even where the text repeats the title;
    otherwise None."""
    quoted_text = _join_spans(source, spans)
    return TITLE_ALONE if len(quoted_text) >= _TITLE_SHARE * len(title) and occurs_in(quoted_text, title) else None


_TITLE_SHARE = 0.8


def _join_spans(source: str, spans: Sequence[SourceSpan]) -> str:
    """Return the source's words in the spans, on one line and without the final full stop. An ellipsis replaces the
    text between spans."""
    joined_text = " … ".join(" ".join(source[span.start : span.end].split()) for span in spans)
    return joined_text.removesuffix(".").removesuffix("。")
