"""What a reader must know before reading on: the notices at the top of a report."""

from collections import Counter
from collections.abc import Mapping, Sequence

from assayer.backends import Backends
from assayer.errors import BudgetExhausted
from assayer.models import Absent, CorpusFit, Idea, Notice, OwnReferences, Paper, PaperId, Part, Reference, Score
from assayer.reports.reference_wording import listing
from assayer.run.run import Run

__all__ = ["general_notices", "literature_notices", "own_reference_notices"]

_SEVERAL = 2
"""References that were not found. One alone is more often our reading or the sources' gap than the idea's fault."""


def literature_notices(
    idea: Idea,
    backends: Backends,
    run: Run,
    fit: CorpusFit | Absent,
    own: Mapping[PaperId, Paper],
    parts: Sequence[Part],
    references: Sequence[Reference],
) -> tuple[Notice, ...]:
    """Of a method that reads literature, in the order in which a reader should meet them."""
    found = [
        _no_llm(backends, parts),
        _corpus_fit(
            fit, run.journal.remote_sources_searched(backends.literature.source), run.journal.near_remote_papers
        ),
        _budget(run),
        _retraction(parts, references),
        _unchecked_retractions(run),
        _undated_version(run),
        _injection(idea, run),
        _own_paper(own),
        _long_idea(run),
    ]
    absent = [
        Notice(kind="absent_part", text=f"There is no score for {part.title.lower()}: {part.score.reason}")
        for part in parts
        if isinstance(part.score, Absent)
    ]
    return tuple(notice for notice in [*found, *absent] if notice is not None)


def own_reference_notices(own: OwnReferences | Absent | None) -> tuple[Notice, ...]:
    """Where several of the idea's own references were not found, or any of them was retracted."""
    if not isinstance(own, OwnReferences):
        return ()
    missing = [entry for entry in own.entries if entry.outcome == "not_found"]
    retracted = [entry for entry in own.entries if entry.outcome == "retracted"]
    sentences = []
    if len(missing) >= _SEVERAL:
        asked = listing(dict.fromkeys(source for entry in missing for source in entry.asked))
        sentences.append(
            f"{len(missing)} of the {len(own.entries)} references that the idea gives were not found in {asked}. They "
            "may exist all the same: no source has everything, and an entry may have been misread."
        )
    if retracted:
        numbers = listing(f"number {entry.number}" for entry in retracted)
        sentences.append(
            f"Of the references that the idea gives, {len(retracted)} no longer stand as published: {numbers}."
        )
    return (Notice(kind="own_references", text=" ".join(sentences)),) if sentences else ()


def general_notices(idea: Idea, run: Run) -> tuple[Notice, ...]:
    """Those that concern a method without literature."""
    found = (_budget(run), _injection(idea, run), _long_idea(run))
    return tuple(notice for notice in found if notice is not None)


def _no_llm(backends: Backends, parts: Sequence[Part]) -> Notice | None:
    if backends.llm.models:
        return None
    judged = (one for part in parts for one in part.assessments)
    if parts and not any(one.points or one.readings or isinstance(one.score, Score) for one in judged):
        text = "Made without a language model: papers were searched, joined and ranked, and nothing was judged."
        return Notice(kind="no_llm", text=text)
    text = (
        "Made without a language model: methods, dimensions and points are extracts of the idea and of papers, "
        "matched by sentence embeddings. Similar words are not the same as similar claims; read it as a guided "
        "search of the literature, and its scores as measures of overlap, not as verdicts."
    )
    return Notice(kind="no_llm", text=text)


