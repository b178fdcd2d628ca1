"""A task that a tiny policy can solve: the first word of an idea decides, whatever follows changes nothing."""

import json
from collections.abc import Sequence
from pathlib import Path

from assayer_client.trainers import RewardQuery
from tests.tiny_policy import make_tiny_policy
from workers.policy_training import PolicyTraining
from workers.policy_training.configuration import GrpoSettings, PolicyModel, QuestionFile

ANSWERS = {"sky": "blue", "grass": "green", "blood": "red", "snow": "white"}
_FILLERS = ("so", "then", "thus", "and")
_WORDS = (*ANSWERS, *ANSWERS.values(), *_FILLERS)
_ROWS = 64


class ToyJudge:
    """Rewards 1 for the right first word, 0 for another; an empty idea is none that could be judged."""

    async def rewards(self, items: Sequence[RewardQuery], judge: str | None = None) -> list[float | None]:
        return [float(item.idea.split()[0] == item.abstract) if item.idea.split() else None for item in items]


def make_toy_training(folder: Path, grpo: GrpoSettings, **changes: object) -> PolicyTraining:
    """Return a training with its questions and random policy written into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    questions = folder / "questions.jsonl"
    rows = [{"question": question, "abstract": colour} for question, colour in ANSWERS.items()] * (
        _ROWS // len(ANSWERS)
    )
    questions.write_text("".join(json.dumps(row) + "\n" for row in rows))
    model = make_tiny_policy(_WORDS, grpo.seed).save(folder / "model")
    return PolicyTraining.model_validate(
        {
            "title": "Colours",
            "folder": folder / "training",
            "policy": PolicyModel(model=str(model)),
            "data": QuestionFile(file=questions, prompt="{question}"),
            "grpo": grpo,
            **changes,
        }
    )
