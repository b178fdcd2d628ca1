"""What a ranking can start from: point scores in reports of `assayer evaluate`, comparisons of an earlier ranking."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from assayer.errors import InputError
from assayer.models import Absent, Idea, IdeaId, Report
from assayer.models.ranking import Comparison, NamedComparison
from assayer.ranking.comparison import sanitised_comparison
from assayer.ranking.known_comparisons import Judging, KnownComparisons, of_these_words, other_words
from assayer.ranking.report_evidence import evidence_of
from assayer.reports.scores import score_of
from assayer.text.sanitise import sanitise

__all__ = [
    "KnownFile",
    "ReportEvidence",
    "ReportScores",
    "comparisons_between",
    "read_comparisons",
    "read_evidence",
    "read_reports",
    "read_scores",
]


class KnownFile(NamedTuple):
    """The comparisons of an earlier ranking."""

    comparisons: list[Comparison]
    names: dict[IdeaId, str]
    """What the senders of their ideas call them, where the file says."""


class ReportScores(NamedTuple):
    by_idea: dict[IdeaId, float]
    """0 to 1; the mean where an idea has several reports."""
    absent: Counter[str]
    """Why reports have no score to start from, and how many each."""


def read_scores(folder: Path) -> ReportScores:
    """Of every idea with a report that scores it.

    Raises InputError for a folder without reports, for reports that cannot be read, and for several methods at once.
    """
    reports = list(read_reports(folder))
    methods = sorted({report.method for report in reports})
    if not methods:
        raise InputError(f"{folder} holds no report.", "Give a folder that `assayer evaluate --format json` wrote.")
    if len(methods) > 1:
        raise InputError(
            f"{folder} holds reports of {' and '.join(methods)}, whose scores cannot be compared.",
            "Give the reports of one method.",
        )
    found: dict[IdeaId, list[float]] = defaultdict(list)
    absent: Counter[str] = Counter()
    for report in reports:
        score = score_of(report)
        if isinstance(score, Absent):
            absent[score.reason] += 1
        else:
            found[report.idea.id].append(score)
    return ReportScores({idea: sum(scores) / len(scores) for idea, scores in found.items()}, absent)


class ReportEvidence(NamedTuple):
    by_idea: dict[IdeaId, str]
    blind: dict[IdeaId, bool]
    """Whether the report's idea was masked when it was evaluated."""


def read_evidence(folder: Path, chars: int) -> ReportEvidence:
    """What a judge is shown of each report, at most `chars` of one; of several of one idea the first by file name.
    Raises InputError as `read_reports`, and for a folder without any."""
    by_idea: dict[IdeaId, str] = {}
    blind: dict[IdeaId, bool] = {}
    for report in read_reports(folder):
        if report.idea.id not in by_idea:
            by_idea[report.idea.id] = evidence_of(report, chars)
            blind[report.idea.id] = report.idea.blinding is not None
    if not by_idea:
        raise InputError(f"{folder} holds no report.", "Give a folder that `assayer evaluate --format json` wrote.")
    return ReportEvidence(by_idea, blind)


def read_reports(folder: Path) -> Iterator[Report]:
    """One after another, by file name. Raises InputError for what is no folder and for reports that cannot be read."""
    return (report for path in _files(folder) if (report := _report(path)) is not None)


def _files(folder: Path) -> list[Path]:
    if not folder.is_dir():
        raise InputError(f"{folder} is no folder.", "Give the folder that `assayer evaluate --format json` wrote.")
    return sorted(folder.glob("*.json"))


def _report(path: Path) -> Report | None:
    """None for JSON that is no report, such as a ranking in the same folder."""
    try:
        content = json.loads(path.read_text("utf-8"))
        if not isinstance(content, dict) or "evaluation_id" not in content:
            return None
        return Report.model_validate(content)
    except (OSError, ValueError, ValidationError):
        raise InputError(f"{path} cannot be read as a report.", "Evaluate its idea again, or take it away.") from None


def read_comparisons(path: Path) -> KnownFile:
    """Raises InputError naming the first line that is none; its texts are sanitised like all text from outside."""
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {getattr(error, 'strerror', None) or 'it is no text'}.") from None
    found, names = list[Comparison](), dict[IdeaId, str]()
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            named = _comparison(line, f"{path}:{number}")
            found.append(sanitised_comparison(named.without_names()))
            for idea, name in ((named.first, named.first_reference), (named.second, named.second_reference)):
                if clean := " ".join(sanitise(name)[0].split()):
                    names[idea] = clean
    return KnownFile(found, names)


def comparisons_between(
    ideas: Sequence[Idea], known: Sequence[Comparison], judging: Judging, path: Path
) -> KnownComparisons:
    """Those of two of these ideas, judged as they are to be judged now. Raises InputError where none can be used: it is
    then not the file that was meant."""
    found = of_these_words(known, {idea.id for idea in ideas}, judging)
    if found.refused and not found.usable:
        raise InputError(
            f"{path}: {other_words(found.refused, judging)}",
            "Leave out --known, or judge as those were judged: --blind or --no-blind, with or without --evidence, by "
            "the same model and respects.",
        )
    if not found.usable:
        raise InputError(
            f"None of the {len(known)} comparisons in {path} is between two of these {len(ideas)} ideas.",
            "An idea whose words have changed is another idea; give the file of a ranking of these ones.",
        )
    return found


def _comparison(line: str, place: str) -> NamedComparison:
    try:
        return NamedComparison.model_validate_json(line)
    except ValidationError:
        raise InputError(
            f"{place} is not a comparison.", "Give the comparisons.jsonl that an earlier `assayer rank` wrote."
        ) from None
