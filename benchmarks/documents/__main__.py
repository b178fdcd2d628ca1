"""`python -m benchmarks.documents FOLDER`: how reference lists of real documents are read and checked.

The folder holds documents and a file `entries.jsonl`. Each of its lines labels one document: `document` (path), `kind`
(style or format), and `entries`. Each entry has its printed `text`, `work` (title, authors, year, doi, arxiv of a
bibliography beside the document, or null), and `partial` if the text lacks parts of the printed entry.

Prints by kind and by document: entries recognised; correct entries reported as wrong by a check against a corpus of the
labelled works; invented entries found, of two added to each list in its style; and words of the file that are missing
from the reading.
"""

import asyncio
import datetime as dt
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from assayer.llm import NoLlm
from assayer.models import Absent, EvaluationId, Idea, Identifiers, OwnReferenceOutcome, OwnReferences, Paper, PaperId
from assayer.own_references.check import check_own_references
from assayer.own_references.options import OwnReferenceOptions
from assayer.run.no_progress import NoProgress
from assayer.run.run import Run
from benchmarks.documents.labels import Label, LabelledDocument, covers, keep_letters, match_entries
from benchmarks.documents.planting import plant_inventions
from benchmarks.documents.words import find_missing_words
from benchmarks.measuring import build_parser, format_heading
from cluster.clock import SystemClock
from tests.memory_corpus import MemoryCorpus
from workers.documents.idea_reader import read_ideas
from workers.embedding.hashing_embedder import HashingEmbedder
from workers.literature.reference_sources import create_reference_sources
from workers.literature.settings import LiteratureSettings

_COLUMNS = "entries | told apart | extra | checked | accused | undecided | planted | found | words | lacking"
_ACCUSATIONS = ("differs", "not_found", "retracted")


class Result(NamedTuple):
    """Figures of one document."""

    document: str
    kind: str
    entries: int
    told_apart: int
    extra: int
    """Number of entries read that match no label."""
    checked: int
    """Entries told apart whose work is in the corpus."""
    accused: tuple[str, ...]
    """Checked entries reported as wrong, with the reason."""
    undecided: tuple[str, ...]
    """Checked entries without a verdict, with the reason."""
    planted: int
    planted_found: int
    missing: tuple[str, ...]
    """Words of the file that are missing from the reading."""
    words: int
    lost: tuple[str, ...] = ()
    """Labelled entries that were not recognised as separate entries."""


