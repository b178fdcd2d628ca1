"""SciCompanion's loop small enough for a policy of two layers: whole answers are single tokens of its vocabulary.

The loop, the walk along citations, the checks of answers and the edits of the graph are the real ones; the papers are
invented and kept in memory. Of a prompt the policy sees which idea it is about, which task it is, and little else. So a
training says whether the loop learns, and nothing about how well real models do.
"""

import asyncio
import datetime as dt
import json
import random
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from assayer.backends import Backends
from assayer.llm import NoLlm
from assayer.methods.scicompanion.options import SciCompanionOptions
from assayer.models import Paper, PaperId
from assayer.ports import Clock
from index.corpus import CorpusFullTexts
from tests.memory_corpus import MemoryCorpus
from tests.tiny_policy import TinyPolicy, make_random_llama
from workers.embedding.hashing_embedder import HashingEmbedder
from workers.policy_training.companion_plan import CompanionTraining, LoopRollouts
from workers.policy_training.companion_rollouts import CompanionRollouts
from workers.policy_training.configuration import GrpoSettings, PolicyModel
from workers.policy_training.policy_conversation import PolicyTemplate, WrittenTokens
from workers.policy_training.policy_transport import Generate
from workers.policy_training.rated_ideas import RatedIdea, RatedIdeaFile, read_rated_ideas

