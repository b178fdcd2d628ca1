"""Both clients before a server that refuses, breaks off and dies."""

import asyncio
import json
import logging
import pickle
from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest

from assayer_client import (
    ApiProblem,
    AsyncClient,
    Client,
    ConfigurationError,
    EvaluationBody,
    IdeaBody,
    InvalidRequest,
    ProblemAt,
    RetryPolicy,
    ServiceUnreachable,
)
from tests.contract.scripted_service import (
    ScriptedService,
    answer,
    build_event,
    build_problem,
    build_unfinished_events,
    run_script,
)

KEY = "ak_0123_a-secret-that-nobody-else-sees"
_BODY = EvaluationBody(idea=IdeaBody(text="A thought."), source="a.txt")
_LINKS = dict.fromkeys(("evaluation", "report", "events", "timeline"), "/")
_ACCEPTED = answer({"id": "ev_1", "state": "queued", "links": _LINKS}, 202)
_RETRIES = RetryPolicy(attempts=4, seconds=100, first_pause=0.01)


class ClientMethod:
    """Common interface of both clients, with lists in place of iterators. Pauses are recorded, not made."""

    def __init__(self, kind: type[Client] | type[AsyncClient]) -> None:
        self._kind = kind
        self.pauses: list[float] = []

    def ask(self, url: str, name: str, *arguments: Any, retries: RetryPolicy = _RETRIES, **named: Any) -> Any:
        if self._kind is AsyncClient:
            return asyncio.run(self._await_call(url, name, retries, arguments, named))
        with Client(url, KEY, retries=retries, sleep=self.pauses.append) as client:
            result = attrgetter(name)(client)(*arguments, **named)
            return list(result) if isinstance(result, Iterator) else result

    async def _await_call(self, url: str, name: str, retries: RetryPolicy, arguments: Any, named_arguments: Any) -> Any:
        async def noted(seconds: float) -> None:
            self.pauses.append(seconds)

        async with AsyncClient(url, KEY, retries=retries, sleep=noted) as client:
            result = attrgetter(name)(client)(*arguments, **named_arguments)
            return [item async for item in result] if hasattr(result, "__aiter__") else await result


@pytest.fixture(params=[Client, AsyncClient], ids=["sync", "async"])
def asking(request: pytest.FixtureRequest) -> ClientMethod:
    return ClientMethod(request.param)


def _list_keys(scripted: ScriptedService) -> list[str | None]:
    return [item.headers.get("idempotency-key") for item in scripted.received]


def test_submission_with_a_lost_answer_is_retried_with_the_same_key(asking: ClientMethod) -> None:
    with run_script([b"", _ACCEPTED[:40], build_problem("busy", 503, retry_after="7"), _ACCEPTED]) as scripted:
        assert asking.ask(scripted.url, "evaluations.create", _BODY).id == "ev_1"
    keys = _list_keys(scripted)
    assert len(keys) == 4
    assert len(set(keys)) == 1
    assert keys[0]
    assert len({item.body for item in scripted.received}) == 1
    assert asking.pauses[2] >= 7


def test_each_submission_uses_its_own_key_or_the_provided_key(asking: ClientMethod) -> None:
    keyword_lists: list[dict[str, Any]] = [{}, {}, {"key": "row-7"}]
    with run_script([_ACCEPTED] * 3) as scripted:
        for options in keyword_lists:
            asking.ask(scripted.url, "evaluations.create", _BODY, **options)
    assert len(set(_list_keys(scripted))) == 3
    assert _list_keys(scripted)[2] == "row-7"
    assert json.loads(scripted.received[0].body) == {"idea": {"text": "A thought."}, "source": "a.txt"}


@pytest.mark.parametrize("key", ["", "x\ny", "xü", "x" * 256, "two words"])
def test_invalid_idempotency_key_is_rejected_before_sending(key: str, asking: ClientMethod) -> None:
    with run_script([_ACCEPTED]) as scripted, pytest.raises(InvalidRequest, match="idempotency key"):
        asking.ask(scripted.url, "evaluations.create", _BODY, key=key)
    assert scripted.received == []


def test_text_that_cannot_be_encoded_is_rejected_before_sending(asking: ClientMethod) -> None:
    body = EvaluationBody(idea=IdeaBody(text="half of \ud800 a character"))
    with run_script([_ACCEPTED]) as scripted, pytest.raises(InvalidRequest, match="cannot be serialised"):
        asking.ask(scripted.url, "evaluations.create", body)
    assert scripted.received == []


