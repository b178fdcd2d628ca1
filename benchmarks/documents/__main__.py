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
from assayer.ports import ProgressEvent
from assayer.run.run import Run
from benchmarks.documents.labels import Label, LabelledDocument, covers, letters, match_entries
from benchmarks.documents.planting import plant_inventions
from benchmarks.documents.words import missing_words
from benchmarks.measuring import command_line, heading
from cluster.clock import SystemClock
from tests.memory_corpus import MemoryCorpus
from workers.documents.idea_reader import read_ideas
from workers.embedding.hashing_embedder import HashingEmbedder
from workers.literature.reference_sources import reference_sources
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
    parser = command_line("documents", __doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", help="path of the one document to measure")
    parser.add_argument("--details", action="store_true", help="print each entry that went wrong")
    options = parser.parse_args()
    lines = (options.folder / "entries.jsonl").read_text("utf-8").splitlines()
    documents = [LabelledDocument.model_validate_json(line) for line in lines]
    print(heading())
    corpus = MemoryCorpus(list(_records(documents)), HashingEmbedder())
    chosen = [item for item in documents if options.only in (None, item.document)]
    results = [asyncio.run(_measured(options.folder, item, corpus)) for item in chosen]
    for line in _tables(results, details=options.details):
        print(line)


def _records(documents: Sequence[LabelledDocument]) -> Iterator[Paper]:
    labelled = (entry.work for item in documents for entry in item.entries if entry.work)
    works = {(letters(work.title), work.year, work.authors[:1]): work for work in labelled}
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


async def _measured(folder: Path, labelled: LabelledDocument, corpus: MemoryCorpus) -> Result:
    path = folder / labelled.document
    found = await read_ideas([path])
    if not found.ideas:
        print(f"{labelled.document} could not be read: {found.rejected[0].message}")
        return Result(labelled.document, labelled.kind, len(labelled.entries), 0, 0, 0, (), (), 0, 0, (), 0)
    (idea,) = found.ideas
    matched = match_entries(labelled.entries, [work.raw or work.title for work in idea.references])
    planted = plant_inventions(idea, seed=labelled.document)
    outcomes = await _check(planted.idea, corpus)
    judged = _judged(labelled.entries, matched.pairs, idea, outcomes)
    inventions = [entry for title in planted.titles for entry in outcomes.entries if covers(entry.text, title)]
    words, missing = missing_words(path, idea)
    return Result(
        labelled.document,
        labelled.kind,
        entries=len(labelled.entries),
        told_apart=len(matched.pairs),
        extra=matched.extra,
        checked=sum(labelled.entries[place].work is not None for place in matched.pairs),
        accused=tuple(text for outcome, text in judged if outcome in _ACCUSATIONS),
        undecided=tuple(text for outcome, text in judged if isinstance(outcome, Absent)),
        planted=len(planted.titles),
        planted_found=sum(entry.outcome == "not_found" for entry in inventions),
        missing=missing,
        words=words,
        lost=tuple(entry.text for place, entry in enumerate(labelled.entries) if place not in matched.pairs),
    )


def _judged(
    entries: Sequence[Label], pairs: dict[int, int], idea: Idea, outcomes: OwnReferences
) -> list[tuple[OwnReferenceOutcome | Absent, str]]:
    """Return the outcomes of entries whose work is in the corpus, each with the reason."""
    by_text = {entry.text: entry for entry in outcomes.entries}
    judged = []
    for place, read in pairs.items():
        work, entry = entries[place].work, by_text.get(idea.references[read].raw)
        if work is not None and entry is not None:
            why = entry.outcome.reason if isinstance(entry.outcome, Absent) else " ".join(entry.differences)
            judged.append((entry.outcome, f"{why} | {entry.text[:200]} | record: {work.title[:80]}"))
    return judged


async def _check(idea: Idea, corpus: MemoryCorpus) -> OwnReferences:
    run = Run(EvaluationId("benchmark"), None, SystemClock(), _Silent())
    sources = reference_sources(corpus, {}, LiteratureSettings(), run)
    options = OwnReferenceOptions(most=1_000, seconds=600)
    checked = await check_own_references(idea, sources, NoLlm(), run, options)
    return checked if isinstance(checked, OwnReferences) else OwnReferences(parser="text", entries=())


class _Silent:
    def report(self, event: ProgressEvent) -> None:
        """Report nothing."""


def _tables(results: Sequence[Result], *, details: bool) -> Iterator[str]:
    yield f"\n| kind | files | {_COLUMNS} |"
    yield "|---|---|---|---|---|---|---|---|---|---|---|---|"
    for kind in [*dict.fromkeys(result.kind for result in results), ""]:
        chosen = [result for result in results if kind in ("", result.kind)]
        yield _row(f"{kind or 'all'} | {len(chosen)}", chosen)
    yield f"\n| file | kind | {_COLUMNS} |"
    yield "|---|---|---|---|---|---|---|---|---|---|---|---|"
    for result in results:
        yield _row(f"{result.document} | {result.kind}", [result])
    for result in results if details else ():
        for name, texts in (
            ("not told apart", result.lost),
            ("accused", result.accused),
            ("undecided", result.undecided),
        ):
            yield from (f"{result.document} {name}: {text[:400]}" for text in texts)
        common = Counter(result.missing).most_common(25)
        yield f"{result.document} missing words: {json.dumps(dict(common), ensure_ascii=False)}"


def _row(start: str, results: Sequence[Result]) -> str:
    def total(name: str) -> int:
        values = (getattr(result, name) for result in results)
        return sum(len(value) if isinstance(value, tuple) else value for value in values)

    share = f"{total('told_apart')} ({100 * total('told_apart') / max(1, total('entries')):.1f} %)"
    accused = f"{total('accused')} ({100 * total('accused') / max(1, total('checked')):.1f} %)"
    cells = [total("entries"), share, total("extra"), total("checked"), accused, total("undecided"), total("planted")]
    cells += [total("planted_found"), total("words"), total("missing")]
    return f"| {start} | {' | '.join(map(str, cells))} |"


if __name__ == "__main__":
    main()
