"""Text of emails: plain text, without any words from a proposal or about an applicant."""

import datetime as dt
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime
from typing import assert_never

from assayer.reports.escaping import join_lines, shorten
from assayer.reports.wording import format_money
from orchestrator.access.sessions import SIGN_IN_LINK_DAYS
from orchestrator.jobs.outcome_wording import describe_poor_coverage
from orchestrator.mail.models import (
    BidsRequested,
    CallFinished,
    ClaimedMail,
    MailContent,
    MemberInvited,
    ReviewsAssigned,
    ReviewsMissing,
    SignInLink,
)

_MAX_NAME_CHARS = 120
_ROLES = {
    "owner": "an owner: you are responsible for its calls, its people and their decisions",
    "officer": "an officer: you manage its calls for proposals",
    "reviewer": "a reviewer: you review proposals that are assigned to you",
    "auditor": "an auditor: you can see everything, but cannot change anything",
}


def parse_mail_address(name: str, address: str) -> Address:
    """Return the address of a mailbox. Raises ValueError if the text is not the address of exactly one mailbox."""
    if any(ord(character) < 33 or ord(character) == 127 for character in address):
        raise ValueError("it contains a space or a control character")
    try:
        parsed = Address(addr_spec=address)
    except Exception as error:  # the standard library's parser also raises IndexError
        raise ValueError("it does not have the form name@example.org") from error
    if not parsed.username or not parsed.domain:
        raise ValueError("it does not have the form name@example.org")
    return Address(_shorten_line(name), parsed.username, parsed.domain)


def is_for_reviewer(mail: ClaimedMail) -> bool:
    """Return True if the email asks a reviewer to sign in and therefore contains a sign-in link."""
    return mail.role == "reviewer" and not isinstance(mail.news, CallFinished)


def compose_mail(mail: ClaimedMail, sender: Address, url: str, now: dt.datetime, link: str = "") -> EmailMessage:
    """Compose an email. `link` is the reviewer's single-use sign-in URL; empty if there is none. If the email is sent
    again, it has the same Message-ID, so that mailboxes recognise the duplicate. Raises ValueError if the member's
    address is invalid."""
    subject, text = _compose_text(mail.news, mail.tenant, url, link)
    message = EmailMessage(SMTP)
    message["From"] = sender
    message["To"] = parse_mail_address(mail.name, mail.address)
    message["Subject"] = subject
    message["Date"] = format_datetime(now)
    message["Message-ID"] = f"<{mail.id.hex}@{sender.domain}>"
    message["Auto-Submitted"] = "auto-generated"
    link_notice = f"\n\nThe link can be used once, within {SIGN_IN_LINK_DAYS} days. Do not share it." if link else ""
    message.set_content(
        f"{text}{link_notice}\n\n--\nassayer for {_shorten_line(mail.tenant)}. "
        f"To stop these emails: {url}/console/account\n"
    )
    return message


def _compose_text(content: MailContent, tenant: str, url: str, link: str) -> tuple[str, str]:
    """Return the subject and the text."""
    match content:
        case CallFinished():
            return _describe_finished_call(content, url)
        case ReviewsAssigned():
            return _describe_assigned_reviews(content, link or f"{url}/console/queue")
        case ReviewsMissing():
            return _describe_missing_reviews(content, link or f"{url}/console/queue")
        case BidsRequested():
            return _describe_bid_request(content, link or f"{url}/console/bids/{content.call}")
        case MemberInvited():
            return _describe_invitation(content, _shorten_line(tenant), url, link)
        case SignInLink():
            text = f"You requested a link to sign in to assayer for {_shorten_line(tenant)}."
            return "Your link to sign in", f"{text}\n\n{link or f'{url}/console/sign-in'}"
        case _:
            assert_never(content)


