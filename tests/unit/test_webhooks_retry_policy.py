"""Retries of webhook messages, and the id by which a receiver recognises them."""

import datetime as dt
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st
from standardwebhooks import Webhook, WebhookVerificationError

from assayer.errors import AddressRefused
from cluster.settings import WebhookSettings
from cluster.webhooks import check_webhook_address
from orchestrator.execution.webhook_delivery import decide_outcome
from orchestrator.outbox import JITTER, Abandoned, Delivered, RetryLater
from orchestrator.settings import WebhookDeliverySettings
from orchestrator.webhooks.secrets import build_signed_headers, generate_secret

SETTINGS = WebhookDeliverySettings()


@pytest.mark.parametrize("status", [200, 202, 204, 299])
def test_any_2xx_status_counts_as_delivered(status: int) -> None:
    assert decide_outcome(status, 1, 0.5, SETTINGS) == Delivered(f"The receiver responded with status {status}.")


@pytest.mark.parametrize("answer", [302, 400, 404, 429, 500, 503, "It could not be reached."])
def test_failed_delivery_is_retried_then_abandoned_with_reason(answer: int | str) -> None:
    assert isinstance(decide_outcome(answer, 1, 0.5, SETTINGS), RetryLater)
    last = decide_outcome(answer, SETTINGS.tries, 0.5, SETTINGS)
    assert isinstance(last, Abandoned)
    assert str(answer) in last.detail
    assert "attempt 8 of 8" in last.detail


def test_gone_status_is_not_retried() -> None:
    assert isinstance(decide_outcome(410, 1, 0.5, SETTINGS), Abandoned)


def test_retries_span_little_more_than_a_day() -> None:
    steps = [decide_outcome(500, attempt, 0.5, SETTINGS) for attempt in range(1, SETTINGS.tries)]
    waits = [step.seconds for step in steps if isinstance(step, RetryLater)]
    assert waits == sorted(waits)
    assert len(waits) == 7
    assert 24 < sum(waits) / 3600 < 30


@given(st.integers(1, 7), st.floats(0, 1, exclude_max=True))
def test_jitter_stays_within_configured_share_of_wait(attempt: int, draw: float) -> None:
    step = decide_outcome(500, attempt, draw, SETTINGS)
    assert isinstance(step, RetryLater)
    assert step.seconds == pytest.approx(5 * 5 ** (attempt - 1), rel=JITTER + 1e-9)


def test_signature_follows_standard_webhooks_and_covers_the_body() -> None:
    secret, delivery, sent_at = generate_secret(), uuid.uuid4(), dt.datetime.now(dt.UTC)
    headers = build_signed_headers(secret, delivery, sent_at, '{"type":"batch.finished"}')
    assert Webhook(secret).verify('{"type":"batch.finished"}', headers) == {"type": "batch.finished"}
    with pytest.raises(WebhookVerificationError):
        Webhook(secret).verify('{"type":"batch.failed"}', headers)
    assert build_signed_headers(secret, delivery, sent_at, "")["webhook-id"] == headers["webhook-id"]


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
def test_non_public_or_unencrypted_address_is_rejected(url: str) -> None:
    with pytest.raises(AddressRefused):
        check_webhook_address(WebhookSettings(), url)


def test_operator_can_allow_private_network_and_plain_http() -> None:
    check_webhook_address(WebhookSettings(), "https://hooks.example.org/assayer?token=1")
    check_webhook_address(WebhookSettings(allow=("127.0.0.0/8",), plain_http=True), "http://127.0.0.1:8080/hook")
