"""Text of emails: plain text, without any words from a proposal or about an applicant."""

import datetime as dt
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime
from typing import assert_never
from uuid import UUID

from assayer.reports.escaping import join_lines, shorten
from assayer.reports.wording import format_money
from orchestrator.access.sessions import LINK_DAYS
from orchestrator.jobs.outcome_wording import not_covered_in_words
from orchestrator.mail.models import (
    BidsAsked,
    CallFinished,
    ClaimedMail,
    MailNews,
    MemberInvited,
    ReviewsAssigned,
    ReviewsMissing,
    SignInLink,
)

_NAME_CHARS = 120
_ROLES = {
    "owner": "an owner: you are responsible for its calls, its people and their decisions",
    "officer": "an officer: you manage its calls for proposals",
    "reviewer": "a reviewer: you review proposals that are assigned to you",
    "auditor": "an auditor: you can see everything, but cannot change anything",
}


def mail_address(name: str, address: str) -> Address:
    """Return the address of a mailbox. Raises ValueError if the text is not the address of exactly one mailbox."""
    if any(ord(character) < 33 or ord(character) == 127 for character in address):
        raise ValueError("it contains a space or a control character")
    try:
        parsed = Address(addr_spec=address)
    except Exception as error:  # the standard library's parser also raises IndexError
        raise ValueError("it does not have the form name@example.org") from error
    if not parsed.username or not parsed.domain:
        raise ValueError("it does not have the form name@example.org")
    return Address(_one_line(name), parsed.username, parsed.domain)


def is_for_reviewer(mail: ClaimedMail) -> bool:
    """Return True if the email asks a reviewer to sign in and therefore contains a sign-in link."""
    return mail.role == "reviewer" and not isinstance(mail.news, CallFinished)


def compose_mail(mail: ClaimedMail, sender: Address, url: str, now: dt.datetime, link: str = "") -> EmailMessage:
    """Compose an email. `link` is the reviewer's single-use sign-in URL; empty if there is none. If the email is sent
    again, it has the same Message-ID, so that mailboxes recognise the duplicate. Raises ValueError if the member's
    address is invalid."""
    subject, text = _words(mail.news, mail.tenant, url, link)
    message = EmailMessage(SMTP)
    message["From"] = sender
    message["To"] = mail_address(mail.name, mail.address)
    message["Subject"] = subject
    message["Date"] = format_datetime(now)
    message["Message-ID"] = message_id(mail.id, sender)
    message["Auto-Submitted"] = "auto-generated"
    link_notice = f"\n\nThe link can be used once, within {LINK_DAYS} days. Do not share it." if link else ""
    message.set_content(
        f"{text}{link_notice}\n\n--\nassayer for {_one_line(mail.tenant)}. "
        f"To stop these emails: {url}/console/account\n"
    )
    return message


def message_id(mail: UUID, sender: Address) -> str:
    return f"<{mail.hex}@{sender.domain}>"


def _words(news: MailNews, tenant: str, url: str, link: str) -> tuple[str, str]:
    """Return the subject and the text."""
    match news:
        case CallFinished():
            return _call_finished(news, url)
        case ReviewsAssigned():
            return _reviews_assigned(news, link or f"{url}/console/queue")
        case ReviewsMissing():
            return _reviews_missing(news, link or f"{url}/console/queue")
        case BidsAsked():
            return _bids_asked(news, link or f"{url}/console/bids/{news.call}")
        case MemberInvited():
            return _member_invited(news, _one_line(tenant), url, link)
        case SignInLink():
            text = f"You requested a link to sign in to assayer for {_one_line(tenant)}."
            return "Your link to sign in", f"{text}\n\n{link or f'{url}/console/sign-in'}"
        case _:
            assert_never(news)