SCORES = {"Quotes of the sky": 2, "Quotes of the sea": 9, "Quotes of the woods": 4, "Quotes of the hills": 7}
"""Known score of each idea, by title."""
_TEXT = (
    "Reviews quote papers wrongly. We build a checker that compares every quoted sentence with its source, and test "
    "it on 500 reviews against two baselines, as nobody has done before."
)
_QUOTE = "compares quoted sentences with their sources. In"
_ROLES = ("<|system|>", "<|user|>", "<|assistant|>")
_SPECIAL = ("<pad>", "<eos>", "<unk>", *_ROLES)
_TEMPLATE = (
    "{% for message in messages %}<|{{ message.role }}|>{{ message.content }}<eos>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
MARKS: Mapping[str, str] = {
    "queries": "# Task: say what to search for",
    "step": "complete the graph, write into the notebook",
    "judging": "# Task: judge the idea by this question",
}
"""Words in the prompt that identify each task."""
BROKEN = "{ no answer at all"
"""Cannot be used; as any other answer it is sent back once."""
_PAPERS = 20

PAPERS = tuple(
    Paper(
        id=PaperId(f"paper-{number}"),
        title=f"Quoted sentences and their sources, study {number}",
        abstract=f"Study {number} {_QUOTE} {40 + number} of 100 reviews a quote was not found in its paper.",
        publication_date=dt.date(2020, 1, 1) + dt.timedelta(days=30 * number),
        source="corpus",
    )
    for number in range(_PAPERS)
)
CITATIONS: Mapping[PaperId, Sequence[PaperId]] = {
    PAPERS[number].id: [PAPERS[number - 1].id, PAPERS[number // 2].id] for number in range(2, _PAPERS)
}


def _build_step_answer(with_edits: bool) -> str:
    claim = {"key": "A1", "kind": "claim", "name": "Quotes in reviews are often wrong", "note": ""}
    stating_edge = {
        "source": "N0",
        "kind": "states",
        "target": "A1",
        "label": None,
        "quote": "",
        "statement": "It says so.",
    }
    quoting_edge = {
        "source": "N1",
        "kind": "supports",
        "target": "A1",
        "label": "P1",
        "quote": _QUOTE,
        "statement": "Found.",
    }
    return json.dumps(
        {
            "nodes": [claim] if with_edits else [],
            "edges": [stating_edge, quoting_edge] if with_edits else [],
            "revise": [],
            "delete": [],
            "trace": "Quotes are often wrong [P1].",
            "queries": ["sources of quotes"],
        }
    )


def _build_judgement(score: int) -> str:
    strength = {"text": "It compares quotes with their sources."}
    return json.dumps(
        {
            "strengths": [strength],
            "weaknesses": [],
            "suggestions": [],
            "rationale": "It stands between two bands.",
            "score": score,
        }
    )


ANSWERS: Mapping[str, tuple[str, ...]] = {
    "queries": (json.dumps({"queries": ["quoted sentences"]}), json.dumps({"queries": ["reviews", "sources"]})),
    "step": (_build_step_answer(with_edits=False), _build_step_answer(with_edits=True)),
    "judging": tuple(_build_judgement(score) for score in range(1, 11)),
}
"""Answers among which the policy chooses, by task."""


def make_tiny_backends() -> Backends:
    embedder = HashingEmbedder()
    corpus = MemoryCorpus(PAPERS, embedder, CITATIONS)
    return Backends(NoLlm(), corpus, CorpusFullTexts(corpus), embedder)


def make_tiny_training(folder: Path, model: Path | str, grpo: GrpoSettings, **changes: object) -> CompanionTraining:
    """Return a training of one step and one dimension (three calls), with its ideas written into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    ideas = folder / "ideas.jsonl"
    lines = (
        {"title": title, "text": _TEXT, "scores": {"overall": score}, "known_until": None}
        for title, score in SCORES.items()
    )
    ideas.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return CompanionTraining.model_validate(
        {
            "title": "Quotes",
            "method": "scicompanion",
            "folder": folder / "training",
            "policy": PolicyModel(model=str(model)),
            "data": RatedIdeaFile(file=ideas),
            "corpus": folder / "corpus",
            "loop": SciCompanionOptions(steps=1, papers_a_step=4, seeds=14, found=20, hops=1),
            "rollouts": LoopRollouts(most_prompt_tokens=64),
            "grpo": grpo,
            **changes,
        }
    )


def read_tiny_ideas(plan: CompanionTraining) -> list[RatedIdea]:
    return read_rated_ideas(plan.data, SciCompanionOptions().load_rubric())


def make_companion_tokenizer() -> Any:
    """Return a tokenizer with a token per answer, title and task mark; other words are one unknown token."""
    from tokenizers import AddedToken, Tokenizer, models
    from transformers import PreTrainedTokenizerFast

    raw = Tokenizer(models.WordLevel({word: number for number, word in enumerate(_SPECIAL)}, unk_token=_SPECIAL[2]))
    fast: Any = PreTrainedTokenizerFast
    special = dict(zip(("pad_token", "eos_token", "unk_token"), _SPECIAL, strict=False))
    tokenizer = fast(
        tokenizer_object=raw, padding_side="left", extra_special_tokens=list(_ROLES), chat_template=_TEMPLATE, **special
    )
    words = (*SCORES, *MARKS.values(), *(item for answers in ANSWERS.values() for item in answers), BROKEN)
    tokenizer.add_tokens([AddedToken(word, normalized=False, special=False) for word in words])
    return tokenizer


def find_task(tokenizer: Any, context: Sequence[int]) -> str:
    """Return the last task whose mark occurs in the prompt."""
    marks = {tokenizer.convert_tokens_to_ids(mark): task for task, mark in MARKS.items()}
    return next(marks[item] for item in reversed(context) if item in marks)


def fit_policy(contexts: Iterable[Sequence[int]], seed: int, broken_share: float = 0.05, steps: int = 60) -> TinyPolicy:
    """Fit a policy that gives one of its task's answers at random, and a share of broken answers."""
    import torch

    tokenizer, generator = make_companion_tokenizer(), random.Random(seed)  # noqa: S311 - answers drawn, the same each time
    policy = TinyPolicy(make_random_llama(len(tokenizer), seed), tokenizer)
    optimiser = torch.optim.AdamW(policy.model.parameters(), lr=1e-2)
    different = sorted(set(map(tuple, contexts)))
    max_length = max(map(len, different)) + 2
    for _ in range(steps):
        rows, labels = [], []
        for context in different:
            text = (
                BROKEN
                if generator.random() < broken_share
                else generator.choice(ANSWERS[find_task(tokenizer, context)])
            )
            answer_tokens = [tokenizer.convert_tokens_to_ids(text), tokenizer.eos_token_id]
            padding = max_length - len(context) - len(answer_tokens)
            rows.append([0] * padding + [*context, *answer_tokens])
            labels.append([-100] * (padding + len(context)) + answer_tokens)
        inputs, targets = torch.tensor(rows), torch.tensor(labels)
        loss = policy.model(input_ids=inputs, attention_mask=(inputs != 0).long(), labels=targets).loss
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return policy


def make_random_generator(tokenizer: Any, seed: int, seen_contexts: list[tuple[int, ...]] | None = None) -> Generate:
    """Return a function that gives random answers to each task, as a fitted policy would. Contexts are appended to
    `seen_contexts`."""
    generator = random.Random(seed)  # noqa: S311 - answers drawn, the same each time

    def generate(contexts: Sequence[Sequence[int]]) -> list[WrittenTokens]:
        if seen_contexts is not None:
            seen_contexts.extend(tuple(context) for context in contexts)
        answers = (generator.choice(ANSWERS[find_task(tokenizer, context)]) for context in contexts)
        return [WrittenTokens((tokenizer.convert_tokens_to_ids(item), tokenizer.eos_token_id)) for item in answers]

    return generate


def collect_usual_contexts(plan: CompanionTraining, clock: Clock) -> list[tuple[int, ...]]:
    """Return the contexts of the policy when every answer is usable."""
    tokenizer, seen_contexts = make_companion_tokenizer(), list[tuple[int, ...]]()
    template = PolicyTemplate(tokenizer, frozenset([tokenizer.eos_token_id]))
    rollouts = CompanionRollouts(plan, make_tiny_backends(), clock)
    asyncio.run(rollouts.walk(read_tiny_ideas(plan), template, make_random_generator(tokenizer, 0, seen_contexts)))
    return seen_contexts
