"""Notices at the top of a report, which a reader must see first."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from assayer.backends import Backends
from assayer.errors import BudgetExhausted
from assayer.models import Absent, CorpusFit, Idea, Notice, OwnReferences, Paper, PaperId, Part, Reference
from assayer.reports.reference_wording import join_source_names
from assayer.reports.wording import format_count
from assayer.run.run import Run

_MIN_CITATION_MARKS = 3
"""Minimum number of citation marks for a notice about a missing reference list."""
_MIN_NOT_FOUND = 2
"""Minimum number of references not found for a notice. A single missing reference is more often an error in our
parsing or in the sources than in the idea."""

LEADING_KINDS = ("small_review", "example")
"""Kinds of notices that come before all others."""
_EXAMPLE_VENUE = "Assayer example corpus (invented)"
"""Venue of all papers in `examples/corpus.jsonl`."""


def list_literature_notices(
    idea: Idea,
    backends: Backends,
    run: Run,
    fit: CorpusFit | Absent,
    example_papers: Mapping[PaperId, Paper],
    parts: Sequence[Part],
    references: Sequence[Reference],
    on_subject: str,
) -> Iterator[Notice]:
    """Yield the notices of a method that reads literature, in reading order."""
    if references and all(reference.venue == _EXAMPLE_VENUE for reference in references):
        text = (
            "This is an example: its papers are invented. To use your own papers and proposal, run assayer corpus "
            "build library.bib, then assayer evaluate proposal.md."
        )
        if not backends.llm.models:
            text += " For scores, add a language model: --model openai/gpt-6-luna, with the key in OPENAI_API_KEY."
        yield Notice(kind="example", text=text)
    if not backends.llm.models:
        text = (
            "Made without a language model: papers were found and ranked by text similarity, and nothing was "
            "judged, so there are no scores. Similar words are not the same as similar claims."
        )
        yield Notice(kind="no_llm", text=text)
    remote_sources = run.journal.list_remote_sources_searched(backends.literature.source)
    yield from _note_incomplete_coverage(fit, remote_sources, run.journal.near_remote_papers, on_subject)
    yield from _note_spent_budget(run)
    yield from _note_retractions(parts, references)
    yield from _note_unchecked_retractions(run)
    yield from _note_undated_versions(run)
    yield from _note_suspicious_text(idea, run)
    if example_papers:
        papers = format_count(len(example_papers), "paper")
        text = f"Left out: {papers} in the corpus that may be this idea's own publication."
        yield Notice(kind="own_paper", text=text)
    yield from _note_unread_text(idea, run)
    for part in parts:
        if backends.llm.models and isinstance(part.score, Absent):
            text = f"There is no score for {part.title.lower()}: {part.score.reason}"
            yield Notice(kind="absent_part", text=text)


def list_own_reference_notices(references: OwnReferences | Absent | None) -> Iterator[Notice]:
    """Yield a notice if several of the idea's own references were not found, or if any of them has been retracted."""
    if not isinstance(references, OwnReferences):
        return
    missing_entries = [entry for entry in references.entries if entry.outcome == "not_found"]
    retracted_entries = [entry for entry in references.entries if entry.outcome == "retracted"]
    sentences = []
    if len(missing_entries) >= _MIN_NOT_FOUND:
        source_names = join_source_names(
            dict.fromkeys(source for entry in missing_entries for source in entry.sources_answered)
        )
        sentences.append(
            f"{len(missing_entries)} of the idea's {len(references.entries)} own references were not found in "
            f"{source_names}. They "
            "may still exist: no source is complete, and an entry may have been misread."
        )
    if retracted_entries:
        numbers = join_source_names(f"number {entry.number}" for entry in retracted_entries)
        sentences.append(f"Retracted or withdrawn among the idea's own references: {numbers}.")
    if sentences:
        yield Notice(kind="own_references", text=" ".join(sentences))


def list_general_notices(idea: Idea, run: Run) -> Iterator[Notice]:
    """Yield the notices of a method that reads no literature."""
    yield from _note_spent_budget(run)
    yield from _note_suspicious_text(idea, run)
    yield from _note_unread_text(idea, run)


def _note_unread_text(idea: Idea, run: Run) -> Iterator[Notice]:
    """Yield a notice if no reference list was recognised, and a notice if the end of a long idea was not read."""
    marks = idea.reading.citation_marks if idea.reading else 0
    if marks >= _MIN_CITATION_MARKS and not idea.references:
        text = (
            f"The text has {marks} citation marks, but no reference list was detected, so the works it cites were "
            "not checked. Put the list under a heading such as “References”, one entry per paragraph."
        )
        yield Notice(kind="own_references", text=text)
    if run.unread_characters:
        text = (
            f"The idea is too long to be judged as a whole: its last {run.unread_characters:,} characters were not "
            "read."
        )
        yield Notice(kind="long_idea", text=text)


