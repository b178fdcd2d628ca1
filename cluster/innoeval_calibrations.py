"""Calibrations of InnoEval's decisions. They are fitted on reports about labelled ideas and stored by name in the data
directory."""

import datetime as dt
import hashlib
import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from assayer.errors import InputError
from assayer.ideas.records import decode_json, idea_of_record
from assayer.methods.innoeval.board.decision import (
    CalibrationConditions,
    DecisionCalibration,
    ScoredIdea,
    fit_decision,
    list_differing_conditions,
)
from assayer.methods.innoeval.options import METHOD, InnoEvalOptions
from assayer.models import BoardRecord, IdeaId, Score
from cluster.settings import Settings
from cluster.whole_files import read_whole_text

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")
_MAX_SOURCE_LENGTH = 600


class LabelledOutcomes(NamedTuple):
    file: str
    sha256: str
    outcomes: Mapping[IdeaId, str]


def read_labels(path: Path, field: str) -> LabelledOutcomes:
    """Read outcomes from the JSON Lines file of evaluated ideas. Raises InputError for the first line that is unusable
    or contradicts an earlier outcome of the same idea."""
    text = read_whole_text(path)
    outcomes: dict[IdeaId, str] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        place = f"{path.name}:{number}"
        record = decode_json(line, place)
        idea = idea_of_record(record, place).id
        outcome = record.get(field) if isinstance(record, dict) else None
        if not isinstance(outcome, str | int) or isinstance(outcome, bool) or not str(outcome).strip():
            raise InputError(f"{place} has no outcome in {field!r}.", "Name the field with --label-field.")
        if outcomes.setdefault(idea, str(outcome).strip()) != str(outcome).strip():
            raise InputError(f"{place} contradicts an earlier line, which gives a different outcome for the same idea.")
    if not outcomes:
        raise InputError(
            f"{path} contains no ideas.", "Pass a JSON Lines file with a text and an outcome on every line."
        )
    return LabelledOutcomes(path.name, hashlib.sha256(text.encode()).hexdigest(), outcomes)


def fit_calibration(
    name: str, made_on: dt.date, labels: LabelledOutcomes, source: str, reports: Path, classes: Sequence[str], seed: int
) -> DecisionCalibration:
    """Return decision thresholds fitted on the final scores in a folder of reports; `source` describes who made the
    decisions.

    Raises InputError if the calibration's `name` is invalid, the reports were made with different settings, or the data
    cannot be fitted."""
    if not _NAME.fullmatch(name):
        raise InputError(
            f"{name!r} is not a valid calibration name.",
            "Use a-z, 0-9, - and _, starting with a letter or digit.",
        )
    origin = source.strip().rstrip(".")
    if not 0 < len(origin) <= _MAX_SOURCE_LENGTH:
        raise InputError(
            f"The label source is {len(origin):,} characters long; it must be 1 to {_MAX_SOURCE_LENGTH}.",
            'Describe who made these decisions, for example --source "Panel A, 2023".',
        )
    boards = _collect_boards(reports, labels)
    scored = [
        ScoredIdea(board.score.value, labels.outcomes[idea])
        for idea, board in boards.items()
        if isinstance(board.score, Score)
    ]
    provenance = f"{len(boards)} of the {len(labels.outcomes)} labelled ideas of {labels.file}: {origin}."
    unscored = len(boards) - len(scored)
    return fit_decision(
        name, made_on, provenance, _check_conditions(boards, reports), classes, scored, unscored, seed, labels.sha256
    )


def save_calibration(home: Path, calibration: DecisionCalibration) -> Path:
    """Save a calibration under its name. Raises InputError if a different calibration already has that name, because
    reports refer to calibrations by name."""
    path = home / "calibrations" / f"{calibration.name}.json"
    text = calibration.model_dump_json(indent=2) + "\n"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _write_new(path, text)
    except FileExistsError:
        if path.read_text("utf-8") != text:
            raise InputError(
                f"A different calibration named {calibration.name!r} already exists: {path}.",
                "Choose another name; reports refer to calibrations by name.",
            ) from None
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}.") from None
    return path


def _write_new(path: Path, text: str) -> None:
    """Write a new file. If this fails, delete the partial file, so that the name can be used again."""
    with path.open("x", encoding="utf-8") as file:
        try:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        except BaseException:
            path.unlink()
            raise


def find_calibration(home: Path, requested: Path) -> Path:
    """Resolve a calibration's name to its file in the data directory; the path of an existing file is returned
    unchanged. Raises InputError if there is no such calibration."""
    name = str(requested)
    if requested.is_file() or not _NAME.fullmatch(name):
        return requested
    path = home / "calibrations" / f"{name}.json"
    if not path.is_file():
        available = ", ".join(sorted(file.stem for file in path.parent.glob("*.json")))
        raise InputError(
            f"There is no calibration {name!r} in {path.parent}.",
            f"Calibrations: {available}."
            if available
            else "Fit one on labelled ideas with `assayer calibrate innoeval`.",
        )
    return path


def load_innoeval_options(settings: Settings) -> InnoEvalOptions:
    """Return the options with the path of the calibration file filled in. Raises InputError if the calibration is
    unknown."""
    options = settings.innoeval
    if options.board.calibration is None:
        return options
    path = find_calibration(settings.home, options.board.calibration)
    return options.model_copy(update={"board": options.board.model_copy(update={"calibration": path})})


def _collect_boards(reports: Path, labels: LabelledOutcomes) -> dict[IdeaId, BoardRecord]:
    """Return the labelled ideas' board records. Raises InputError if there are none, or several for one idea."""
    from cluster.ranking_inputs import read_reports

    boards: dict[IdeaId, BoardRecord] = {}
    other_reports = Counter[str]()
    for report in read_reports(reports):
        if report.method != METHOD or report.board is None:
            other_reports[report.method] += 1
        elif report.idea.id not in labels.outcomes:
            other_reports["an idea without a label"] += 1
        elif report.idea.id in boards:
            raise InputError(f"{reports} contains several reports about {report.idea.source}.", "Keep one of them.")
        else:
            boards[report.idea.id] = report.board
    if not boards:
        other_counts = "; ".join(f"{count} of {setting}" for setting, count in other_reports.items()) or "none"
        raise InputError(
            f"{reports} contains no {METHOD} report about an idea in {labels.file}; other reports: {other_counts}.",
            f"Create them with: assayer evaluate {labels.file} --method {METHOD} --format json --out {reports}",
        )
    return boards


def _check_conditions(boards: Mapping[IdeaId, BoardRecord], reports: Path) -> CalibrationConditions:
    first_conditions, *other_conditions = dict.fromkeys(map(CalibrationConditions.from_board, boards.values()))
    for conditions in other_conditions:
        raise InputError(
            f"The reports in {reports} were made with different "
            f"{' and '.join(list_differing_conditions(first_conditions, conditions))}, "
            "so no thresholds apply to all of them.",
            "Evaluate all labelled ideas with the same settings.",
        )
    return first_conditions
