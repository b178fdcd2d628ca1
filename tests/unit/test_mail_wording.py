"""Mail contents: headers that allow no injection, addresses of a single mailbox, counts."""

import datetime as dt
from email import message_from_bytes
from email.headerregistry import Address
from email.policy import SMTP
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.access.roles import MemberId
from orchestrator.jobs.models import BatchId
from orchestrator.mail.models import (
    BidsRequested,
    CallFinished,
    ClaimedMail,
    MailContent,
    MemberInvited,
    ReviewsAssigned,
)
from orchestrator.mail.wording import compose_mail, parse_mail_address

SENDER = Address("assayer", "assayer", "example.org")
URL = "https://assayer.example.org"
NOW = dt.datetime(2031, 5, 6, 7, 8, tzinfo=dt.UTC)
ID = UUID("00000000-0000-4000-8000-000000000007")
CALL = BatchId("bt_7")
HEADERS = {
    "From",
    "To",
    "Subject",
    "Date",
    "Message-ID",
    "Auto-Submitted",
    "Content-Type",
    "Content-Transfer-Encoding",
    "MIME-Version",
}
_storable = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=300)


def make_finished_call(name: str = "Call 7", **fields: object) -> CallFinished:
    counts = {"rows": 158, "full": 56, "part": 9, "unscored": 90, "failed": 0, "cancelled": 0, "refused": 3}
    return CallFinished.model_validate(
        {"call": CALL, "name": name, "erased": 0, "cost_usd": 1.25, "known_cost_usd": 1.25} | counts | fields
    )


def make_mail(
    content: MailContent, name: str = "Ada Byron", address: str = "ada@example.org", tenant: str = "acme"
) -> ClaimedMail:
    return ClaimedMail(ID, name, address, tenant, content, 1, MemberId("mb_7"), "owner")


def compose_text(content: MailContent) -> str:
    return str(compose_mail(make_mail(content), SENDER, URL, NOW).get_content())


@given(name=_storable, person=_storable, tenant=_storable)
def test_names_cannot_inject_headers_or_recipients(name: str, person: str, tenant: str) -> None:
    for content in (
        make_finished_call(name),
        ReviewsAssigned(call=CALL, name=name, proposals=2, due=None),
        BidsRequested(call=CALL, name=name),
        MemberInvited(role="owner"),
        MemberInvited(role="reviewer", call=CALL, name=name, due=dt.date(2031, 12, 1)),
    ):
        mail_bytes = compose_mail(make_mail(content, name=person, tenant=tenant), SENDER, URL, NOW).as_bytes()
        read = message_from_bytes(mail_bytes, policy=SMTP)
        assert set(read.keys()) == HEADERS
        assert [address.addr_spec for address in read["To"].addresses] == ["ada@example.org"]
        assert "\n" not in str(read["Subject"])
        assert len(str(read["Subject"])) < 200


@pytest.mark.parametrize(
    "address",
    [
        "",
        "ada",
        "@example.org",
        "ada@example.org, eve@example.org",
        "Ada <ada@example.org>",
        "ada@example.org\r\nBcc: eve@example.org",
        "ada @example.org",
        "<ada@example.org>",
        "a" * 65 + "\x7f@example.org",
    ],
)
def test_invalid_or_multiple_mail_addresses_are_rejected(address: str) -> None:
    with pytest.raises(ValueError, match="it "):
        parse_mail_address("Ada", address)
    with pytest.raises(ValueError, match="it "):
        compose_mail(make_mail(MemberInvited(role="reviewer"), address=address), SENDER, URL, NOW)


@given(_storable)
def test_accepted_address_names_a_single_mailbox(address: str) -> None:
    try:
        mail_address = parse_mail_address("Ada", address)
    except ValueError:
        return
    assert mail_address.addr_spec
    read = message_from_bytes(
        compose_mail(make_mail(make_finished_call(), address=address), SENDER, URL, NOW).as_bytes(), policy=SMTP
    )
    assert len(read["To"].addresses) == 1
    assert set(read.keys()) == HEADERS


def test_mail_about_finished_call_lists_counts_and_cost() -> None:
    lines = [" ".join(line.split()) for line in compose_text(make_finished_call()).splitlines()]
    assert lines[:9] == [
        "Call 7 has finished: 158 rows.",
        "",
        "56 evaluated in full",
        "9 evaluated in part",
        "90 without a score",
        "0 failed",
        "3 rejected: no usable proposal in the row",
        "",
        "“Without a score” does not mean a low score. The page of the call states the reasons.",
    ]
    assert "Cost: $1.25." in lines
    assert f"{URL}/console/calls/bt_7" in lines
    assert lines[-1].endswith(f"To stop these emails: {URL}/console/account")


def test_unknown_cost_is_reported_as_unknown() -> None:
    assert "Cost: unknown.\n" in compose_text(make_finished_call(cost_usd=None, known_cost_usd=0.0))
    assert "unknown; the known part is $0.75." in compose_text(make_finished_call(cost_usd=None, known_cost_usd=0.75))
    assert "Cost: $0.00." in compose_text(make_finished_call(cost_usd=0.0, known_cost_usd=0.0))


def test_message_id_is_stable_and_uses_the_sender_domain() -> None:
    first, second = (
        compose_mail(make_mail(make_finished_call()), SENDER, URL, sent_at)
        for sent_at in (NOW, NOW + dt.timedelta(hours=3))
    )
    assert first["Message-ID"] == second["Message-ID"] == "<00000000000040008000000000000007@example.org>"


def test_review_invitation_names_the_call_and_due_date() -> None:
    content = MemberInvited(role="reviewer", call=CALL, name="Spring call", due=dt.date(2031, 12, 1))
    message = compose_mail(make_mail(content), SENDER, URL, NOW)
    assert message["Subject"] == "Invitation to review: Spring call"
    text = str(message.get_content())
    assert text.startswith("You are invited to review proposals in Spring call for acme, as a reviewer: you review")
    assert "Reviews are due by 2031-12-01." in text
    assert f"{URL}/console/sign-in" in text
    unnamed = MemberInvited(role="reviewer", call=CALL)
    assert "review proposals in bt_7 for acme" in compose_text(unnamed)
    assert "due by" not in compose_text(unnamed)