def _describe_finished_call(content: CallFinished, url: str) -> tuple[str, str]:
    name = _shorten_line(content.name) or content.call
    counts = {
        "evaluated in full": content.full,
        "evaluated in part": content.part,
        "without a score": content.unscored,
        "failed": content.failed,
        "cancelled": content.cancelled,
        "rejected: no usable proposal in the row": content.refused,
        "erased": content.erased,
    }
    listed_outcomes = ("evaluated in full", "evaluated in part", "without a score", "failed", "rejected")
    lines = [f"{count:>8,} {state}" for state, count in counts.items() if count or state.startswith(listed_outcomes)]
    if content.cost_usd is not None:
        cost = f"Cost: {format_money(content.cost_usd)}."
    elif content.known_cost_usd:
        cost = f"Cost: unknown; the known part is {format_money(content.known_cost_usd)}."
    else:
        cost = "Cost: unknown."
    rows = "1 row" if content.rows == 1 else f"{content.rows:,} rows"
    text = f"{name} has finished: {rows}.\n\n" + "\n".join(lines)
    if content.unscored:
        text += "\n\n“Without a score” does not mean a low score. The page of the call states the reasons."
    if content.poorly_covered:
        text += f"\n\n{describe_poor_coverage(content.poorly_covered)}: expect no score or only\n"
        text += f"a partial one. This does not reflect their quality: {url}/console/calls/{content.call}?fit=poor"
    return f"Finished: {name}", f"{text}\n\n{cost}\n\n{url}/console/calls/{content.call}"


def _describe_invitation(content: MemberInvited, tenant: str, url: str, link: str) -> tuple[str, str]:
    call = None if content.call is None else _shorten_line(content.name) or content.call
    subject = f"Invitation to assayer for {tenant}" if call is None else f"Invitation to review: {call}"
    purpose = f"use assayer for {tenant}" if call is None else f"review proposals in {call} for {tenant}"
    due = f"\nReviews are due by {content.due}." if content.due is not None else ""
    text = f"You are invited to {purpose}, as {_ROLES[content.role]}.{due}\n\n"
    if link:
        return subject, f"{text}Sign in with this link:\n{link}"
    text += "Sign in with your organisation's account for this address, if the page offers this, or with the key "
    return subject, f"{text}that you receive:\n{url}/console/sign-in"


def _describe_missing_reviews(content: ReviewsMissing, url: str) -> tuple[str, str]:
    name = _shorten_line(content.name) or content.call
    reviews = "1 review" if content.proposals == 1 else f"{content.proposals:,} reviews"
    due = f", due by {content.due}" if content.due is not None else ""
    text = f"{reviews} by you in {name} {'is' if content.proposals == 1 else 'are'} still missing{due}."
    text += "\nIf you cannot review a proposal, decline it on its page, so that others can be asked."
    return f"Reminder: {reviews} missing{due}: {name}", f"{text}\n\n{url}"


def _describe_bid_request(content: BidsRequested, url: str) -> tuple[str, str]:
    name = _shorten_line(content.name) or content.call
    text = f"Please state which proposals in {name} you would like to review. Your queue has a link to the list."
    text += "\nA bid is a preference, not a commitment: officers assign the proposals."
    return f"Which proposals would you like to review? {name}", f"{text}\n\n{url}"


def _describe_assigned_reviews(content: ReviewsAssigned, url: str) -> tuple[str, str]:
    name = _shorten_line(content.name) or content.call
    proposals = "1 proposal" if content.proposals == 1 else f"{content.proposals:,} proposals"
    text = f"{proposals} in {name} {'is' if content.proposals == 1 else 'are'} assigned to you."
    if content.due is not None:
        text += f" Your review is due by {content.due}."
    text += "\nYou give your first review before you see the report."
    due = f", due by {content.due}" if content.due is not None else ""
    return f"{proposals} to review{due}: {name}", f"{text}\n\n{url}"


def _shorten_line(text: str) -> str:
    """Return the text as a single line of limited length for a header, without control characters and marks of text
    direction."""
    return shorten(join_lines(text), _MAX_NAME_CHARS)
