"""Measures the check of an idea's own references: how many real ones it finds, and how it treats planted ones.

It uses a real PDF with the TEI that GROBID made of it, and proposals made from real reference lists. The corpus
contains all real works, so a real one that is not found was misread or mismatched, not missing. How complete corpora
and sources are is not measured here.
"""

import asyncio
import datetime as dt
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from scipy.stats import binomtest

from assayer.literature.paper_identity import build_title_key, extract_family_name
from assayer.llm import NoLlm
from assayer.models import CitedWork, EvaluationId, OwnReferences, Paper, PaperId
from assayer.own_references.check import check_own_references
from assayer.own_references.entries import read_references
from assayer.own_references.matching import find_best_match
from assayer.own_references.options import OwnReferenceOptions
from assayer.run.no_progress import NoProgress
from assayer.run.run import Run
from benchmarks.quality.grapheval.reporting import format_row
from benchmarks.quality.part_inputs import PartInputs
from benchmarks.quality.reference_lists import PlantedEntry, Proposal, make_proposals, read_works
from benchmarks.records import DATA
from cluster.clock import SystemClock
from index import Corpus, build_corpus
from workers.documents.document_ideas import read_pdf_idea
from workers.embedding.hashing_embedder import HashingEmbedder
from workers.full_texts.grobid_tei import parse_tei
from workers.literature.reference_sources import create_reference_sources
from workers.literature.settings import LiteratureSettings

_PROPOSALS = 20
_OUTCOMES = ("found", "differs", "not_found", "absent", "unread")


class JudgedEntry(NamedTuple):
    """A planted entry, and the outcome of its check."""

    planted: PlantedEntry
    style: str
    outcome: str
    """The check's outcome; `unread` means that no entry of the check has its title."""


def measure_own_references(inputs: PartInputs) -> Iterator[str]:
    yield from asyncio.run(_compare_readers())
    yield ""
    seed, count = inputs.run_options.seeds[0], inputs.run_options.first or _PROPOSALS
    generated = make_proposals(DATA, read_works(DATA), count, seed)
    directory = inputs.run_options.out / "corpus-of-words"
    judged_entries, seconds = asyncio.run(_check_proposals(generated, directory))
    entries = sum(len(proposal.entries) for proposal in generated)
    yield f"{count} proposals, {entries} entries; {seconds:.2f} s per proposal; only the corpus was searched."
    yield from format_outcomes(judged_entries)


async def _compare_readers() -> list[str]:
    """Compare the same reference list, read from the text of the PDF and from GROBID's TEI."""
    folder = DATA / "grobid"
    tei = parse_tei((folder / "paper.tei.xml").read_bytes(), "the TEI").references
    idea = await read_pdf_idea((folder / "paper.pdf").read_bytes(), "the PDF")
    text = read_references(idea).entries
    pairs = pair_by_title(text, tei)
    records = [_convert_to_paper(number, work) for number, work in enumerate(tei)]
    matches = [find_best_match(work, records) for work in text]
    return [
        f"Entries in the TEI: {len(tei)}; read from the PDF's text: {len(text)}; with the same title: {len(pairs)}.",
        f"With the same title: same year {sum(a.year == b.year for a, b in pairs)}, "
        f"same first author {sum(_get_first_author(a) == _get_first_author(b) for a, b in pairs)}, "
        f"DOI in the text {sum(bool(a.doi) for a, _ in pairs)}, in the TEI {sum(bool(b.doi) for _, b in pairs)}.",
        "Entries of the text searched for among those of the TEI: "
        f"found {sum(bool(match) for match in matches)}, of them "
        f"with differences {sum(bool(match and match.differences) for match in matches)}.",
        *(f"- {difference}" for match in matches if match for difference in match.differences),
    ]


def pair_by_title(ours: Sequence[CitedWork], theirs: Sequence[CitedWork]) -> list[tuple[CitedWork, CitedWork]]:
    """Return pairs of entries from two readers with the same title."""
    by_title = {build_title_key(work.title): work for work in theirs if work.title}
    return [(work, by_title[key]) for work in ours if (key := build_title_key(work.title)) in by_title]


def _get_first_author(work: CitedWork) -> str:
    return build_title_key(extract_family_name(work.authors[0])) if work.authors else ""