def main() -> None:
    parser = build_parser("documents", __doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", help="path of the one document to measure")
    parser.add_argument("--details", action="store_true", help="print each entry that went wrong")
    options = parser.parse_args()
    lines = (options.folder / "entries.jsonl").read_text("utf-8").splitlines()
    documents = [LabelledDocument.model_validate_json(line) for line in lines]
    print(format_heading())
    corpus = MemoryCorpus(list(_build_papers(documents)), HashingEmbedder())
    selected = [document for document in documents if options.only in (None, document.document)]
    results = [asyncio.run(_measure_document(options.folder, document, corpus)) for document in selected]
    for line in _format_tables(results, with_details=options.details):
        print(line)


def _build_papers(documents: Sequence[LabelledDocument]) -> Iterator[Paper]:
    labelled_works = (entry.work for item in documents for entry in item.entries if entry.work)
    works = {(keep_letters(work.title), work.year, work.authors[:1]): work for work in labelled_works}
    for number, work in enumerate(works.values()):
        yield Paper(
            id=PaperId(f"work-{number}"),
            title=work.title or "Untitled",
            abstract="",
            authors=work.authors,
            publication_date=dt.date(work.year, 12, 31) if work.year else None,
            identifiers=Identifiers(doi=work.doi, arxiv=work.arxiv),
            source="corpus",
        )


async def _measure_document(folder: Path, document: LabelledDocument, corpus: MemoryCorpus) -> Result:
    path = folder / document.document
    reading = await read_ideas([path])
    if not reading.ideas:
        print(f"{document.document} could not be read: {reading.rejected[0].message}")
        return Result(document.document, document.kind, len(document.entries), 0, 0, 0, (), (), 0, 0, (), 0)
    (idea,) = reading.ideas
    matching = match_entries(document.entries, [work.raw or work.title for work in idea.references])
    planted_idea = plant_inventions(idea, seed=document.document)
    outcomes = await _check_references(planted_idea.idea, corpus)
    entry_outcomes = _judge_entries(document.entries, matching.pairs, idea, outcomes)
    inventions = [entry for title in planted_idea.titles for entry in outcomes.entries if covers(entry.text, title)]
    words, lost_words = find_missing_words(path, idea)
    return Result(
        document.document,
        document.kind,
        entries=len(document.entries),
        told_apart=len(matching.pairs),
        extra=matching.extra,
        checked=sum(document.entries[position].work is not None for position in matching.pairs),
        accused=tuple(text for outcome, text in entry_outcomes if outcome in _ACCUSATIONS),
        undecided=tuple(text for outcome, text in entry_outcomes if isinstance(outcome, Absent)),
        planted=len(planted_idea.titles),
        planted_found=sum(entry.outcome == "not_found" for entry in inventions),
        missing=lost_words,
        words=words,
        lost=tuple(entry.text for position, entry in enumerate(document.entries) if position not in matching.pairs),
    )


def _judge_entries(
    entries: Sequence[Label], pairs: dict[int, int], idea: Idea, outcomes: OwnReferences
) -> list[tuple[OwnReferenceOutcome | Absent, str]]:
    """Return the outcomes of entries whose work is in the corpus, each with the reason."""
    by_text = {entry.text: entry for entry in outcomes.entries}
    judgements = []
    for label_position, entry_position in pairs.items():
        work, entry = entries[label_position].work, by_text.get(idea.references[entry_position].raw)
        if work is not None and entry is not None:
            explanation = entry.outcome.reason if isinstance(entry.outcome, Absent) else " ".join(entry.differences)
            judgements.append((entry.outcome, f"{explanation} | {entry.text[:200]} | record: {work.title[:80]}"))
    return judgements


async def _check_references(idea: Idea, corpus: MemoryCorpus) -> OwnReferences:
    run = Run(EvaluationId("benchmark"), None, SystemClock(), NoProgress())
    sources = create_reference_sources(corpus, {}, LiteratureSettings(), run)
    options = OwnReferenceOptions(most=1_000, seconds=600)
    references = await check_own_references(idea, sources, NoLlm(), run, options)
    return references if isinstance(references, OwnReferences) else OwnReferences(parser="text", entries=())


def _format_tables(results: Sequence[Result], *, with_details: bool) -> Iterator[str]:
    yield f"\n| kind | files | {_COLUMNS} |"
    yield "|---|---|---|---|---|---|---|---|---|---|---|---|"
    for kind in [*dict.fromkeys(result.kind for result in results), ""]:
        kind_results = [result for result in results if kind in ("", result.kind)]
        yield _format_row(f"{kind or 'all'} | {len(kind_results)}", kind_results)
    yield f"\n| file | kind | {_COLUMNS} |"
    yield "|---|---|---|---|---|---|---|---|---|---|---|---|"
    for result in results:
        yield _format_row(f"{result.document} | {result.kind}", [result])
    for result in results if with_details else ():
        for name, texts in (
            ("not told apart", result.lost),
            ("accused", result.accused),
            ("undecided", result.undecided),
        ):
            yield from (f"{result.document} {name}: {text[:400]}" for text in texts)
        common = Counter(result.missing).most_common(25)
        yield f"{result.document} missing words: {json.dumps(dict(common), ensure_ascii=False)}"


def _format_row(start: str, results: Sequence[Result]) -> str:
    def sum_field(name: str) -> int:
        values = (getattr(result, name) for result in results)
        return sum(len(value) if isinstance(value, tuple) else value for value in values)

    share = f"{sum_field('told_apart')} ({100 * sum_field('told_apart') / max(1, sum_field('entries')):.1f} %)"
    accused_text = f"{sum_field('accused')} ({100 * sum_field('accused') / max(1, sum_field('checked')):.1f} %)"
    cells = [
        sum_field("entries"),
        share,
        sum_field("extra"),
        sum_field("checked"),
        accused_text,
        sum_field("undecided"),
        sum_field("planted"),
    ]
    cells += [sum_field("planted_found"), sum_field("words"), sum_field("missing")]
    return f"| {start} | {' | '.join(map(str, cells))} |"


if __name__ == "__main__":
    main()
