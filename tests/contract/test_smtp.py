"""The connection to a mail server: encrypted and signed in as the settings say, and every failure named."""

from email.message import EmailMessage
from email.policy import SMTP
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from assayer.errors import MailPostponed, MailRefused, MailServerUnavailable
from tests.contract.mail_server import MailServer, create_certificate, run_mail_server
from workers.mail.settings import MailServerSettings
from workers.mail.smtp import SmtpConnection


def build_settings(post: MailServer | int, **others: Any) -> MailServerSettings:
    port = post if isinstance(post, int) else post.port
    fields = {"host": "127.0.0.1", "port": port, "tls": "off", "sender": "assayer@example.org", "deadline_seconds": 20}
    return MailServerSettings.model_validate(fields | others)


def build_letter(recipient: str = "ada@example.org") -> EmailMessage:
    message = EmailMessage(SMTP)
    message["From"], message["To"], message["Subject"] = "assayer@example.org", recipient, "Fertig: Förderrunde"
    message.set_content("56 in full\n")
    return message


async def test_mails_share_an_unencrypted_connection_by_default() -> None:
    async with run_mail_server() as post, SmtpConnection(build_settings(post)) as server:
        assert await server.reach() == f"127.0.0.1:{post.port} responds, not encrypted."
        refusals = [await server.send(build_letter()), await server.send(build_letter("bob@example.org"))]
    assert refusals[0].endswith("accepted it: queued as 7")
    assert [item.recipients for item in post.letters] == [("ada@example.org",), ("bob@example.org",)]
    assert post.letters[0].message["Subject"] == "Fertig: Förderrunde"
    assert post.letters[0].text == "56 in full\n"
    assert post.connections == 1


@pytest.mark.parametrize("mode", ["starttls", "tls"])
async def test_mails_are_sent_with_tls_and_authentication(mode: str, tmp_path: Path) -> None:
    context, authority = create_certificate(tmp_path)
    async with run_mail_server(tls=context, tls_at_once=mode == "tls", sign_in=True) as post:
        chosen = build_settings(post, tls=mode, ca_file=authority, user="assayer", password=SecretStr("secret"))
        async with SmtpConnection(chosen) as server:
            assert "encrypted with TLS" in (message := await server.reach())
            assert message.endswith("signed in as assayer.")
            await server.send(build_letter())
    assert post.letters[0].signed_in
    assert post.letters[0].encrypted or mode == "tls"


async def test_mail_is_not_sent_when_server_lacks_encryption() -> None:
    async with run_mail_server() as post, SmtpConnection(build_settings(post, tls="starttls")) as server:
        with pytest.raises(MailServerUnavailable, match="ASSAYER_MAIL__HOST, ASSAYER_MAIL__PORT and ASSAYER_MAIL__TLS"):
            await server.send(build_letter())
    assert not post.letters


async def test_untrusted_certificate_is_rejected(tmp_path: Path) -> None:
    context, _ = create_certificate(tmp_path)
    async with run_mail_server(tls=context) as post, SmtpConnection(build_settings(post, tls="starttls")) as server:
        with pytest.raises(MailServerUnavailable, match="ASSAYER_MAIL__CA_FILE"):
            await server.send(build_letter())
    assert not post.letters


async def test_wrong_password_error_names_settings_but_not_the_password(tmp_path: Path) -> None:
    context, authority = create_certificate(tmp_path)
    async with run_mail_server(tls=context, sign_in=True) as post:
        chosen = build_settings(post, tls="starttls", ca_file=authority, user="assayer", password=SecretStr("guessed"))
        async with SmtpConnection(chosen) as server:
            with pytest.raises(MailServerUnavailable, match="ASSAYER_MAIL__USER and ASSAYER_MAIL__PASSWORD") as caught:
                await server.reach()
    assert "guessed" not in str(caught.value)


async def test_unreachable_mail_server_is_reported(unused_tcp_port: int) -> None:
    async with SmtpConnection(build_settings(unused_tcp_port)) as server:
        with pytest.raises(MailServerUnavailable, match=f"127.0.0.1:{unused_tcp_port}"):
            await server.send(build_letter())


@pytest.mark.parametrize(
    ("stage", "answer", "kind"),
    [
        ("recipient_answer", "550 5.1.1 no such mailbox", MailRefused),
        ("recipient_answer", "450 4.2.1 greylisted", MailPostponed),
        ("data_answer", "554 5.7.1 looks like spam", MailRefused),
        ("data_answer", "452 4.3.1 disk full", MailPostponed),
        ("sender_answer", "553 5.7.1 not your address", MailServerUnavailable),
    ],
)
async def test_server_reply_decides_between_rejection_and_retry(stage: str, answer: str, kind: type[Exception]) -> None:
    async with run_mail_server() as post, SmtpConnection(build_settings(post)) as server:
        setattr(post, stage, answer)
        with pytest.raises(kind, match=answer.partition(" ")[2]):
            await server.send(build_letter())
        setattr(post, stage, None)
        await server.send(build_letter())
    assert len(post.letters) == 1


@pytest.mark.parametrize("stage", ["MAIL", "DATA"])
async def test_crashed_server_is_reconnected_for_the_next_mail(stage: str) -> None:
    async with run_mail_server() as post, SmtpConnection(build_settings(post)) as server:
        post.die_at, post.dying = stage, 1
        with pytest.raises(MailPostponed):
            await server.send(build_letter())
        await server.send(build_letter())
    assert len(post.letters) == (2 if stage == "DATA" else 1)  # of the first nobody said that it was taken


async def test_hung_server_times_out_at_the_deadline() -> None:
    async with run_mail_server() as post, SmtpConnection(build_settings(post, deadline_seconds=0.3)) as server:
        post.hang_at = "MAIL"
        with pytest.raises(MailPostponed, match=r"did not answer within 0\.3 s"):
            await server.send(build_letter())


async def test_non_ascii_address_is_rejected_by_server_without_support() -> None:
    message = EmailMessage(SMTP)
    message["From"], message["To"], message["Subject"] = "assayer@example.org", "ädä@example.org", "Hello"
    async with run_mail_server() as post, SmtpConnection(build_settings(post)) as server:
        with pytest.raises(MailRefused):
            await server.send(message)


def test_settings_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(ValueError, match="ASSAYER_MAIL__SENDER"):
        MailServerSettings(host="mail.example.org")
    with pytest.raises(ValueError, match="unencrypted"):
        MailServerSettings(
            host="mail.example.org", sender="a@example.org", tls="off", user="a", password=SecretStr("b")
        )
    with pytest.raises(ValueError, match="must be set together"):
        MailServerSettings(host="mail.example.org", sender="a@example.org", user="a")
    assert MailServerSettings(host="mail.example.org", sender="a@example.org").address == "mail.example.org:587"
