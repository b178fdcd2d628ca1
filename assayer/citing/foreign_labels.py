"""Find foreign labels, which an answer must not contain: labels that were never shown, and forms that only resemble a
label."""

import re
from collections.abc import Callable, Collection, Iterator

from assayer.citing.foreign_citations import ForeignCitation
from assayer.models.assessment import LABEL
from assayer.text.lookalikes import fold_lookalikes

UNKNOWN_LABEL = "no label given here"
WRONG_FORM = "not how a label is written, [P3]"

_LABEL_LIKE = re.compile(
    r"(?<![\w-])(?:[Pp]|[Pp]apers?|[Ss]ources?|[Ff]inds?)[\s\u0300-\u036f#_.:-]{0,2}(\d{1,5})(?:\s?-\s?P?\d{1,4})?(?![.,]?\w)"
)
_GROUP = re.compile(r"\[[^\[\]]{1,240}\]|\([^()]{1,240}\)|\{[^{}]{1,240}\}|<[^<>]{1,60}>")
_PAGE_AFTER = re.compile(r"(?<=\d)[,;]?\s?pp?\W{0,2}\d{1,4}(?:\s?[-,]\s?\d{1,4})?")
_PAGE = re.compile(r"\bp\W{0,2}\d")
_BARE_LABEL = re.compile(r"(?<![\w)-])(?:P|[Pp]aper P?)(\d{1,4})(?![\w'′-])")
_WORD = re.compile(r"[^\W\d_]{2,}")
_CITATION_WORDS = frozenset(
    """
    and or to see also cf in as per by from with both the papers paper page pages pp eg ie at of vs sec section
    table tables tab figure figures fig figs appendix app eq equation theorem lemma chapter ch line lines footnote
    """.split()  # noqa: SIM905 - words are read as text, not as a list
)
"""Words that may stand next to labels in a citation, as in `[see P3, pp. 4 and 5]`. Any other word means that the
bracket is not a citation: `[P450 enzymes]`."""
_MAX_BARE_LABEL = 49
"""Largest number that counts as a label in running text. P12 can only be a label, whereas P53, P95 and P300 are
proteins, percentiles and brain waves."""
_SINGLE_LABEL = re.compile(r"P\d+")


def blank_labels(text: str) -> str:
    """Replace the prompt's labels with spaces, keeping the length of the text."""
    return LABEL.sub(lambda match: " " * len(match[0]), text)


def find_foreign_labels(
    text: str, labels: Collection[str], get_shown_text: Callable[[], str] = lambda: ""
) -> Iterator[ForeignCitation]:
    """Yield foreign labels, in no particular order. Their kind is `WRONG_FORM` if they refer to a paper that was shown.
    `get_shown_text` returns all text shown, so that P300 in an idea about brain waves does not count as a label."""
    for match in LABEL.finditer(text):
        if not set(_SINGLE_LABEL.findall(match[1])) <= set(labels):
            yield ForeignCitation(*match.span(), UNKNOWN_LABEL, True)
    unlabelled_text = fold_lookalikes(blank_labels(text))
    outside_letters = list(unlabelled_text)
    for group in _GROUP.finditer(unlabelled_text):
        kind = _classify_fault(group[0], labels, get_shown_text)
        if kind is not None:
            outside_letters[group.start() : group.end()] = " " * len(group[0])
            yield ForeignCitation(*group.span(), kind, True)
    # A referee sees no papers, so P1 in running text belongs to the plan's subject: a peak, a protease site.
    for match in _BARE_LABEL.finditer("".join(outside_letters)) if labels else ():
        label = f"P{int(match[1])}"
        if label not in labels and match[0][0] == "P" and match[0][1:].isdigit() and int(match[1]) > _MAX_BARE_LABEL:
            continue
        if not _occurs_bare(label, get_shown_text()) and not _occurs_bare(match[0], get_shown_text()):
            yield ForeignCitation(*match.span(), WRONG_FORM if label in labels else UNKNOWN_LABEL, False)


def _classify_fault(group: str, labels: Collection[str], get_shown_text: Callable[[], str]) -> str | None:
    """Return what is wrong with the labels in a bracketed group, or None if it contains no label."""
    meant_labels = [f"P{int(item)}" for item in _LABEL_LIKE.findall(_PAGE_AFTER.sub(" ", group[1:-1]))]
    is_square = group[0] == "["
    if not meant_labels or (not is_square and _PAGE.search(group)):
        return None
    other_words = [
        word for word in _WORD.findall(_LABEL_LIKE.sub(" ", group)) if word.casefold() not in _CITATION_WORDS
    ]
    if any(item in labels for item in meant_labels):
        kind = WRONG_FORM if all(item in labels for item in meant_labels) else UNKNOWN_LABEL
        return kind if is_square or not other_words else None
    if other_words:
        begins_with_label = is_square and _LABEL_LIKE.match(group, 1) is not None
        is_name = all(int(item[1:]) > _MAX_BARE_LABEL for item in meant_labels) or group in fold_lookalikes(
            get_shown_text()
        )
        return UNKNOWN_LABEL if begins_with_label and not is_name else None
    if not is_square and any(_occurs_bare(item, get_shown_text()) for item in meant_labels):
        return None
    return UNKNOWN_LABEL


def _occurs_bare(label: str, shown: str) -> bool:
    """Return whether the label's characters occur in the shown text outside brackets, where labels never stand."""
    return re.search(rf"(?<![\w\[(-]){label}(?![\w\])-])", shown) is not None