def _note_incomplete_coverage(
    fit: CorpusFit | Absent, remote_sources: Sequence[str], near_papers: Mapping[PaperId, str], on_subject: str
) -> Iterator[Notice]:
    """Yield the notice about incomplete corpus coverage. Searching remote sources is no substitute for a complete
    corpus: the searches are rate-limited, cover only titles and abstracts, and find only what the queries match."""
    if isinstance(fit, Absent) or fit.level == "good":
        return
    extent = "covers the field of this idea only in part" if fit.level == "partial" else "does not cover the field"
    if remote_sources:
        text = (
            f"The local corpus {extent} (fit {fit.value:.2f}). Searches in {', '.join(remote_sources)} found "
            f"{format_count(len(near_papers), 'paper')} close to the idea. Work that none of them returned may still "
            "exist: nothing here counts as new just because these sources do not mention it."
        )
    else:
        text = (
            f"The searched corpus {extent} (fit {fit.value:.2f}). Work that it does not contain may still exist: "
            "nothing here counts as new just because the corpus does not mention it."
        )
    yield Notice(kind="corpus_fit", text=text + on_subject)


def _note_retractions(parts: Sequence[Part], references: Sequence[Reference]) -> Iterator[Notice]:
    retracted_by_label = {reference.label: reference for reference in references if reference.retraction is not None}
    points = [point for part in parts for assessment in part.assessments for point in assessment.points]
    marked_citations = [
        {citation.label for citation in point.citations} & retracted_by_label.keys() for point in points
    ]
    marked_labels = sorted(set().union(*marked_citations), key=lambda label: int(label[1:]))
    if not marked_labels:
        return
    text = (
        f"{format_count(sum(map(bool, marked_citations)), 'point cites', 'points cite')} papers that were retracted, "
        "withdrawn or "
        f"questioned: {', '.join(f'[{label}]' for label in marked_labels)}. Each paper is marked where it is cited; "
        "the references link to the retraction notices."
    )
    yield Notice(kind="retraction", text=text)


def _note_unchecked_retractions(run: Run) -> Iterator[Notice]:
    unchecked_counts = sorted(run.journal.unchecked_for_retraction.items())
    if not unchecked_counts:
        return
    source_text = "; ".join(
        f"{source} ({format_count(papers, 'cited paper', 'cited papers')})" for source, papers in unchecked_counts
    )
    text = (
        f"Some sources could not be checked for retractions of the cited papers: {source_text}. A paper that is not "
        "marked "
        "may still have been retracted."
    )
    yield Notice(kind="unchecked_retractions", text=text)


def _note_undated_versions(run: Run) -> Iterator[Notice]:
    """Yield the notice about texts that may have changed between the cutoff and the day on which they were read."""
    journal = run.journal
    kinds = Counter(journal.undated_texts.values())
    revised_count = len(journal.revised_later & journal.read)
    parts = [
        *([f"the full texts of {format_count(kinds['full text'], 'paper')}"] if kinds["full text"] else []),
        *([f"{format_count(kinds['web page'], 'web page', 'web pages')}"] if kinds["web page"] else []),
        *(
            [f"the abstracts of {format_count(revised_count, 'preprint')} with a later version"]
            if revised_count
            else []
        ),
    ]
    if run.cutoff is None or not parts:
        return
    text = (
        f"Some of the texts may have been changed after the cutoff, {run.cutoff}, because no source provides their "
        f"versions from that day: {'; '.join(parts)}. All were first published before the cutoff."
    )
    yield Notice(kind="undated_version", text=text)


def _note_spent_budget(run: Run) -> Iterator[Notice]:
    budget_error = next((error for error in run.journal.errors if isinstance(error, BudgetExhausted)), None)
    if budget_error is None:
        return
    yield Notice(kind="budget", text=f"{budget_error.message} The report contains the answers received before that.")


def _note_suspicious_text(idea: Idea, run: Run) -> Iterator[Notice]:
    in_idea = [flag for flag in idea.flags if flag.kind != "label_lookalike"]
    suspects = sorted(run.journal.suspicious_papers.values())
    if not in_idea and not suspects:
        return
    places = [f"{len(in_idea)} in the idea, shown with its text"] if in_idea else []
    if suspects:
        named_titles = ", ".join(f"“{title}”" for title in suspects[:3])
        places.append(f"in {len(suspects)} of the papers read, including {named_titles}")
    text = (
        f"Suspicious text was found ({'; '.join(places)}): hidden characters or instructions to reviewers. It was "
        "treated as data and not followed."
    )
    yield Notice(kind="injection", text=text)