def _call_finished(news: CallFinished, url: str) -> tuple[str, str]:
    name = _one_line(news.name) or news.call
    counts = {
        "evaluated in full": news.full,
        "evaluated in part": news.part,
        "without a score": news.unscored,
        "failed": news.failed,
        "cancelled": news.cancelled,
        "rejected: no usable proposal in the row": news.refused,
        "erased": news.erased,
    }
    listed_outcomes = ("evaluated in full", "evaluated in part", "without a score", "failed", "rejected")
    lines = [f"{count:>8,} {state}" for state, count in counts.items() if count or state.startswith(listed_outcomes)]
    if news.cost_usd is not None:
        cost = f"Cost: {format_money(news.cost_usd)}."
    elif news.known_cost_usd:
        cost = f"Cost: unknown; the known part is {format_money(news.known_cost_usd)}."
    else:
        cost = "Cost: unknown."
    rows = "1 row" if news.rows == 1 else f"{news.rows:,} rows"
    text = f"{name} has finished: {rows}.\n\n" + "\n".join(lines)
    if news.unscored:
        text += "\n\n“Without a score” does not mean a low score. The page of the call states the reasons."
    if news.poorly_covered:
        text += f"\n\n{not_covered_in_words(news.poorly_covered)}: expect no score or only\n"
        text += f"a partial one. This does not reflect their quality: {url}/console/calls/{news.call}?fit=poor"
    return f"Finished: {name}", f"{text}\n\n{cost}\n\n{url}/console/calls/{news.call}"


def _member_invited(news: MemberInvited, tenant: str, url: str, link: str) -> tuple[str, str]:
    call = None if news.call is None else _one_line(news.name) or news.call
    subject = f"Invitation to assayer for {tenant}" if call is None else f"Invitation to review: {call}"
    purpose = f"use assayer for {tenant}" if call is None else f"review proposals in {call} for {tenant}"
    due = f"\nReviews are due by {news.due}." if news.due is not None else ""
    text = f"You are invited to {purpose}, as {_ROLES[news.role]}.{due}\n\n"
    if link:
        return subject, f"{text}Sign in with this link:\n{link}"
    text += "Sign in with your organisation's account for this address, if the page offers this, or with the key "
    return subject, f"{text}that you receive:\n{url}/console/sign-in"


def _reviews_missing(news: ReviewsMissing, address: str) -> tuple[str, str]:
    name = _one_line(news.name) or news.call
    reviews = "1 review" if news.proposals == 1 else f"{news.proposals:,} reviews"
    due = f", due by {news.due}" if news.due is not None else ""
    text = f"{reviews} by you in {name} {'is' if news.proposals == 1 else 'are'} still missing{due}."
    text += "\nIf you cannot review a proposal, decline it on its page, so that others can be asked."
    return f"Reminder: {reviews} missing{due}: {name}", f"{text}\n\n{address}"


def _bids_asked(news: BidsAsked, address: str) -> tuple[str, str]:
    name = _one_line(news.name) or news.call
    text = f"Please state which proposals in {name} you would like to review. Your queue has a link to the list."
    text += "\nA bid is a preference, not a commitment: officers assign the proposals."
    return f"Which proposals would you like to review? {name}", f"{text}\n\n{address}"


def _reviews_assigned(news: ReviewsAssigned, address: str) -> tuple[str, str]:
    name = _one_line(news.name) or news.call
    proposals = "1 proposal" if news.proposals == 1 else f"{news.proposals:,} proposals"
    text = f"{proposals} in {name} {'is' if news.proposals == 1 else 'are'} assigned to you."
    if news.due is not None:
        text += f" Your review is due by {news.due}."
    text += "\nYou give your first review before you see the report."
    due = f", due by {news.due}" if news.due is not None else ""
    return f"{proposals} to review{due}: {name}", f"{text}\n\n{address}"


def _one_line(text: str) -> str:
    """Return the text as a single line of limited length for a header, without control characters and marks of text
    direction."""
    return shorten(join_lines(text), _NAME_CHARS)
