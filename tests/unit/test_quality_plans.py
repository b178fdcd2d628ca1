"""The checklist beside a reader's labels: what counts as a wrong accusation, and every plan labelled in full."""

from typing import get_args

from assayer.models import ChecklistItem
from benchmarks.quality.plans.part import LabelledItem, agreement, plan_labels


def test_sixty_plans_are_labelled_in_every_item() -> None:
    letters = [one for plans in plan_labels().values() for one in plans.values()]
    assert len(letters) == 60
    assert all(len(one) == len(get_args(ChecklistItem)) and set(one) <= set("SNX") for one in letters)


def test_gap_that_the_reader_found_filled_or_out_of_place_is_counted_apart() -> None:
    rows = [
        LabelledItem("ethics", "stated", "not_stated"),
        LabelledItem("ethics", "not_applicable", "not_stated"),
        LabelledItem("ethics", "not_stated", "not_stated"),
        LabelledItem("ethics", "not_stated", "stated"),
    ]
    table = list(agreement(rows))
    ethics = next(line for line in table if line.startswith("| approval"))
    assert ethics == "| approval, consent or data protection | 1 of 4 | 3 | 1 | 1 | 1 of 2 |"
    assert table[-1].startswith("| **all** | 1 of 4 | 3 | 1 (33 % [1, 91]) | 1 (33 % [1, 91]) | 1 of 2 |")
