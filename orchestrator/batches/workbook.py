"""Results of a batch as a workbook for people, with the same wording as on the page."""

import io
from collections.abc import Sequence

from openpyxl import Workbook
from openpyxl.cell import WriteOnlyCell
from openpyxl.utils import get_column_letter

from assayer.reports.escaping import join_lines
from assayer.reports.wording import BANDS, FLAGS, MINIMA
from orchestrator.batches.results import FlatResult, collect_keys
from orchestrator.jobs.outcome_wording import OUTCOMES_IN_WORDS

_MAX_CELL_CHARS = 32_000
"""Maximum number of characters in a cell, below Excel's own limit."""
_TITLES_BEFORE_PARTS = {
    "row": "Row",
    "reference": "File or reference",
    "title": "Proposal",
    "outcome": "State",
    "score": "Score (0 to 100)",
    "certainty": "Certainty",
    "score_absent": "Why there is no score",
    "corpus_fit": "Corpus fit",
    "flags": "Flags",
}
_TITLES_AFTER_PARTS = {
    "rank": "Rank",
    "rank_low": "Rank at best",
    "rank_high": "Rank at worst",
    "band": "Shortlist",
    "shortlist_probability": "Chance of being in (0 to 1)",
    "reviewers_score": "Reviewers' score (1 to 5)",
    "opinions": "Reviews",
    "panel_decision": "Decision",
    "awarded": "Awarded",
    "applicant": "Applicant",
    "institution": "Institution",
    "requested": "Requested",
    "decision": "Decision of the simulated board",
    "repeats": "Repeats",
    "papers_found": "Papers found",
    "papers_cited": "Papers cited",
    "quotes_unverified": "Quotes not verified",
    "below_minima": "Minima not reached",
    "cost_usd": "Cost ($)",
    "problem_detail": "What went wrong",
    "source": "Source",
    "id": "Id",
    "ranking": "Id of the ranking",
}


def render_xlsx(results: Sequence[FlatResult]) -> bytes:
    """Return the results as an Excel workbook. Text is stored as text, so that no cell is a formula, and numbers as
    numbers. The first row is frozen, and filters are on."""
    parts, own_columns = collect_keys(results), collect_keys(results, "columns")
    names = [*_TITLES_BEFORE_PARTS.values(), *map(_format_title, parts), *_TITLES_AFTER_PARTS.values(), *own_columns]
    rows = list[Sequence[object]]()
    for result in results:
        columns_before, columns_after = (
            [_format_value(result, name) for name in group] for group in (_TITLES_BEFORE_PARTS, _TITLES_AFTER_PARTS)
        )
        values = (
            *columns_before,
            *map(result["scores"].get, parts),
            *columns_after,
            *map(result["columns"].get, own_columns),
        )
        rows.append(values)
    return render_sheet("Results", names, rows)


def render_sheet(title: str, names: Sequence[str], rows: Sequence[Sequence[object]]) -> bytes:
    """Return a workbook of one sheet, as `render_xlsx` does."""
    book = Workbook(write_only=True)
    sheet = book.create_sheet(title)
    sheet.freeze_panes = "A2"
    sheet.auto_filter.ref = f"A1:{get_column_letter(len(names))}{len(rows) + 1}"

    def build_cell(value: object) -> object:
        if not isinstance(value, str):
            return value
        cell = WriteOnlyCell(sheet, value=join_lines(value)[:_MAX_CELL_CHARS])
        cell.data_type = "s"  # text, even if it begins like a formula
        return cell

    sheet.append([build_cell(name) for name in names])
    for row in rows:
        sheet.append([build_cell(value) for value in row])
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def _format_title(part: str) -> str:
    """Derive the title of a part of the reports from its name, as in the table of the call."""
    words = part.replace("_", " ")
    return words[:1].upper() + words[1:]


def _format_value(result: FlatResult, name: str) -> object:
    match name:
        case "outcome":
            return OUTCOMES_IN_WORDS.get(result["outcome"], result["outcome"] or result["state"])
        case "band":
            return None if result["band"] is None else BANDS[result["band"]]
        case "flags":
            return _join_labels(result["flags"], FLAGS)
        case "below_minima":
            return _join_labels(result["below_minima"], MINIMA)
        case _:
            return result[name]


def _join_labels(names: str | None, labels: dict[str, str]) -> str | None:
    return None if names is None else "; ".join(labels.get(name, name) for name in names.split(", "))