def test_permanent_refusal_is_raised_without_retry(asking: ClientMethod) -> None:
    body = {
        "type": "https://assayer.dev/problems/invalid-request",
        "title": "The request cannot be used",
        "status": 422,
        "detail": "/method: unknown",
        "instance": "/v1/evaluations",
        "request_id": "req_1",
        "errors": [{"pointer": "/method", "detail": "unknown"}, {"parameter": "limit", "detail": "too large"}],
    }
    with (
        run_script([answer(body, 422, content_type="application/problem+json")]) as scripted,
        pytest.raises(ApiProblem) as caught,
    ):
        asking.ask(scripted.url, "evaluations.create", _BODY)
    error = caught.value
    assert (error.status, error.slug, error.request_id) == (422, "invalid-request", "req_1")
    assert error.errors == (ProblemAt("unknown", "/method"), ProblemAt("too large", None, "limit"))
    assert str(error) == "The request cannot be used (422): /method: unknown [limit: too large]"
    assert str(pickle.loads(pickle.dumps(error))) == str(error)  # noqa: S301 - our own bytes
    assert asking.pauses == []


def test_unresponsive_server_raises_after_the_last_retry(asking: ClientMethod) -> None:
    with run_script([]) as scripted, pytest.raises(ServiceUnreachable, match="did not answer") as caught:
        asking.ask(scripted.url, "evaluations.get", "ev_1")
    assert len(scripted.received) == 4
    assert type(pickle.loads(pickle.dumps(caught.value))) is ServiceUnreachable  # noqa: S301 - our own bytes


def test_every_retry_is_logged_with_its_reason(asking: ClientMethod, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "assayer_client")
    with run_script([build_problem("busy", 503, retry_after="7"), _ACCEPTED]) as scripted:
        asking.ask(scripted.url, "evaluations.create", _BODY)
    (warning,) = [record.getMessage() for record in caplog.records if record.name == "assayer_client.retries"]
    assert warning.startswith("Not now (503): Wait. Trying again in 7.")


def test_retry_after_beyond_the_time_limit_is_not_retried(asking: ClientMethod) -> None:
    with (
        run_script([build_problem("rate-limited", 429, retry_after="3600")]) as scripted,
        pytest.raises(ApiProblem) as caught,
    ):
        asking.ask(scripted.url, "evaluations.get", "ev_1")
    assert (caught.value.slug, caught.value.retry_after) == ("rate-limited", 3600)
    assert len(scripted.received) == 1


def test_bare_500_response_is_retried_but_reported_internal_error_is_raised(asking: ClientMethod) -> None:
    died = b"HTTP/1.1 500 Oops\r\ncontent-length: 21\r\n\r\nInternal Server Error"
    with run_script([died, build_problem("internal-error", 500)]) as scripted, pytest.raises(ApiProblem) as caught:
        asking.ask(scripted.url, "evaluations.get", "ev_1")
    assert caught.value.slug == "internal-error"
    assert len(scripted.received) == 2


def test_proxy_404_during_startup_is_retried_but_plain_404_is_raised(asking: ClientMethod) -> None:
    words = b"Path '/v1/evaluations' not found. Ping http://.../-/routes for available routes."
    response_head = b"HTTP/1.1 404 Not Found\r\ncontent-type: text/plain\r\ncontent-length: %d\r\n\r\n%s" % (
        len(words),
        words,
    )
    with run_script([response_head, _ACCEPTED]) as scripted:
        assert asking.ask(scripted.url, "evaluations.create", _BODY).id == "ev_1"
    nowhere = b"HTTP/1.1 404 Not Found\r\ncontent-length: 9\r\n\r\nNot Found"
    with run_script([nowhere, _ACCEPTED]) as scripted, pytest.raises(ApiProblem):
        asking.ask(scripted.url, "evaluations.create", _BODY)
    assert len(scripted.received) == 1


def test_redirect_is_not_followed_and_the_key_is_not_forwarded(asking: ClientMethod) -> None:
    with run_script([_ACCEPTED]) as other_script:
        with (
            run_script([answer({}, 307, location=f"{other_script.url}/v1/evaluations")]) as scripted,
            pytest.raises(ApiProblem, match="redirects"),
        ):
            asking.ask(scripted.url, "evaluations.create", _BODY)
        assert other_script.received == []