def _convert_to_paper(number: int, work: CitedWork) -> Paper:
    return Paper(
        id=PaperId(str(number)),
        title=work.title,
        abstract="",
        authors=work.authors,
        publication_date=dt.date(work.year, 12, 31) if work.year else None,
        source="grobid",
    )


async def _check_proposals(generated: Sequence[Proposal], directory: Path) -> tuple[list[JudgedEntry], float]:
    embedder = HashingEmbedder()
    if not await asyncio.to_thread(directory.is_dir):
        await build_corpus([DATA / "papers" / "papers.jsonl.gz"], directory, embedder)
    corpus, clock, judged_entries = Corpus.open(directory, embedder), SystemClock(), list[JudgedEntry]()
    start = clock.monotonic()
    for proposal in generated:
        run = Run(EvaluationId("benchmark"), None, clock, NoProgress())
        references = await _check_references(proposal, corpus, run)
        judged_entries += _judge(proposal, references)
    seconds = (clock.monotonic() - start) / len(generated)
    corpus.close()
    return judged_entries, seconds


async def _check_references(proposal: Proposal, corpus: Corpus, run: Run) -> OwnReferences:
    settings = LiteratureSettings()
    sources = create_reference_sources(corpus, {}, settings, run)
    references = await check_own_references(proposal.idea, sources, NoLlm(), run, OwnReferenceOptions(seconds=600))
    return references if isinstance(references, OwnReferences) else OwnReferences(parser="text", entries=())


def _judge(proposal: Proposal, references: OwnReferences) -> Iterator[JudgedEntry]:
    """Yield a judgement of each planted entry, from the entry at its position if that contains the title, else from any
    entry that does."""
    entries_by_title = [(build_title_key(entry.text), entry) for entry in references.entries]
    for position, planted in enumerate(proposal.entries):
        key = build_title_key(planted.work.title)
        entry = next(
            (entry for text, entry in [*entries_by_title[position : position + 1], *entries_by_title] if key in text),
            None,
        )
        outcome = "unread" if entry is None else entry.outcome if isinstance(entry.outcome, str) else "absent"
        yield JudgedEntry(planted, proposal.style, outcome)


def format_outcomes(judged_entries: Sequence[JudgedEntry]) -> Iterator[str]:
    """Yield tables of outcomes by planted kind and false alarms by style, with 95 % intervals."""
    yield ""
    yield format_row("planted", "entries", *_OUTCOMES)
    yield format_row(*["---"] * (2 + len(_OUTCOMES)))
    for kind in dict.fromkeys(entry.planted.kind for entry in judged_entries):
        outcome_counts = Counter(entry.outcome for entry in judged_entries if entry.planted.kind == kind)
        yield format_row(kind, str(outcome_counts.total()), *(str(outcome_counts[outcome]) for outcome in _OUTCOMES))
    honest_entries = [entry for entry in judged_entries if entry.planted.kind in ("real", "written otherwise")]
    yield ""
    false_alarms = _format_share(honest_entries, ("not_found", "differs"))
    yield f"False alarms (honest entries that are not found or differ): {false_alarms}."
    for kind, reporting_outcomes in (
        ("invented", ("not_found",)),
        ("wrong year", ("differs",)),
        ("wrong first author", ("differs", "not_found")),
        ("added author", ("differs", "not_found")),
        ("longer title", ("differs", "not_found")),
    ):
        planted = [entry for entry in judged_entries if entry.planted.kind == kind]
        yield f"Reported planted entries, {kind}: {_format_share(planted, reporting_outcomes)}."
    yield ""
    yield format_row("style", "honest entries", "false alarms", "unread")
    yield format_row(*["---"] * 4)
    for style in dict.fromkeys(entry.style for entry in honest_entries):
        outcome_counts = Counter(entry.outcome for entry in honest_entries if entry.style == style)
        yield format_row(
            style,
            str(outcome_counts.total()),
            str(outcome_counts["not_found"] + outcome_counts["differs"]),
            str(outcome_counts["unread"]),
        )


def _format_share(entries: Sequence[JudgedEntry], outcomes: Sequence[str]) -> str:
    hits = sum(entry.outcome in outcomes for entry in entries)
    if not entries:
        return "none planted"
    low, high = binomtest(hits, len(entries)).proportion_ci(method="wilson")
    return f"{hits} of {len(entries)} ({100 * hits / len(entries):.1f} %, {100 * low:.1f} to {100 * high:.1f})"
