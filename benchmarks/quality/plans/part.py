"""The checklist of what a plan does not state, beside one reader's labels of 60 plans.

The reader labelled all of them before the checklist was run on any; its wordings were fixed before that and had been
written with other plans of the same three collections.
"""

import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from importlib.resources import files
from typing import Literal, NamedTuple, get_args

from scipy.stats import binomtest

from assayer.models import Absent, ChecklistItem, ChecklistRow
from assayer.plan_review.checklist import checklist
from assayer.reports.plan_wording import ITEMS
from benchmarks.quality.given import Given
from benchmarks.quality.grapheval.data import DATA, read_records
from benchmarks.quality.grapheval.reporting import row

__all__ = ["LabelledItem", "agreement", "plan_labels", "plans"]

_LETTERS: Mapping[str, str] = {"S": "stated", "N": "not_stated", "X": "not_applicable"}
_ITEMS = get_args(ChecklistItem)
_Said = Literal["stated", "not_stated", "not_applicable"]


class LabelledItem(NamedTuple):
    item: ChecklistItem
    by_reader: str
    by_checklist: _Said


def plan_labels() -> dict[str, dict[str, str]]:
    """Collection, then plan: one letter an item, in the checklist's order."""
    text = (files("benchmarks.quality.plans") / "labels.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def plans(_: Given) -> Iterator[str]:
    labels, texts = plan_labels(), _texts()
    labelled: list[LabelledItem] = []
    for collection, plans_of in labels.items():
        some = [one for name, letters in plans_of.items() for one in _compared(texts[name], letters)]
        labelled += some
        yield f"{collection}: {len(plans_of)} plans, {_share(_agreed(some), len(some))} of {len(some)} items agree."
    yield ""
    yield from agreement(labelled)


def _compared(text: str, letters: str) -> list[LabelledItem]:
    rows = checklist(text)
    if isinstance(rows, Absent):
        return []
    return [_item(one, letter) for one, letter in zip(rows, letters, strict=True)]


def _item(one: ChecklistRow, letter: str) -> LabelledItem:
    return LabelledItem(one.item, _LETTERS[letter], one.outcome)


def agreement(labelled: Iterable[LabelledItem]) -> Iterator[str]:
    """By item: what the checklist calls not stated, and how often the reader found it or thought it out of place."""
    rows = list(labelled)
    yield row("item", "agree", "said not stated", "of them stated", "of them out of place", "gaps not seen")
    yield row(*["---"] * 6)
    for item in (*_ITEMS, None):
        some = [one for one in rows if item is None or one.item == item]
        counts = Counter((one.by_reader, one.by_checklist) for one in some)
        said = sum(one.by_checklist == "not_stated" for one in some)
        gaps = sum(one.by_reader == "not_stated" for one in some)
        wrong, outside = counts["stated", "not_stated"], counts["not_applicable", "not_stated"]
        yield row(
            "**all**" if item is None else ITEMS[item],
            f"{_agreed(some)} of {len(some)}",
            str(said),
            str(wrong) if item else f"{wrong} ({_share(wrong, said)})",
            str(outside) if item else f"{outside} ({_share(outside, said)})",
            f"{gaps - counts['not_stated', 'not_stated']} of {gaps}",
        )


def _agreed(rows: Iterable[LabelledItem]) -> int:
    return sum(one.by_reader == one.by_checklist for one in rows)


def _share(part: int, whole: int) -> str:
    """With the 95 % interval of Clopper and Pearson."""
    if not whole:
        return "nothing"
    low, high = binomtest(part, whole).proportion_ci()
    return f"{100 * part / whole:.0f} % [{100 * low:.0f}, {100 * high:.0f}]"


def _texts() -> dict[str, str]:
    ideas = (DATA / "scholarideas").glob("*/*.txt")
    texts = {path.stem: path.read_text(encoding="utf-8") for path in ideas if path.stem == path.parent.name}
    texts |= {
        one["id"]: one["text"] for one in read_records(DATA / "ai_researcher" / "ideas.jsonl.gz") if one.get("text")
    }
    awards = read_records(DATA / "grants" / "nsf_2026.jsonl.gz")
    return texts | {one["id"]: f"{one['title']}\n\n{one['abstract']}" for one in awards}
