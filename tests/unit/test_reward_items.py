"""Items of rewards in a file: read line by line, and refused by file and line."""

import json
from pathlib import Path

import pytest

from assayer.errors import InputError
from cluster.cli.reward import read_reward_items

ITEM = {"question": "Why?", "idea": "We ask.", "abstract": "We asked."}


def write_items(folder: Path, *lines: object) -> Path:
    file = folder / "items.jsonl"
    file.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines), "utf-8")
    return file


def test_reward_items_are_read_and_blank_lines_skipped(tmp_path: Path) -> None:
    items = read_reward_items(write_items(tmp_path, ITEM, "", {**ITEM, "idea": "", "id": "b", "reference": "A paper"}))
    assert [(item.idea, item.id, item.reference) for item in items] == [("We ask.", "", ""), ("", "b", "A paper")]
    assert items[0].item == items[0].item.model_copy()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"question": "Why?", "idea": "We ask."}, "items.jsonl:3: abstract: Field required"),
        ({**ITEM, "abstract": "  "}, "items.jsonl:3: abstract is empty"),
        ({**ITEM, "abstrakt": "x"}, "items.jsonl:3: abstrakt: Extra inputs"),
        ({**ITEM, "idea": 7}, "items.jsonl:3: idea: Input should be a valid string"),
        ("{", "items.jsonl:3: Invalid JSON"),
    ],
)
def test_invalid_item_line_is_reported_by_number(tmp_path: Path, line: object, message: str) -> None:
    with pytest.raises(InputError) as raised:
        read_reward_items(write_items(tmp_path, ITEM, "", line))
    assert message in str(raised.value)


def test_empty_or_missing_items_file_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="contains no items"):
        read_reward_items(write_items(tmp_path, "", " "))
    with pytest.raises(InputError, match="cannot be read"):
        read_reward_items(tmp_path / "nowhere.jsonl")
