"""Labelled ideas are read whole or not at all, and every refusal says which line and why."""

import datetime as dt
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from assayer.errors import InputError
from assayer.methods.grapheval.graph.records import LabelledIdea
from cluster.labelled_ideas import FieldNames, derive_outcome_classes, read_labelled_ideas

TEXT = "We draw maps of towns by hand and measure how long they last."


def write_ideas(folder: Path, *records: Any, name: str = "ideas.jsonl") -> Path:
    path = folder / name
    text = "\n".join(record if isinstance(record, str) else json.dumps(record) for record in records)
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


def read(path: Path, **fields: str) -> list[LabelledIdea]:
    return read_labelled_ideas([path], FieldNames(**fields))


def test_records_of_different_shapes_become_ideas(tmp_path: Path) -> None:
    path = write_ideas(
        tmp_path,
        {
            "id": 7,
            "title": "Maps",
            "abstract": TEXT,
            "decision": "Accept",
            "date": "2020-05-17",
            "url": "https://x.org",
        },
        "",
        {"text": TEXT + " Again.", "decision": 3, "year": 2021},
        {"paper_id": "p9", "abstract": TEXT, "publication_date": "2020-02"},
        name="ideas.jsonl.gz",
    )
    first, second, third = read(path, label="decision")
    assert (first.id, first.title, first.text, first.label) == ("7", "Maps", TEXT, "Accept")
    assert (first.date, first.url) == (dt.date(2020, 5, 17), "https://x.org")
    assert (second.label, second.date) == ("3", dt.date(2021, 12, 31))
    assert second.title.startswith("We draw maps of towns")
    assert (third.id, third.label, third.date) == ("p9", None, dt.date(2020, 2, 29))


def test_idea_without_id_gets_a_stable_id(tmp_path: Path) -> None:
    path = write_ideas(tmp_path, {"text": TEXT})
    assert read(path) == read(path)


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ("{", "ideas.jsonl:1 is not JSON."),
        ("[1]", "ideas.jsonl:1 is not a JSON object."),
        ({"title": "Maps"}, "ideas.jsonl:1 has no text"),
        ({"text": "word " * 120_000}, "characters; an idea can have at most 400,000"),
        ({"text": TEXT, "date": "last May"}, "'last May' is not a date"),
        ({"text": TEXT, "date": "2020-13-01"}, "'2020-13-01' is not a date"),
        ({"text": TEXT, "label": ["a", "b"]}, "'label' must be a string or a number"),
        ({"text": [TEXT]}, "'text' must be a string or a number"),
    ],
)
def test_unusable_line_is_named(tmp_path: Path, record: Any, message: str) -> None:
    with pytest.raises(InputError) as raised:
        read(write_ideas(tmp_path, record))
    assert message in raised.value.message


def test_first_unusable_lines_are_named_and_the_rest_counted(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"ideas.jsonl:5 is not JSON. \(and 3 more\)"):
        read(write_ideas(tmp_path, *["{"] * 8))


def test_files_that_are_missing_damaged_or_empty_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read(tmp_path / "none.jsonl")
    damaged_file = tmp_path / "torn.jsonl.gz"
    damaged_file.write_bytes(gzip.compress(b"{}" * 99)[:20])
    with pytest.raises(InputError, match="damaged"):
        read(damaged_file)
    with pytest.raises(InputError, match="contains no ideas"):
        read(write_ideas(tmp_path, ""))


def make_ideas(*labels: str | None) -> list[LabelledIdea]:
    return [
        LabelledIdea.model_validate({"id": str(n), "title": "Maps", "text": TEXT, "label": label, "date": None})
        for n, label in enumerate(labels)
    ]


def test_outcomes_keep_specified_order_or_are_sorted_alphabetically() -> None:
    assert derive_outcome_classes(make_ideas("no", "yes"), ("yes", "perhaps", "no")) == ("yes", "perhaps", "no")
    assert derive_outcome_classes(make_ideas("yes", "no"), ()) == ("no", "yes")


@pytest.mark.parametrize(
    ("labels", "classes", "message"),
    [
        (("yes", None, None), (), "2 of 3 ideas have no label (first: '1')"),
        (("yes", "yes"), (), "All 2 ideas have the label 'yes'"),
        (("yes", "maybe"), ("no", "yes"), "'maybe' is not one of no, yes"),
        (("yes", "no"), ("no", "yes", "no"), "contains a duplicate outcome"),
    ],
)
def test_labels_unusable_for_a_graph_are_rejected(
    labels: tuple[str | None, ...], classes: tuple[str, ...], message: str
) -> None:
    with pytest.raises(InputError) as raised:
        derive_outcome_classes(make_ideas(*labels), classes)
    assert message in raised.value.message
