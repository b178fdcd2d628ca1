"""ScholarIdeas and the search, from asking to the lines that are printed."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from assayer.models import Idea, Report, Window
from assayer.text.sentences import sentences
from benchmarks.quality import runs
from benchmarks.quality.check_reports import check_files
from benchmarks.quality.given import Given
from benchmarks.quality.grapheval.data import DATA, inno_eval
from benchmarks.quality.judged_sets.coverage import covered_rubrics
from benchmarks.quality.kept import reasons
from benchmarks.quality.papers import EARLIEST, cutoffs, idea_of
from benchmarks.quality.report_text import judgement_text
from benchmarks.quality.rubrics import Rubric, read_rubrics, said_in
from benchmarks.quality.scholarideas import coverage_report, proxy, validity
from benchmarks.quality.search import Found, nearest, search_report
from benchmarks.throughput.ideas import scholar_ideas
from index import Corpus, read_manifest
from index.search.version_reader import VersionReader
from index.segments.segment import Segment
from index.versions.version_store import VersionStore

__all__ = ["read_report", "scholarideas", "search"]

_FOUND = 10
"""Papers that the baselines of a search return."""


def scholarideas(given: Given) -> Iterator[str]:
    method = given.options.method
    ideas = [one for one in scholar_ideas(DATA) if one.source.startswith(given.options.only)][: given.asked.first]
    outcomes, folder = asyncio.run(runs.reports(given.asked, given.settings, method, ideas))
    yield from given.warning()
    failures = [one for one in outcomes if one.failure]
    yield f"{len(outcomes)} ideas by {method}, {len(failures)} without a report."
    yield from reasons(failures)
    names = {one.source for one in ideas}
    files = [path for path in sorted(folder.glob("*.json")) if path.stem in names]
    yield from validity(check_files(files, DATA / "papers" / "papers.jsonl.gz"))
    rubrics = [one for one in read_rubrics(DATA / "scholarideas") if one.idea in names]
    found = {path.stem: read_report(path) for path in files}
    if given.asked.judge is not None:
        yield from _judged(given, found, rubrics, folder.name)
    yield "\nProxy of coverage: cosine of each rubric with the nearest sentence. What another idea's report and the"
    yield "idea itself get shows how much of it is only the same subject.\n"
    said = {name: said_in(report) for name, report in found.items()}
    texts = {idea.source: sentences(idea.text, min_words=4) for idea in ideas}
    yield from coverage_report(rubrics, proxy(rubrics, said, texts, given.vectorise))


def _judged(given: Given, found: Mapping[str, Report], rubrics: Sequence[Rubric], made_by: str) -> Iterator[str]:
    reviews = {name: judgement_text(report) for name, report in found.items()}
    outcomes = asyncio.run(runs.coverage(given.asked, given.settings, reviews, rubrics, made_by))
    scores = {(one.item, number): score for one in outcomes for number, score in one.scores.items()}
    values = np.array([scores.get((one.idea, one.number), np.nan) for one in rubrics], np.float64)
    said = np.nan_to_num(covered_rubrics(rubrics, scores))
    unjudged = int(np.isnan(values).sum())
    yield f"\nCoverage. {unjudged} rubric(s) have no judgement: they are in no mean score, and count as not said.\n"
    yield from coverage_report(rubrics, {"1 to 5, of those judged": values, "said (4 or 5), of all": said})


def search(given: Given) -> Iterator[str]:
    days = cutoffs()
    ideas = [one for one in scholar_ideas(DATA) if one.source.startswith("ai_")]
    ideas += [idea_of(one, days.get(one.id, EARLIEST)) for one in inno_eval().points]
    ideas = ideas[: given.asked.first]
    folders = given.options.reports or sorted((given.asked.out / "reports").glob("*"))
    reports = [read_report(path) for folder in folders for path in sorted(folder.glob("*.json"))]
    with closing(Corpus.open(given.settings.corpus_path, given.embedder)) as corpus:
        versions = VersionStore(given.settings.corpus_path)
        (segment,) = VersionReader.open(versions, read_manifest(versions.version_path(corpus.version))).segments
        meanings, found = asyncio.run(_searched(corpus, segment, ideas))
        found += _simpler(segment, ideas, meanings, given.asked.seeds[0])
        found += _cited(segment, ideas, reports)
        yield from search_report(segment, found, meanings, given.asked.seeds[0])


async def _searched(
    corpus: Corpus, segment: Segment, ideas: Sequence[Idea]
) -> tuple[dict[str, NDArray[np.float32]], list[Found]]:
    """What each idea means, and what the program's own search returns for its title."""
    meanings = await corpus.embed_queries([idea.text for idea in ideas])
    found = []
    for idea in ideas:
        (hits,) = await corpus.search([idea.title], _FOUND, Window.until(idea.cutoff))
        rows = segment.store.rows([hit.paper.id for hit in hits]).values()
        found.append(Found(f"{_FOUND} by the program's search for the title", idea, tuple(rows)))
    return {idea.source: meaning for idea, meaning in zip(ideas, meanings, strict=True)}, found


def _simpler(
    segment: Segment, ideas: Sequence[Idea], meanings: Mapping[str, NDArray[np.float32]], seed: int
) -> list[Found]:
    vectors, generator = np.asarray(segment.papers.vectors, np.float32), np.random.default_rng(seed)
    found = []
    for idea in ideas:
        rows = segment.store.count_until(idea.cutoff)
        near = nearest(vectors, meanings[idea.source], rows, _FOUND)
        found.append(Found(f"{_FOUND} nearest by embedding", idea, near))
        drawn = generator.choice(rows, _FOUND, replace=False).tolist()
        found.append(Found(f"{_FOUND} drawn by lot", idea, tuple(drawn)))
    return found


def _cited(segment: Segment, ideas: Sequence[Idea], reports: Sequence[Report]) -> list[Found]:
    known = {idea.source: idea for idea in ideas}
    return [
        Found(
            f"references of {report.method}, {', '.join(report.provenance.models) or 'no model'}",
            known[report.idea.source],
            tuple(segment.store.rows([one.id for one in report.references]).values()),
        )
        for report in reports
        if report.idea.source in known
    ]


def read_report(path: Path) -> Report:
    return Report.model_validate_json(path.read_text("utf-8"))
