"""How long wrong answers become under GRPO with and without its biases, where nothing else makes them longer.

    python -m benchmarks.policy_training.lengths [--seeds 0,1,2,3,4]

The policy is fitted first to answers of a first word and fillers, whose end has nothing to do with the word. Then the
first word `yes` is rewarded, by steps of plain gradient descent: under AdamW lengths move otherwise (see
`benchmarks.policy_training`). The rates make the first steps of both losses about equally large: `grpo`
divides by about 6 tokens and a spread of 0.43, `dr_grpo` by 24.
Measured is the mean number of tokens that follow a wrong first word that is given, before and after.
"""

import argparse
import json
import random
import tempfile
from typing import Any

from benchmarks.policy_training.tiny_policy import TinyPolicy, tiny_policy

_QUESTIONS, _ANSWERS, _FILLERS = ("q0", "q1", "q2", "q3"), ("yes", "no", "may", "nay"), ("so", "then", "thus", "and")
_MOST, _END = 24, 0.15
_RATES = {"dr_grpo": 1.0, "grpo": 0.11}
_SCALES = {"dr_grpo": "none", "grpo": "group"}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.policy_training.lengths")
    parser.add_argument("--seeds", type=lambda text: [int(one) for one in text.split(",")], default=[0, 1, 2, 3, 4])
    parser.add_argument("--steps", type=int, default=50)
    options = parser.parse_args()
    for loss in _RATES:
        for seed in options.seeds:
            print(json.dumps(_measure(seed, loss, options.steps)), flush=True)


def _measure(seed: int, loss: str, steps: int) -> dict[str, Any]:
    policy = _fitted(seed)
    before = _length_after_wrong_word(policy)
    rewards = _train(policy, seed, loss, steps)
    after = _length_after_wrong_word(policy)
    return {
        "seed": seed,
        "loss": loss,
        "reward": round(rewards, 2),
        "before": round(before, 1),
        "after": round(after, 1),
    }


def _fitted(seed: int) -> TinyPolicy:
    import torch

    policy, drawn = tiny_policy((*_QUESTIONS, *_ANSWERS, *_FILLERS), seed), random.Random(seed)
    ids = policy.tokenizer.get_vocab()
    optimiser = torch.optim.AdamW(policy.model.parameters(), lr=3e-3)
    for _ in range(300):
        rows = []
        for _ in range(32):
            row = [ids[drawn.choice(_QUESTIONS)], ids[drawn.choice(_ANSWERS)]]
            while len(row) < _MOST and drawn.random() > _END:
                row.append(ids[drawn.choice(_FILLERS)])
            rows.append(([*row, ids["<eos>"]] + [ids["<pad>"]] * _MOST)[:_MOST])
        inputs = torch.tensor(rows)
        labels = inputs.masked_fill(inputs == ids["<pad>"], -100)
        labels[:, 0] = -100
        loss = policy.model(input_ids=inputs, labels=labels).loss
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return policy


def _length_after_wrong_word(policy: TinyPolicy) -> float:
    import torch

    ids = policy.tokenizer.get_vocab()
    policy.model.eval()
    torch.manual_seed(5)
    begun = torch.tensor([[ids[one], ids[word]] for one in _QUESTIONS for word in _ANSWERS[1:]] * 60)
    drawn = policy.model.generate(begun, do_sample=True, max_new_tokens=_MOST - 1, top_k=0)[:, 2:]
    ends = drawn == ids["<eos>"]
    lengths = torch.where(ends.any(1), ends.int().argmax(1), _MOST - 1)
    return float(lengths.float().mean())


def _train(policy: TinyPolicy, seed: int, loss: str, steps: int) -> float:
    """The mean reward of the last five steps."""
    import huggingface_hub.constants
    from datasets import Dataset
    from trl.trainer.grpo_config import GRPOConfig
    from trl.trainer.grpo_trainer import GRPOTrainer

    huggingface_hub.constants.HF_HUB_DISABLE_TELEMETRY = True
    means: list[float] = []

    def reward(completions: list[str], **_: Any) -> list[float | None]:
        values = [float(words[0] == "yes") if (words := one.split()) else None for one in completions]
        means.append(sum(value or 0.0 for value in values) / len(values))
        return values

    with tempfile.TemporaryDirectory() as folder:
        arguments = GRPOConfig(
            output_dir=folder,
            per_device_train_batch_size=64,
            num_generations=8,
            max_completion_length=_MOST,
            learning_rate=_RATES[loss],
            lr_scheduler_type="constant",
            optim="sgd",
            max_steps=steps,
            loss_type=loss,
            scale_rewards=_SCALES[loss],
            save_strategy="no",
            logging_steps=10**6,
            report_to=[],
            disable_tqdm=True,
            use_cpu=True,
            bf16=False,
            gradient_checkpointing=False,
            seed=seed,
        )
        policy.model.train()
        rows = Dataset.from_list([{"prompt": one} for one in _QUESTIONS] * 64)
        GRPOTrainer(policy.model, reward, arguments, train_dataset=rows, processing_class=policy.tokenizer).train()
    return sum(means[-5:]) / 5


if __name__ == "__main__":
    main()
