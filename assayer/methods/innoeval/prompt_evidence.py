"""Sources and parts of the idea as prompts show them, with the labels of the prompt."""

from collections.abc import Sequence

from assayer.methods.innoeval.dimensions import EvidenceKind
from assayer.methods.innoeval.evidence_pack import ReadSource
from assayer.methods.innoeval.extraction import IdeaPart
from assayer.methods.innoeval.schemas import EvidenceItem, LabelledPart
from assayer.methods.scholareval.paper_evidence import own_work, title_line
from assayer.models import Paper
from assayer.run.run import Run
from assayer.text.cutting import first_words, last_words
from assayer.text.sanitise import sanitise

_LEFT_OUT = " […] "


def on_one_line(text: str) -> str:
    return " ".join(sanitise(text)[0].split())


def clean_text(text: str, paper: Paper, run: Run, limit: int) -> str:
    """Return at most `limit` sanitised characters; if the text is longer, its middle is left out. Texts that contain
    instructions are recorded in the journal."""
    text, flags = sanitise(text[: limit * 4])
    run.journal.check_for_suspicion(paper, flags)
    return shortened(text.strip(), limit)


def shortened(text: str, most: int) -> str:
    """Shorten a text to at most `most` characters. Whole words at the beginning and at the end, where abstracts state
    their results, are kept; a mark replaces the middle."""
    if len(text) <= most:
        return text
    kept = (most - len(_LEFT_OUT)) // 2
    return f"{first_words(text, kept)}{_LEFT_OUT}{last_words(text, kept)}"


def evidence_item(
    paper: Paper, kind: EvidenceKind, text: str, standing: str = "", full_text: bool = False
) -> EvidenceItem:
    """Return an evidence item without its final label, which is assigned by `evidence_batches`."""
    return EvidenceItem(
        label="P0",
        paper_id=paper.id,
        title=title_line(paper),
        year=paper.year,
        text=text,
        full_text=full_text,
        kind=kind,
        standing=standing,
    )


def source_item(source: ReadSource) -> EvidenceItem:
    """Return the full text read from a source as an evidence item, without its final label."""
    item = evidence_item(source.paper, source.kind, source.text, full_text=source.full_text)
    return item.model_copy(update={"places": source.places})


def labelled_parts(parts: Sequence[IdeaPart]) -> tuple[LabelledPart, ...]:
    """Return the parts with the labels of one prompt, starting at S1."""
    return tuple(LabelledPart(label=f"S{n}", name=part.name, text=part.text) for n, part in enumerate(parts, start=1))


def labelled_evidence(sources: Sequence[ReadSource], chars: int) -> tuple[EvidenceItem, ...]:
    """Return the sources labelled in order, each cut to `chars` characters. A paper that is cut begins with what it
    says of its own work."""
    return tuple(_cut(source, chars).model_copy(update={"label": f"P{n}"}) for n, source in enumerate(sources, start=1))


def _cut(source: ReadSource, chars: int) -> EvidenceItem:
    item = source_item(source)
    if len(item.text) <= chars:
        return item
    # After omitted text, the place of a word is known only if the whole text has a single place.
    places = item.places if len(item.places) == 1 else ()
    text = own_work(item.text) if source.kind == "literature" else item.text
    return item.model_copy(update={"text": shortened(text, chars), "places": places})
