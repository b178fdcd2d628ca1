"""Ids, cursors, idempotency keys, and API keys that can be answered twice."""

import datetime as dt
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.access.api_keys import KeyPlan, hash_key
from orchestrator.api.idempotency import parse_idempotency_key
from orchestrator.api.routes.keys import KeyCreation
from orchestrator.identifiers import create_id_generator
from orchestrator.jobs.models import TenantId
from orchestrator.jobs.submissions import Cursor
from orchestrator.problems import HttpProblem
from orchestrator.web.pagination import decode_cursor, encode_cursor


class TickingClock:
    """Clock that advances by a millisecond at every reading."""

    def __init__(self) -> None:
        self._now = dt.datetime(2026, 1, 2, tzinfo=dt.UTC)

    def now(self) -> dt.datetime:
        self._now += dt.timedelta(milliseconds=1)
        return self._now

    def monotonic(self) -> float:
        return 0.0


def test_ids_sort_by_generation_time() -> None:
    draw = create_id_generator(TickingClock())
    ids = [draw("ev") for _ in range(200)]
    assert ids == sorted(ids)
    assert len(set(ids)) == 200
    assert {len(item) for item in ids} == {29}


moments = st.datetimes(
    min_value=dt.datetime(2000, 1, 1),
    max_value=dt.datetime(2199, 1, 1),
    timezones=st.just(dt.UTC),
)


@given(moments, st.from_regex(r"[a-z0-9_]{1,40}", fullmatch=True))
def test_encoded_cursor_round_trips(moment: dt.datetime, name: str) -> None:
    place = Cursor(moment, name)
    assert decode_cursor(encode_cursor(place)) == place


@given(st.text() | st.from_regex(r"[A-Za-z0-9_-]{0,80}", fullmatch=True))
def test_arbitrary_cursor_text_is_rejected_or_decoded(text: str) -> None:
    with suppress(HttpProblem):
        place = decode_cursor(text)
        assert place is not None
        assert place.created_at.tzinfo is not None


@pytest.mark.parametrize(("header", "key"), [("abc", "abc"), ('"abc"', "abc"), ('"', '"')])
def test_an_idempotency_key_may_be_quoted(header: str, key: str) -> None:
    assert parse_idempotency_key(header) == key


def test_generated_secret_is_repeatable_for_same_caller_key_and_nonce() -> None:
    plan = KeyPlan(name="robot", scopes=frozenset({"read"}))
    creation = KeyCreation(tenant=TenantId("acme"), plan=plan, nonce="00" * 32)
    repeated_creation = KeyCreation.model_validate_json(creation.model_dump_json())
    secret = creation.build_response_body("ak_1_secret").secret
    assert hash_key(secret) is not None
    assert repeated_creation.build_response_body("ak_1_secret").secret == secret
    assert creation.build_response_body("ak_2_secret").secret != secret
    assert creation.model_copy(update={"nonce": "01" * 32}).build_response_body("ak_1_secret").secret != secret
    assert secret.split("_", 2)[2] not in creation.model_dump_json()
