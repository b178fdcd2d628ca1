"""From papers to the evidence that a prompt shows."""

from collections.abc import Iterable, Mapping, Sequence

from assayer.evidence import Evidence
from assayer.methods.scholareval.sections import methods_and_results
from assayer.models import FullText, Paper, PaperId, Passage
from assayer.run import Run
from assayer.sanitise import sanitise

__all__ = ["batches", "evidence_of"]

_LONGEST_TITLE = 300
"""Characters."""


def evidence_of(
    papers: Sequence[Paper],
    run: Run,
    limit_chars: int,
    nearness: Mapping[PaperId, float],
    passages: Mapping[PaperId, Sequence[Passage]] | None = None,
    full_texts: Mapping[PaperId, FullText] | None = None,
) -> list[Evidence]:
    """One item a paper, labelled in order: abstract first, then what matched, then methods and results."""
    items = []
    for number, paper in enumerate(papers, start=1):
        full_text = (full_texts or {}).get(paper.id)
        matched = (passages or {}).get(paper.id, ())
        text, flags = sanitise("\n\n".join(_stretches(paper, matched, full_text))[: limit_chars * 2])
        if any(flag.kind == "suspected_injection" for flag in (*flags, *(full_text.flags if full_text else ()))):
            run.journal.suspects[paper.id] = _title(paper)
        run.journal.read.add(paper.id)
        beyond_abstract = full_text is not None or any(one.section not in ("title", "abstract") for one in matched)
        if beyond_abstract:
            run.journal.full_texts.add(paper.id)
        items.append(
            Evidence(
                label=f"P{number}",
                paper_id=paper.id,
                title=_title(paper),
                year=paper.publication_date.year if paper.publication_date else None,
                text=_cut(text, limit_chars),
                full_text=beyond_abstract,
                similarity=nearness.get(paper.id),
            )
        )
    return items


def _cut(text: str, most: int) -> str:
    """At most so many characters, ending with a whole word."""
    return text if len(text) <= most else text[:most].rsplit(maxsplit=1)[0]


def _title(paper: Paper) -> str:
    return " ".join(sanitise(paper.title)[0].split())[:_LONGEST_TITLE]


def _stretches(paper: Paper, passages: Iterable[Passage], full_text: FullText | None) -> list[str]:
    stretches = [paper.abstract.strip() or paper.title]
    stretches += [
        f"{passage.section}\n\n{passage.text.strip()}"
        for passage in passages
        if passage.text.strip() not in paper.abstract and passage.section != "title"
    ]
    seen = "\n".join(stretches)
    if full_text is not None:
        stretches += [
            f"{section.title}\n\n{section.text.strip()}"
            for section in methods_and_results(full_text.sections)
            if section.text.strip() not in seen
        ]
    return stretches


def batches(evidence: Sequence[Evidence], most: int, most_chars: int) -> list[tuple[Evidence, ...]]:
    """Splits evidence, in order, into calls of at most `most` papers and about `most_chars` characters, and
    labels every call from P1 again: a label means nothing outside its prompt."""
    split: list[list[Evidence]] = [[]]
    room = most_chars
    for item in evidence:
        if split[-1] and (len(split[-1]) >= most or len(item.text) > room):
            split.append([])
            room = most_chars
        split[-1].append(item)
        room -= len(item.text)
    return [
        tuple(item.model_copy(update={"label": f"P{n}"}) for n, item in enumerate(batch, start=1))
        for batch in split
        if batch
    ]
