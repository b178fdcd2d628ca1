"""From labelled ideas to a report: build, train, evaluate, add and check, as a user runs them."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.program import IDEAS, Homes, Program

pytestmark = pytest.mark.slow

_EACH = 15
"""Ideas of each outcome; a calibration needs 30 in all."""
IDEA = IDEAS / "quote-then-abstain.md"


def _build_labelled_ideas() -> list[dict[str, Any]]:
    """Return short labelled ideas, because the processes take the time here."""
    texts = {
        "Reject": "We collect {n} citations of old reviews by hand. No quotation is checked against its source.",
        "Poster": "We verify {n} quotations of generated reviews in context. Statements without support are left out.",
    }
    return [
        {"id": f"{label}-{n}", "title": f"Plan {n}", "text": text.format(n=n + 2), "label": label, "date": "2017-04"}
        for label, text in texts.items()
        for n in range(_EACH)
    ]


@pytest.fixture(scope="module")
def graph_home(homes: Homes) -> Program:
    """Home with a graph and its calibration."""
    program = homes.create_bare_home("graph")
    _write(program, "labelled.jsonl", _build_labelled_ideas())
    build = program.run("graph", "build", "labelled.jsonl", "--classes", "Reject,Poster")
    assert build.code == 0, build.err
    assert f"{2 * _EACH} ideas added" in build.out
    trained = program.run("graph", "train", "--folds", 2)
    assert trained.code == 0, trained.err
    assert "always the most frequent outcome" in trained.out
    return program


def _write(program: Program, name: str, records: list[dict[str, Any]]) -> Path:
    path = program.home / name
    path.write_text("\n".join(map(json.dumps, records)), "utf-8")
    return path


def test_an_idea_is_evaluated_without_a_language_model_and_without_a_corpus(graph_home: Program) -> None:
    result = graph_home.run("evaluate", IDEA, "--method", "grapheval", "--cutoff", "2018-01-01")
    assert result.code == 0, result.err
    report = json.loads((graph_home.out / f"{IDEA.stem}.json").read_text("utf-8"))
    verdict = report["verdict"]
    assert report["method"] == "grapheval"
    assert verdict["graph"]["labelled"] == 2 * _EACH
    assert [item["name"] for item in verdict["probabilities"]] == ["Reject", "Poster"]
    assert all(item["low"] <= item["probability"] <= item["high"] for item in verdict["probabilities"])
    neighbours = [near for item in verdict["evidence"] for near in item["neighbours"]]
    assert {near["label"] for near in neighbours} <= {"Reject", "Poster"}
    assert len({near["text"] for near in neighbours}) > 3
    html = (graph_home.out / f"{IDEA.stem}.html").read_text("utf-8")
    text = (graph_home.out / f"{IDEA.stem}.md").read_text("utf-8")
    assert 'class="tie' in html
    assert "## Comparison with labelled ideas" in text
    assert verdict["evidence"][0]["neighbours"][0]["label"] in text


def test_known_id_with_different_text_is_rejected(graph_home: Program) -> None:
    first = json.loads((graph_home.home / "labelled.jsonl").read_text("utf-8").splitlines()[0])
    changed = {"id": first["id"], "title": "Other", "text": "A wholly other text stands here now."}
    path = _write(graph_home, "changed.jsonl", [changed])
    result = graph_home.run("graph", "add", path)
    assert result.code == 2
    assert result.out == ""
    assert "Traceback" not in result.err
    assert "have the same id" in result.err


def test_json_documents_hold_what_the_printed_sentences_state(graph_home: Program) -> None:
    second_build = json.loads(graph_home.run("graph", "build", "labelled.jsonl", "--graph", "second", "--json").out)
    assert (second_build["graph"], second_build["outcomes"], second_build["ideas"]) == (
        "second",
        ["Poster", "Reject"],
        2 * _EACH,
    )
    added = json.loads(graph_home.run("graph", "add", "labelled.jsonl", "--graph", "second", "--json").out)
    assert (added["ideas"], added["known"]) == (0, 2 * _EACH)
    trained = json.loads(graph_home.run("graph", "train", "--folds", 2, "--graph", "second", "--json").out)
    assert trained["ideas"] == 2 * _EACH
    assert trained["scorer"]["brier"].keys() == trained["auroc"].keys() == {"value", "low", "high"}


def test_a_copy_is_found_in_its_batch_and_in_the_graph(graph_home: Program) -> None:
    folder = graph_home.home / "batch"
    folder.mkdir(exist_ok=True)
    first = json.loads((graph_home.home / "labelled.jsonl").read_text("utf-8").splitlines()[0])
    copied = first["text"] + " The plan takes two years of work by three surveyors of a town."
    (folder / "copied.txt").write_text(copied, "utf-8")
    (folder / "copied_again.txt").write_text("Our plan.\n\n" + copied, "utf-8")
    (folder / "own.md").write_text(IDEA.read_text("utf-8"), "utf-8")
    result = graph_home.run("graph", "check", folder, "--out", "found.json")
    assert result.code == 0, result.err
    check = json.loads((graph_home.home / "found.json").read_text("utf-8"))
    batch = {Path(item["idea"]).name for item in check["Within the batch"]}
    against = {Path(item["idea"]).name: item["closest"] for item in check["Against graph default"]}
    assert batch == {"copied.txt", "copied_again.txt"}
    assert against["copied.txt"] == str(first["id"])
    assert "own.md" not in against