def _corpus_fit(fit: CorpusFit | Absent, beyond: Sequence[str], near: Mapping[PaperId, str]) -> Notice | None:
    """A search in remote sources adds papers, and takes nothing from what the corpus lacks: it is rationed, sees
    titles and abstracts, and returns what it was asked for."""
    if isinstance(fit, Absent) or fit.level == "good":
        return None
    extent = "covers the field of this idea only in part" if fit.level == "partial" else "does not cover the field"
    if beyond:
        text = (
            f"The local corpus {extent} (fit {fit.value:.2f}). Searches in {', '.join(beyond)} found {len(near)} "
            "paper(s) close to what was asked. Work that none of them returned may still exist: nothing here counts as "
            "new just because these sources do not mention it."
        )
    else:
        text = (
            f"The searched corpus {extent} (fit {fit.value:.2f}). Work that it does not contain may still exist: "
            "nothing here counts as new just because the corpus does not mention it."
        )
    return Notice(kind="corpus_fit", text=text)


def _retraction(parts: Sequence[Part], references: Sequence[Reference]) -> Notice | None:
    marked = {one.label: one for one in references if one.retraction is not None}
    points = [point for part in parts for assessment in part.assessments for point in assessment.points]
    carried = [{citation.label for citation in point.citations} & marked.keys() for point in points]
    carriers = sorted(set().union(*carried), key=lambda label: int(label[1:]))
    if not carriers:
        return None
    text = (
        f"{sum(map(bool, carried))} point(s) rely on papers that were retracted, withdrawn or questioned: "
        f"{', '.join(f'[{label}]' for label in carriers)}. Each is marked where it is cited; the references link "
        "to the notices."
    )
    return Notice(kind="retraction", text=text)


def _unchecked_retractions(run: Run) -> Notice | None:
    unchecked = sorted(run.journal.unchecked_for_retraction.items())
    if not unchecked:
        return None
    named = "; ".join(f"{source} ({papers} cited paper(s))" for source, papers in unchecked)
    text = (
        f"Not every source could be asked whether the cited papers were retracted: {named}. A paper without a mark may "
        "have been retracted all the same."
    )
    return Notice(kind="unchecked_retractions", text=text)


def _undated_version(run: Run) -> Notice | None:
    """Of what was read under a cutoff without anybody knowing its state on that day."""
    journal = run.journal
    kinds = Counter(journal.undated_texts.values())
    revised = len(journal.revised_later & journal.read)
    parts = [
        *([f"the full texts of {kinds['full text']} paper(s)"] if kinds["full text"] else []),
        *([f"{kinds['web page']} web page(s)"] if kinds["web page"] else []),
        *([f"the abstracts of {revised} preprint(s) that have a version of after it"] if revised else []),
    ]
    if run.cutoff is None or not parts:
        return None
    text = (
        f"Some of what was read may have been changed after the cutoff of {run.cutoff}, since no source tells how it "
        f"read on that day: {'; '.join(parts)}. Each was published before the cutoff."
    )
    return Notice(kind="undated_version", text=text)


def _budget(run: Run) -> Notice | None:
    spent = next((error for error in run.journal.errors if isinstance(error, BudgetExhausted)), None)
    if spent is None:
        return None
    return Notice(kind="budget", text=f"{spent.message} The report contains what had been answered before that.")


def _injection(idea: Idea, run: Run) -> Notice | None:
    in_idea = [flag for flag in idea.flags if flag.kind != "label_lookalike"]
    suspects = sorted(run.journal.suspicious_papers.values())
    if not in_idea and not suspects:
        return None
    places = [f"{len(in_idea)} in the idea, shown with its text"] if in_idea else []
    if suspects:
        named = ", ".join(f"“{title}”" for title in suspects[:3])
        places.append(f"in {len(suspects)} of the papers read, among them {named}")
    text = (
        f"Suspicious text was found ({'; '.join(places)}): hidden characters or instructions to reviewers. It was "
        "treated as data and not followed."
    )
    return Notice(kind="injection", text=text)


def _long_idea(run: Run) -> Notice | None:
    if not run.unread_characters:
        return None
    text = f"The idea is too long to be judged as a whole: its last {run.unread_characters:,} characters were not read."
    return Notice(kind="long_idea", text=text)


def _own_paper(own: Mapping[PaperId, Paper]) -> Notice | None:
    if not own:
        return None
    return Notice(
        kind="own_paper",
        text=f"{len(own)} paper(s) in the corpus look like this idea's own publication and were left out.",
    )
