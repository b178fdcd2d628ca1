"""Sources and parts of the idea as shown in prompts, with the prompt's labels."""

from collections.abc import Sequence

from assayer.methods.innoeval.dimensions import EvidenceKind
from assayer.methods.innoeval.evidence_pack import ReadSource
from assayer.methods.innoeval.extraction import IdeaPart
from assayer.methods.innoeval.schemas import EvidenceItem, LabelledPart
from assayer.methods.scholareval.paper_evidence import extract_own_work, format_title
from assayer.models import Paper
from assayer.run.run import Run
from assayer.text.cutting import keep_beginning, keep_end
from assayer.text.sanitise import sanitise

_LEFT_OUT = " […] "


def join_lines(text: str) -> str:
    return " ".join(sanitise(text)[0].split())


def clean_text(text: str, paper: Paper, run: Run, limit: int) -> str:
    """Return up to `limit` sanitised characters of a text; the middle of a longer text is left out. The journal records
    papers whose text contains instructions."""
    text, flags = sanitise(text[: limit * 4])
    run.journal.record_if_suspicious(paper, flags)
    return shorten_middle(text.strip(), limit)


def shorten_middle(text: str, max_chars: int) -> str:
    """Shorten a text to at most `max_chars` characters. It keeps whole words at the beginning and at the end, where
    abstracts state their results; a mark replaces the middle."""
    if len(text) <= max_chars:
        return text
    kept_chars = (max_chars - len(_LEFT_OUT)) // 2
    return f"{keep_beginning(text, kept_chars)}{_LEFT_OUT}{keep_end(text, kept_chars)}"


def build_evidence_item(
    paper: Paper, kind: EvidenceKind, text: str, standing: str = "", full_text: bool = False
) -> EvidenceItem:
    """Build an evidence item. Its final label is assigned later, by `batch_evidence`."""
    return EvidenceItem(
        label="P0",
        paper_id=paper.id,
        title=format_title(paper),
        year=paper.year,
        text=text,
        full_text=full_text,
        kind=kind,
        standing=standing,
    )


def build_source_item(source: ReadSource) -> EvidenceItem:
    """Build an evidence item with everything that was read from a source, without its final label."""
    item = build_evidence_item(source.paper, source.kind, source.text, full_text=source.full_text)
    return item.model_copy(update={"places": source.places})


def label_parts(parts: Sequence[IdeaPart]) -> tuple[LabelledPart, ...]:
    """Return the parts, labelled for one prompt from S1."""
    return tuple(LabelledPart(label=f"S{n}", name=part.name, text=part.text) for n, part in enumerate(parts, start=1))


def label_evidence(sources: Sequence[ReadSource], chars: int) -> tuple[EvidenceItem, ...]:
    """Return the sources, labelled in order, each cut to `chars` characters. If a paper is cut, its text begins with
    what it says about its own work."""
    return tuple(
        _shorten_source(source, chars).model_copy(update={"label": f"P{n}"})
        for n, source in enumerate(sources, start=1)
    )


def _shorten_source(source: ReadSource, chars: int) -> EvidenceItem:
    item = build_source_item(source)
    if len(item.text) <= chars:
        return item
    # Once text is omitted, the place of a word is known only if the whole text has a single place.
    places = item.places if len(item.places) == 1 else ()
    text = extract_own_work(item.text) if source.kind == "literature" else item.text
    return item.model_copy(update={"text": shorten_middle(text, chars), "places": places})
