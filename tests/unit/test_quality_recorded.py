"""Model whose answers come from files: questions wait for answers, and faulty answers are requested again."""

import asyncio
import json
from pathlib import Path

import pytest

from assayer.errors import MalformedAnswer
from assayer.methods.review import tasks
from assayer.methods.review.schemas import LookAnswer, LookQuestion
from benchmarks.quality.recorded import RecordedLlm
from tests.unit.review_questions import QUESTIONS
from tests.unit.twins import make_run

QUESTION = next(question for task, question in QUESTIONS if task.name == "review.look")


async def ask(llm: RecordedLlm) -> LookAnswer:
    assert isinstance(QUESTION, LookQuestion)
    return (await llm.run(tasks.LOOK, QUESTION, make_run())).value


async def find_question_name(folder: Path) -> str:
    llm = RecordedLlm(folder)
    request = asyncio.create_task(ask(llm))
    while not llm.waiting:  # noqa: ASYNC110 - it has no event
        await asyncio.sleep(0)
    request.cancel()
    (name,) = llm.waiting
    return name


def _save(folder: Path, name: str, *labels: str) -> None:
    (folder / "answers" / f"{name}.json").write_text(f"```json\n{json.dumps({'labels': labels})}\n```", "utf-8")


async def test_unanswered_question_is_written_to_prompt_file(tmp_path: Path) -> None:
    name = await find_question_name(tmp_path)
    prompt = (tmp_path / "prompts" / f"{name}.md").read_text("utf-8")
    assert "# Task: which of these papers are worth opening?" in prompt
    assert '"labels"' in prompt


async def test_invalid_answer_is_requested_again_with_complaint(tmp_path: Path) -> None:
    name = await find_question_name(tmp_path)
    _save(tmp_path, name, "P9")
    assert await find_question_name(tmp_path) == f"{name}.2"
    assert "P9 is not a paper given here." in (tmp_path / "prompts" / f"{name}.2.md").read_text("utf-8")
    _save(tmp_path, f"{name}.2", "P1")
    assert (await ask(RecordedLlm(tmp_path))).labels == ["P1"]


async def test_second_invalid_answer_raises_malformed_answer(tmp_path: Path) -> None:
    name = await find_question_name(tmp_path)
    _save(tmp_path, name, "P9")
    _save(tmp_path, f"{name}.2", "P8")
    with pytest.raises(MalformedAnswer, match="P8 is not a paper given here"):
        await ask(RecordedLlm(tmp_path))


def test_answer_file_that_would_be_ignored_is_refused(tmp_path: Path) -> None:
    (tmp_path / "answers").mkdir()
    (tmp_path / "answers" / "scholareval.review.1.md").write_text("{}", "utf-8")
    with pytest.raises(ValueError, match=r"rename or remove scholareval\.review\.1\.md"):
        RecordedLlm(tmp_path)
