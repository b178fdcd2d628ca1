"""Tokens by task, as a report and the ledger state them."""

from assayer.models import CallRecord
from assayer.run.accounting import count_tokens_by_task
from workers.llm.ledger import CallUsage


def _call(task: str, prompt: int, cached: int, completion: int) -> CallRecord:
    usage = CallUsage(task, 1, "m", None)
    usage.add_answer(None, prompt, completion, cached)
    return usage.record(0.0)


def test_tokens_are_summed_by_task_with_the_largest_prompts_first() -> None:
    calls = [_call("read", 100, 40, 10), _call("judge", 500, 0, 90), _call("read", 150, 60, 20)]
    assert [tuple(item.model_dump().values()) for item in count_tokens_by_task(calls)] == [
        ("judge", 1, 500, 0, 90),
        ("read", 2, 250, 100, 30),
    ]


def test_cached_prompt_tokens_are_summed_over_the_attempts_of_a_call() -> None:
    usage = CallUsage("read", 1, "m", None)
    usage.add_answer(None, 100, 10, 30)
    usage.add_answer(None, 120, 10, 90)
    record = usage.record(0.0)
    assert (record.prompt_tokens, record.cached_prompt_tokens, record.completion_tokens) == (220, 120, 20)
