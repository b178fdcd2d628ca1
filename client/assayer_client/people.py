"""People: members, and who of them may do what."""

import datetime as dt
from typing import Literal

from assayer_client.accounts import NewKey
from assayer_client.requests import ApiCall, path, reads
from assayer_client.resources import Body, Page, Resource

PersonRole = Literal["owner", "officer", "reviewer", "auditor"]


class MemberBody(Body):
    name: str
    email: str
    """By it they are known when they first sign in with an identity provider."""
    affiliation: str = ""
    """Institutions, separated by semicolons: proposals from there are not assigned to them."""
    role: PersonRole
    mails: bool = True
    """Whether they are told by mail: of the invitation, of proposals assigned to them, of calls of theirs that have
    finished. Only where the service sends mails."""


class MemberPatch(Body):
    """What is given replaces what is there."""

    name: str = ""
    email: str = ""
    affiliation: str = ""
    role: PersonRole = "reviewer"
    mails: bool = True


class Member(Resource):
    name: str
    email: str
    affiliation: str = ""
    role: PersonRole
    mails: bool = True
    """Whether the service tells them by mail what waits for them, where it sends mails."""
    id: str
    tenant: str
    signs_in: bool
    """They have a key of their own, or have signed in with an identity provider."""
    read_reports_until: dt.datetime | None = None
    """Until when another role let them read reports; they get no proposals of calls from before. None: no other role
    did, or one does now."""
    created_at: dt.datetime
    removed_at: dt.datetime | None


class Mail(Resource):
    """A mail to a member, as it stands. What it says is not kept."""

    id: str
    kind: Literal["call finished", "reviews assigned", "member invited"]
    batch: str | None
    """The call that it tells of."""
    state: Literal["pending", "sent", "dead"]
    """dead: it was given up, and `said` says why."""
    attempt: int
    """How often it was tried."""
    next_at: dt.datetime | None
    """When it is tried again; None unless it is pending."""
    said: str
    """How the last attempt ended, in words."""
    created_at: dt.datetime


def invite(body: MemberBody) -> ApiCall[Member]:
    """Makes somebody a member; they sign in with an identity provider, or with a key of their own."""
    return ApiCall("POST", path("members"), reads(Member), body=body)


def members() -> ApiCall[Page[Member]]:
    """One's people, by name, removed ones included."""
    return ApiCall("GET", path("members"), reads(Page[Member]))


def member_mails(member: str) -> ApiCall[Page[Mail]]:
    """Mails to one person, the newest first. Kept for a week."""
    return ApiCall("GET", path("members", member, "mails"), reads(Page[Mail]))


def change_member(member: str, body: MemberPatch) -> ApiCall[Member]:
    """A new role holds from the next request on."""
    return ApiCall("PATCH", path("members", member), reads(Member), body=body)


def remove_member(member: str) -> ApiCall[Member]:
    """Their keys and sessions end at once. Their opinions stay."""
    return ApiCall("DELETE", path("members", member), reads(Member))


def give_key(member: str) -> ApiCall[NewKey]:
    """A key with which a member signs in and acts; it takes the place of any that they had."""
    return ApiCall("POST", path("members", member, "key"), reads(NewKey))
