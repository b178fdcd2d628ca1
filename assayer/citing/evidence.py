"""Evidence shown in prompts, points that cite it, and verification of their quotes."""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from decimal import Decimal
from typing import Literal, TypeVar

from assayer.citing.claim_numbers import KnownNumbers, numbers_in
from assayer.citing.foreign_citations import foreign_citations
from assayer.citing.foreign_labels import without_labels
from assayer.citing.labels import MARKER, canonical, marker, paper_of, plain
from assayer.citing.quotes import SourceSpan, find_quote, occurs_in
from assayer.citing.whole_sentences import whole_sentences, why_too_short
from assayer.errors import Defect
from assayer.models import Citation, Frozen, PaperId, PlanQuote, Point

EvidenceT = TypeVar("EvidenceT", bound="Evidence")
Out = TypeVar("Out")

_ENDS = re.compile(r"[.!?…。！？:*$}\])»”’\"']$|://|^www\.|@")
"""Pattern for the last word of a complete text: a sentence end, a closing mark, a URL or an email address."""


class ShownPlace(Frozen):
    """Origin of a span of the evidence's text; the span runs up to the start of the next one."""

    start: int
    """Offset in the text."""
    name: str
    """Name of the place: `abstract`, `title`, a section title and so on."""


class Evidence(Frozen):
    """Paper as shown in a prompt."""

    label: str
    """Label such as `P3`, without brackets; unique only within the prompt."""
    paper_id: PaperId
    title: str
    year: int | None
    text: str
    """Abstract, passages and sections as the prompt shows them."""
    places: tuple[ShownPlace, ...] = ()
    """Origins of the spans of the text, in order; spans that begin after the end of the text were cut off."""
    full_text: bool = False
    similarity: float | None = None
    """Cosine similarity between the paper and the text it is compared with; never shown to a model."""

    @property
    def shown(self) -> str:
        """Title and text of the paper as shown in the prompt. Quotes can be taken from the text but not from the
        title."""
        return f"{self.title}\n\n{self.text}"

    @property
    def breaks_off(self) -> bool:
        """True if the text ends in the middle of a sentence, because it was cut here or by its source."""
        last = self.text.split()[-1:]
        return bool(last) and not _ENDS.search(last[0])

    @property
    def numbers(self) -> frozenset[Decimal]:
        """Numbers that a claim about the paper is allowed to use: all numbers in the shown text, and the year."""
        return numbers_in(f"{self.shown}\n\n{self.year or ''}")

    def place_at(self, offset: int) -> str | None:
        """Return the name of the place from which the character at `offset` comes, or None if unknown."""
        return next((place.name for place in reversed(self.places) if place.start <= offset), None)


def evidence_batches(
    evidence: Sequence[EvidenceT], most: int, most_chars: int | None = None
) -> list[tuple[EvidenceT, ...]]:
    """Split evidence, in order, into batches of at most `most` items and about `most_chars` characters, one per call.
    Labels restart at P1 in every call, because a label is valid only within its prompt."""
    batches: list[list[EvidenceT]] = []
    space_left = 0
    for item in evidence:
        if not batches or len(batches[-1]) >= most or (most_chars is not None and len(item.text) > space_left):
            batches.append([])
            space_left = most_chars or 0
        batches[-1].append(item.model_copy(update={"label": f"P{len(batches[-1]) + 1}"}))
        space_left -= len(item.text)
    return [tuple(batch) for batch in batches]


async def ask_about_all(
    batch: Sequence[EvidenceT], ask: Callable[[tuple[EvidenceT, ...]], Awaitable[Sequence[Out]]]
) -> list[Out]:
    """Return one answer per item of the batch. `ask` answers for the first items only if its question was cut to fit
    the model's context window; it is then called again with the rest. Raises Defect if it answers for none."""
    answers: list[Out] = []
    while len(answers) < len(batch):
        more = await ask(tuple(batch[len(answers) :]))
        if not more:
            raise Defect(f"A question about {len(batch) - len(answers)} papers was answered for none of them.")
        answers += more
    return answers


class Quoted(Frozen):
    """Quote from an answer, with the result of its verification against the source."""

    words: str
    """Whole sentences of the source if verified, otherwise the words as the answer wrote them."""
    state: Literal["verified", "not_found"]
    place: str | None = None
    """Place in the source of a verified quote."""
    objection: str | None = None
    """Reason for not verifying words that do occur in the source, worded to follow `not verified:`."""


