"""The simulator's files and batches, asked with the official client."""

import json
from collections.abc import Iterator
from typing import Any

import openai
import pytest

from simulator.process import Simulator
from tests.contract.simulated import open_client
from tests.polling import wait_until


@pytest.fixture
def simulated(simulator: Simulator) -> Simulator:
    simulator.configure(batch_seconds=0.05)
    return simulator


@pytest.fixture
def client(simulated: Simulator) -> Iterator[openai.OpenAI]:
    with open_client(simulated) as client:
        yield client


def build_lines(count: int, **changes: Any) -> bytes:
    lines = [
        {
            "custom_id": f"question-{number}",
            "method": "POST",
            "url": "/v1/chat/completions",
            "body": {"model": "simulated", "messages": [{"role": "user", "content": f"Question {number}"}]},
        }
        | changes
        for number in range(count)
    ]
    return b"\n".join(json.dumps(line).encode() for line in lines)


def upload(client: openai.OpenAI, content: bytes, name: str = "night.jsonl") -> str:
    return str(client.files.create(file=(name, content), purpose="batch").id)


def submit(client: openai.OpenAI, content: bytes, **metadata: str) -> str:
    file = upload(client, content)
    batch = client.batches.create(
        input_file_id=file, endpoint="/v1/chat/completions", completion_window="24h", metadata=metadata
    )
    return str(batch.id)


def wait_until_ended(client: openai.OpenAI, batch: str) -> Any:
    def has_ended() -> bool:
        return client.batches.retrieve(batch).status in {"completed", "failed", "expired", "cancelled"}

    wait_until(has_ended)
    return client.batches.retrieve(batch)


def read_results(client: openai.OpenAI, file: str | None) -> list[dict[str, Any]]:
    return [] if file is None else [json.loads(line) for line in client.files.content(file).text.splitlines()]


def test_batch_lines_are_all_answered_out_of_order_at_half_price(client: openai.OpenAI, simulated: Simulator) -> None:
    batch = wait_until_ended(client, submit(client, build_lines(20), night="one"))
    answers = read_results(client, batch.output_file_id)
    names = [line["custom_id"] for line in answers]
    assert batch.status == "completed"
    assert sorted(names) == sorted(f"question-{number}" for number in range(20))
    assert names != [f"question-{number}" for number in range(20)]
    assert all(line["response"]["body"]["choices"][0]["message"]["content"] for line in answers)
    assert batch.metadata == {"night": "one"}
    stats = simulated.read_stats()
    assert stats.batch_answers == stats.answered == 20
    assert stats.billed_prompt_tokens == stats.prompt_tokens / 2


def test_single_lines_that_fail_are_in_the_error_file(client: openai.OpenAI, simulated: Simulator) -> None:
    simulated.configure(batch_line_error_rate=0.3)
    batch = wait_until_ended(client, submit(client, build_lines(40)))
    errors = read_results(client, batch.error_file_id)
    assert 0 < len(errors) < 40
    assert len(errors) + len(read_results(client, batch.output_file_id)) == 40
    assert {line["response"]["status_code"] for line in errors} == {500}
    assert batch.request_counts.failed == len(errors)


def test_stalled_batch_expires_with_partial_results(client: openai.OpenAI, simulated: Simulator) -> None:
    simulated.configure(batch_stall_rate=1.0, batch_window_seconds=0.3)
    batch = wait_until_ended(client, submit(client, build_lines(10)))
    assert batch.status == "expired"
    assert len(read_results(client, batch.output_file_id)) == 5
    assert {line["error"]["code"] for line in read_results(client, batch.error_file_id)} == {"batch_expired"}


def test_cancelled_batch_accounts_for_all_lines_and_cannot_be_cancelled_again(
    client: openai.OpenAI, simulated: Simulator
) -> None:
    simulated.configure(batch_seconds=60)
    name = submit(client, build_lines(10))
    assert client.batches.cancel(name).status == "cancelling"
    batch = wait_until_ended(client, name)
    assert batch.status == "cancelled"
    assert batch.request_counts.completed + batch.request_counts.failed == 10
    with pytest.raises(openai.ConflictError, match="Cannot cancel"):
        client.batches.cancel(name)


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (build_lines(3, custom_id="same"), "duplicate_custom_id"),
        (build_lines(1, url="/v1/embeddings"), "mismatched_endpoint"),
        (b"not json", "invalid_json_line"),
        (b"", "empty_file"),
    ],
)
def test_invalid_batch_file_fails_with_error_code(
    client: openai.OpenAI, simulated: Simulator, content: bytes, code: str
) -> None:
    batch = wait_until_ended(client, submit(client, content))
    assert batch.status == "failed"
    assert [error.code for error in batch.errors.data] == [code]


def test_batch_with_lost_creation_response_appears_in_the_list(client: openai.OpenAI, simulated: Simulator) -> None:
    file = upload(client, build_lines(2), "mine.jsonl")
    simulated.configure(batch_lost_reply_rate=1.0)
    with pytest.raises(openai.InternalServerError):
        client.batches.create(
            input_file_id=file, endpoint="/v1/chat/completions", completion_window="24h", metadata={"mine": "7"}
        )
    assert [batch.input_file_id for batch in client.batches.list(limit=100) if batch.metadata == {"mine": "7"}] == [
        file
    ]
    assert "mine.jsonl" in {item.filename for item in client.files.list(purpose="batch")}


def test_a_deleted_file_is_gone(client: openai.OpenAI) -> None:
    file = upload(client, build_lines(1))
    assert client.files.delete(file).deleted
    with pytest.raises(openai.NotFoundError):
        client.files.content(file)
