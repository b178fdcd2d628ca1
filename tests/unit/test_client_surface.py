"""Two clients, one surface."""

import inspect
import re
import subprocess
import sys
from collections.abc import Callable, Generator
from typing import Any

import pytest

from assayer_client import AsyncClient, Client, InvalidRequest, verified
from assayer_client.blocking import finish
from assayer_client.namespaces import Namespace
from assayer_client.settings import RetryPolicy

ADDRESS = "http://127.0.0.1:8765"


def list_public_members(owner: object) -> dict[str, Callable[..., Any]]:
    return {name: member for name, member in inspect.getmembers(owner, callable) if not name.startswith("_")}


def list_parameters(method: Callable[..., Any]) -> list[tuple[str, Any, Any, str]]:
    return [
        (parameter.name, parameter.kind, parameter.default, unwrap_awaitable(parameter.annotation))
        for parameter in inspect.signature(method).parameters.values()
    ]


def unwrap_awaitable(annotation: Any) -> str:
    """Return the awaited result type of a parameter that is itself a method of the client."""
    return re.sub(r"collections\.abc\.Awaitable\[(.*)\]", r"\1", str(annotation))


def test_sync_and_async_clients_have_matching_methods_and_docstrings() -> None:
    sync, awaited = list_public_members(Client), list_public_members(AsyncClient)
    assert sync.keys() == awaited.keys() == {"close", "each", "evaluate"}
    for name in ("each", "evaluate"):
        assert list_parameters(sync[name]) == list_parameters(awaited[name]), name
        assert sync[name].__doc__ == awaited[name].__doc__, name


def test_namespace_methods_have_matching_signatures_and_docstrings() -> None:
    sync, awaited = Client(ADDRESS, "ak_x"), AsyncClient(ADDRESS, "ak_x")
    groups = {name: group for name, group in vars(sync).items() if isinstance(group, Namespace)}
    assert {"evaluations", "batches", "rankings", "rewards", "members"} <= groups.keys()
    for name, group in groups.items():
        for method, own_method in list_public_members(group).items():
            if method not in ("exchange", "finish"):
                assert list_parameters(own_method) == list_parameters(getattr(getattr(awaited, name), method)), method
    assert [parameter.name for parameter in inspect.signature(sync.rewards.outcomes).parameters.values()] == [
        *("id", "after", "seconds")
    ]
    assert str(inspect.signature(sync.tenants.list)).startswith("(*, after: str | None = None, limit: int = 50)")
    assert (sync.batches.add_rows.__doc__ or "").startswith("Send another part of an open batch")


def test_coroutine_that_suspends_is_refused_by_the_synchronous_client() -> None:
    class Suspending:
        def __await__(self) -> Generator[None, None, None]:
            yield

    with pytest.raises(RuntimeError, match="suspended"):
        finish(Suspending())


def test_client_import_does_not_load_service_packages() -> None:
    heavy = ("assayer", "orchestrator", "numpy", "starlette", "fastapi", "uvicorn", "asyncpg", "ray", "torch", "faiss")
    program = f"import sys, assayer_client; print([name for name in {heavy} if name in sys.modules])"
    completed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert completed.stdout.strip() == "[]"


def test_correctly_signed_webhook_message_is_accepted_and_forgeries_are_rejected() -> None:
    import datetime as dt

    from standardwebhooks import Webhook

    secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"  # noqa: S105 - of this test
    body, now = b'{"type": "evaluation.done"}', dt.datetime.now(dt.UTC)
    headers = {
        "Webhook-Id": "msg_1",
        "Webhook-Timestamp": str(int(now.timestamp())),
        "Webhook-Signature": Webhook(secret).sign("msg_1", now, body.decode()),
    }
    assert verified(body, headers, secret) == {"type": "evaluation.done"}
    for forged in (
        (b'{"type": "evaluation.cancelled"}', headers),
        (body, {**headers, "Webhook-Timestamp": "1700000000"}),
        (body, {**headers, "Webhook-Signature": "v1,AAAA"}),
        (body, {**headers, "Webhook-Signature": "nonsense"}),
        (body, {}),
        (b"\xff", headers),
    ):
        with pytest.raises(InvalidRequest, match="not signed"):
            verified(*forged, secret)


def test_retry_pauses_are_capped_and_respect_retry_after() -> None:
    from assayer_client import ApiProblem
    from assayer_client.retries import compute_next_poll, compute_pause

    patience = RetryPolicy(first_pause=1, longest_pause=8)
    assert all(0 <= compute_pause(patience, failures, None) <= min(8, 2 ** (failures - 1)) for failures in range(1, 60))
    busy = ApiProblem(503, "Busy", retry_after=30)
    assert all(30 <= compute_pause(patience, 1, busy) <= 31 for _ in range(50))
    pauses = [compute_next_poll(elapsed, None) for elapsed in (0, 1, 10, 30, 1000)]
    assert pauses == [0.2, 0.2, 1, 3, 5]
    assert compute_next_poll(9.9, 10) == pytest.approx(0.1)
    with pytest.raises(TimeoutError):
        compute_next_poll(10, 10)