def point(
    kind: Literal["support", "contradiction", "strength", "weakness", "suggestion"],
    text: str,
    papers: Mapping[str, PaperId],
    quotes: Mapping[PaperId, Quoted],
    numbers: KnownNumbers | None = None,
) -> Point:
    """Build a point with quotes from the papers it cites. The point is downgraded if it has quotes and none was
    verified. Its numbers are checked only if `numbers` is passed."""
    text = canonical(text, papers)
    cited = list(dict.fromkeys(paper_of(item) for item in MARKER.findall(text)))
    citations = tuple(citation_of(paper, quotes.get(paper)) for paper in cited)
    states = {citation.quote_state for citation in citations}
    return Point(
        kind=kind,
        text=text,
        citations=citations,
        downgraded="not_found" in states and "verified" not in states,
        numbers_not_found=numbers.missing_from(text, cited) if numbers else (),
    )


def citation_of(paper: PaperId, quoted: Quoted | None) -> Citation:
    if quoted is None:
        return Citation(label=marker(paper), quote=None, quote_state="none")
    return Citation(
        label=marker(paper),
        quote=quoted.words,
        quote_state=quoted.state,
        place=quoted.place,
        objection=quoted.objection,
    )


def check_quote(quote: str, evidence: Evidence) -> Quoted | None:
    """Return the sentences of the source that contain the words, with their place; None if the quote has no words. URLs
    in these sentences are kept, because they are the paper's own."""
    words = " ".join(quote.strip().strip("\"'“”").split())
    if not words:
        return None
    against: str | None = None
    # Paragraphs are searched one by one, because a quote must not span two passages or sections.
    for paragraph in _PARAGRAPH.finditer(evidence.text):
        place = evidence.place_at(paragraph.start())
        if place == "title" or paragraph[0].strip() == place:
            continue
        for spans in find_quote(words, paragraph[0]):
            objection = why_too_short(paragraph[0], spans) or _title_alone(evidence.title, paragraph[0], spans)
            if objection is None:
                sentences = whole_sentences(paragraph[0], spans)
                return Quoted(words=_cut(paragraph[0], sentences), state="verified", place=place)
            against = against or objection
    if against is None and occurs_in(words, evidence.title):
        against = TITLE_ALONE
    return Quoted(words=plain(_without_citations(words)), state="not_found", objection=against)


def plan_quote(words: str, plan: str) -> PlanQuote:
    """Return the quote as it occurs in the plan, with its verification state."""
    quoted = check_quote(words, Evidence(label="", paper_id=PaperId("plan"), title="", year=None, text=plan))
    if quoted is None:
        return PlanQuote(quote="", state="not_found")
    line = " ".join(words.split())
    is_unknown = quoted.state == "not_found" and quoted.objection is None
    if is_unknown and len(line) >= _SHORTEST_QUOTE and line in " ".join(plan.split()):
        return PlanQuote(quote=plain(line), state="verified")
    return PlanQuote(quote=quoted.words, state=quoted.state, objection=quoted.objection)


_SHORTEST_QUOTE = 12
"""Minimum number of characters for words that occur verbatim in a plan, such as a list item, to count as a quote."""


def _without_citations(words: str) -> str:
    """Replace foreign citations in the words with `…`. Words not found in a source are the model's own, so they must
    not name a work that was not shown."""
    for foreign_citation in reversed(foreign_citations(without_labels(words))):
        words = f"{words[: foreign_citation.start]}…{words[foreign_citation.end :]}"
    return words


_PARAGRAPH = re.compile(r"(?:[^\n]+|\n(?!\n))+")
TITLE_ALONE = "it is the title of the paper"


def _title_alone(title: str, source: str, spans: Sequence[SourceSpan]) -> str | None:
    """Return an objection if the quote is only the paper's title, even if the title is repeated in the text; otherwise
    None."""
    words = _cut(source, spans)
    return TITLE_ALONE if len(words) >= _TITLE_SHARE * len(title) and occurs_in(words, title) else None


_TITLE_SHARE = 0.8


def _cut(source: str, spans: Sequence[SourceSpan]) -> str:
    """Return the source's own words in the spans, on one line and without the last full stop. An ellipsis replaces the
    text between spans."""
    words = " … ".join(" ".join(source[span.start : span.end].split()) for span in spans)
    return words.removesuffix(".").removesuffix("。")
