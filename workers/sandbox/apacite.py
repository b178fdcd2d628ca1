"""Macros of the LaTeX style apacite, and their printed form in a reference list.

Runs in the sandboxed process."""

from collections.abc import Sequence

APACITE_ARGUMENT_COUNTS = {
    "APACrefYearMonthDay": 3, "APACrefYear": 1, "APACrefatitle": 2, "APACrefbtitle": 2, "APACrefaetitle": 2,
    "APACjournalVolNumPages": 4, "APACaddressPublisher": 2, "APACrefauthors": 1, "APACaddressPublisherEqAuth": 2,
    "APACaddressInstitution": 2, "APACrefURL": 1, "APACrefDOI": 1, "APAChowpublished": 1, "APACbVolEdTR": 2,
}  # fmt: skip
"""Macros of reference lists in the style apacite, with the number of their arguments."""


def format_apacite(name: str, arguments: Sequence[str]) -> str:
    """Return what a macro of the style apacite prints."""
    last_argument = arguments[-1] if arguments else ""
    match name:
        case "APACrefYearMonthDay" | "APACrefYear":
            return f"({', '.join(filter(None, (arguments[0], ' '.join(filter(None, arguments[1:])))))})"
        case "APACjournalVolNumPages":
            journal, volume, number, pages = (*arguments, "", "", "", "")[:4]
            issue = f"({number})" if number else ""
            return ", ".join(filter(None, (journal, f"{volume}{issue}", pages)))
        case "APACaddressPublisher" | "APACaddressInstitution":
            return ": ".join(filter(None, arguments))
        case _:
            return last_argument