def test_key_is_sent_as_bearer_token_and_never_logged(
    asking: ClientMethod, caplog: pytest.LogCaptureFixture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login somebody password else\n")
    monkeypatch.setenv("NETRC", str(netrc))
    caplog.set_level(logging.DEBUG)
    with run_script([b"", build_problem("unauthenticated", 401)]) as scripted, pytest.raises(ApiProblem) as caught:
        asking.ask(scripted.url, "evaluations.get", "ev_1")
    assert {item.headers["authorization"] for item in scripted.received} == {f"Bearer {KEY}"}
    assert KEY not in caplog.text + str(caught.value) + repr(caught.value)
    assert KEY not in repr(Client(scripted.url, KEY).__dict__)


@pytest.mark.parametrize("job", ["../tenants", "ev/../../x", "ev?x=1#y", "ev_1/report"])
def test_id_never_leads_to_another_resource(asking: ClientMethod, job: str) -> None:
    with run_script([build_problem("not-found", 404)]) as scripted, pytest.raises(ApiProblem):
        asking.ask(scripted.url, "evaluations.get", job)
    path, _, last = scripted.received[0].target.rpartition("/")
    assert path == "/v1/evaluations"
    assert "?" not in last


def test_unreadable_answer_is_rejected_without_retry(asking: ClientMethod) -> None:
    with (
        run_script([answer({"hello": "world"})]) as scripted,
        pytest.raises(ServiceUnreachable, match="cannot be read"),
    ):
        asking.ask(scripted.url, "evaluations.get", "ev_1")
    assert len(scripted.received) == 1


@pytest.mark.parametrize(
    "saving",
    ["batches.save_results", "evaluations.save_brief", "batches.save_dossier", "evaluations.save_contestation"],
)
def test_page_of_a_proxy_is_not_saved_as_a_document(saving: str, asking: ClientMethod, tmp_path: Path) -> None:
    target = tmp_path / "saved"
    target.write_text("what was saved before")
    page = answer("<p>Sign in</p>", content_type="text/html; charset=utf-8")
    with run_script([page]) as scripted, pytest.raises(ServiceUnreachable, match=r"text/html.* it is not"):
        asking.ask(scripted.url, saving, "ev_1", target)
    assert target.read_text() == "what was saved before"
    assert list(tmp_path.iterdir()) == [target]


def test_event_stream_resumes_after_the_last_seen_event(asking: ClientMethod) -> None:
    torn = build_event(3, "progress")[:-20]
    answers = [
        build_unfinished_events(build_event(1, "queued"), build_event(2, "started"), torn),
        b"",
        build_unfinished_events(build_event(2, "started"), build_event(3, "progress")),
        build_problem("busy", 503, retry_after="2"),
        build_unfinished_events(build_event(4, "succeeded"), build_event(5, "never sent after the verdict")),
    ]
    with run_script(answers) as scripted:
        kinds = [(item.number, item.kind) for item in asking.ask(scripted.url, "evaluations.events", "ev_1")]
    assert kinds == [(1, "queued"), (2, "started"), (3, "progress"), (4, "succeeded")]
    assert [item.headers.get("last-event-id") for item in scripted.received] == [None, "2", "2", "3", "3"]


def test_event_stream_starts_after_the_requested_event(asking: ClientMethod) -> None:
    with run_script([build_unfinished_events(build_event(8, "succeeded"))]) as scripted:
        assert [item.number for item in asking.ask(scripted.url, "evaluations.events", "ev_1", after=7)] == [8]
    assert scripted.received[0].headers["last-event-id"] == "7"


def test_finished_event_stream_ends_without_events(asking: ClientMethod) -> None:
    with run_script([b"HTTP/1.1 204 No Content\r\n\r\n"]) as scripted:
        assert asking.ask(scripted.url, "evaluations.events", "ev_1", after=4) == []


def test_event_stream_without_progress_is_abandoned_after_repeated_breaks(asking: ClientMethod) -> None:
    with (
        run_script([build_unfinished_events(build_event(1, "queued")), *[build_unfinished_events()] * 20]) as scripted,
        pytest.raises(ServiceUnreachable, match="was interrupted 4 times"),
    ):
        asking.ask(scripted.url, "evaluations.events", "ev_1")
    assert len(scripted.received) == 4


def test_non_event_stream_response_is_rejected(asking: ClientMethod) -> None:
    with run_script([answer({"hello": "world"})] * 9) as scripted, pytest.raises(ServiceUnreachable):
        asking.ask(scripted.url, "evaluations.events", "ev_1")
    with run_script([build_problem("not-found", 404)]) as scripted, pytest.raises(ApiProblem):
        asking.ask(scripted.url, "evaluations.events", "ev_2")
    assert len(scripted.received) == 1


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("ftp://host", KEY),
        ("host:8000", KEY),
        ("http://user:word@host", KEY),
        ("http://host?x=1", KEY),
        ("http://host", "two words"),
        ("http://host", "line\nbreak"),
        ("http://host", ""),
    ],
)
def test_unusable_address_or_key_is_refused_before_anything_is_sent(
    url: str, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ASSAYER_API_KEY", raising=False)
    with pytest.raises(ConfigurationError) as caught:
        Client(url, key)
    assert "word@" not in str(caught.value)
    assert "line" not in str(caught.value)


def test_address_and_key_are_read_from_the_environment(monkeypatch: pytest.MonkeyPatch, asking: ClientMethod) -> None:
    with run_script([build_problem("not-found", 404)]) as scripted:
        monkeypatch.setenv("ASSAYER_API_URL", f"{scripted.url}/behind/a/proxy/")
        monkeypatch.setenv("ASSAYER_API_KEY", KEY)
        with Client() as client, pytest.raises(ApiProblem):
            client.evaluations.get("ev_1")
    assert scripted.received[0].target == "/behind/a/proxy/v1/evaluations/ev_1"
