"""When a message is sent again, and by what a receiver knows it."""

import datetime as dt
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st
from standardwebhooks import Webhook, WebhookVerificationError

from assayer.errors import AddressRefused
from cluster.settings import WebhookSettings
from cluster.webhooks import check_webhook_address
from orchestrator.execution.webhook_delivery import delivery_outcome
from orchestrator.outbox import JITTER, Delivered, GivenUp, RetryLater
from orchestrator.settings import WebhookDeliverySettings
from orchestrator.webhooks.secrets import generate_secret, signed_headers

SETTINGS = WebhookDeliverySettings()


@pytest.mark.parametrize("status", [200, 202, 204, 299])
def test_any_success_is_a_delivery(status: int) -> None:
    assert delivery_outcome(status, 1, 0.5, SETTINGS) == Delivered(f"It answered {status}.")


@pytest.mark.parametrize("answer", [302, 400, 404, 429, 500, 503, "It could not be reached."])
def test_anything_else_is_tried_again_later_and_at_last_is_dead_with_the_reason(answer: int | str) -> None:
    assert isinstance(delivery_outcome(answer, 1, 0.5, SETTINGS), RetryLater)
    last = delivery_outcome(answer, SETTINGS.tries, 0.5, SETTINGS)
    assert isinstance(last, GivenUp)
    assert str(answer) in last.detail
    assert "try 8 of 8" in last.detail


def test_receiver_that_says_gone_is_not_tried_again() -> None:
    assert isinstance(delivery_outcome(410, 1, 0.5, SETTINGS), GivenUp)


def test_tries_spread_over_a_little_more_than_a_day() -> None:
    steps = [delivery_outcome(500, attempt, 0.5, SETTINGS) for attempt in range(1, SETTINGS.tries)]
    waits = [step.seconds for step in steps if isinstance(step, RetryLater)]
    assert waits == sorted(waits)
    assert len(waits) == 7
    assert 24 < sum(waits) / 3600 < 30


@given(st.integers(1, 7), st.floats(0, 1, exclude_max=True))
def test_jitter_keeps_a_wait_within_its_share(attempt: int, draw: float) -> None:
    step = delivery_outcome(500, attempt, draw, SETTINGS)
    assert isinstance(step, RetryLater)
    assert step.seconds == pytest.approx(5 * 5 ** (attempt - 1), rel=JITTER + 1e-9)


def test_signature_is_that_of_standard_webhooks_and_holds_for_this_body_alone() -> None:
    secret, delivery, now = generate_secret(), uuid.uuid4(), dt.datetime.now(dt.UTC)
    headers = signed_headers(secret, delivery, now, '{"type":"batch.finished"}')
    assert Webhook(secret).verify('{"type":"batch.finished"}', headers) == {"type": "batch.finished"}
    with pytest.raises(WebhookVerificationError):
        Webhook(secret).verify('{"type":"batch.failed"}', headers)
    assert signed_headers(secret, delivery, now, "")["webhook-id"] == headers["webhook-id"]


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org/hook",
        "https://10.1.2.3/hook",
        "https://[::1]/hook",
        "https://169.254.169.254/latest",
        "https://me:secret@example.org/hook",
        "ftp://example.org",
        "https://0x7f.1/",
        "https://8.8.8.8:22/",
    ],
)
def test_address_that_is_not_public_and_encrypted_is_refused_at_once(url: str) -> None:
    with pytest.raises(AddressRefused):
        check_webhook_address(WebhookSettings(), url)


def test_operator_may_open_a_closed_network() -> None:
    check_webhook_address(WebhookSettings(), "https://hooks.example.org/assayer?token=1")
    check_webhook_address(WebhookSettings(allow=("127.0.0.0/8",), plain_http=True), "http://127.0.0.1:8080/hook")
