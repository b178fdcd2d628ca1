"""Rewards as a user asks for them: a file in, a file out, and words for what cannot be judged."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.program import Homes, Program, run_simulator

ITEM = {
    "question": "How can forgetting be foreseen?",
    "idea": "We rehearse the stored examples that a small model predicts the next round of training will overwrite.",
    "abstract": "We predict which examples the next round of fine-tuning overwrites, and rehearse those.",
}


@pytest.fixture(scope="module")
def program(homes: Homes) -> Program:
    return homes.create_bare_home("reward")


def write_items(program: Program, *items: dict[str, Any]) -> Path:
    file = program.home / "items.jsonl"
    file.write_text("\n".join(map(json.dumps, items)), "utf-8")
    return file


def test_duplicate_items_share_a_reward_and_rerun_uses_cache(program: Program) -> None:
    with run_simulator(latency_mean=0) as simulated:
        file = write_items(program, {**ITEM, "id": "mine"}, {**ITEM, "idea": ""}, ITEM)
        result = program.with_simulator(simulated).run("reward", file)
        answered_count = simulated.read_stats().answered
        again = program.with_simulator(simulated).run("reward", file, "--out", "again.jsonl")
        assert simulated.read_stats().answered == answered_count
    rewards = [json.loads(line) for line in (program.home / "rewards.jsonl").read_text("utf-8").splitlines()]
    assert [(item["item"], item["id"], item["duplicate_of"]) for item in rewards] == [
        (0, "mine", None),
        (1, "", None),
        (2, "", 0),
    ]
    assert (rewards[1]["reward"]["value"], rewards[1]["reward"]["guard"]) == (0, "empty")
    assert rewards[2]["reward"]["value"] == rewards[0]["reward"]["value"]
    assert "two-analysts-evaluator: " in result.out
    assert "1 had the same text as an earlier item" in result.out
    assert result.code == again.code


def test_reward_pages_replace_symlinks_instead_of_following_them(program: Program) -> None:
    pages, secret = program.home / "pages", program.home / "secret.txt"
    pages.mkdir()
    secret.write_text("kept", "utf-8")
    (pages / "step_7_mine.html").symlink_to(secret)
    (pages / "3.html").write_text("of an earlier run", "utf-8")
    with run_simulator(latency_mean=0) as simulated:
        named_item = {**ITEM, "id": "../step/7 mine"}
        file = write_items(program, named_item, {**ITEM, "id": "STEP 7 mine", "idea": ""}, {**ITEM, "id": "../"})
        result = program.with_simulator(simulated).run("reward", file, "--pages", "pages")
    lines = [json.loads(line) for line in (program.home / "rewards.jsonl").read_text("utf-8").splitlines()]
    names = ["step_7_mine.html", "STEP_7_mine-2.html", "3.html"]
    assert [item["page"] for item in lines] == [f"pages/{name}" for name in names]
    assert sorted(path.name for path in pages.iterdir()) == sorted(names)
    assert not (pages / "step_7_mine.html").is_symlink()
    assert secret.read_text("utf-8") == "kept"
    for name in names:
        assert name in result.out
        assert re.search(r"<h1[^>]*>How can forgetting be foreseen", (pages / name).read_text("utf-8"))
    assert "stored examples that a small model predicts" in (pages / "3.html").read_text("utf-8")


def test_unusable_pages_folder_is_rejected_before_any_llm_request(program: Program) -> None:
    (program.home / "taken").write_text("", "utf-8")
    with run_simulator(latency_mean=0) as simulated:
        result = program.with_simulator(simulated).run("reward", write_items(program, ITEM), "--pages", "taken")
        assert simulated.read_stats().answered == 0
    assert result.code == 2
    assert "Choose a different folder with --pages." in result.err
