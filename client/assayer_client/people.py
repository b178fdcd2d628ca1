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


class MemberPatch(Body):
    """What is given replaces what is there."""

    name: str = ""
    email: str = ""
    affiliation: str = ""
    role: PersonRole = "reviewer"


class Member(Resource):
    name: str
    email: str
    affiliation: str = ""
    role: PersonRole
    id: str
    tenant: str
    signs_in: bool
    """They have a key of their own, or have signed in with an identity provider."""
    created_at: dt.datetime
    removed_at: dt.datetime | None


def invite(body: MemberBody) -> ApiCall[Member]:
    """Makes somebody a member; they sign in with an identity provider, or with a key of their own."""
    return ApiCall("POST", path("members"), reads(Member), body=body)


def members() -> ApiCall[Page[Member]]:
    """One's people, by name, removed ones included."""
    return ApiCall("GET", path("members"), reads(Page[Member]))


def change_member(member: str, body: MemberPatch) -> ApiCall[Member]:
    """A new role holds from the next request on."""
    return ApiCall("PATCH", path("members", member), reads(Member), body=body)


def remove_member(member: str) -> ApiCall[Member]:
    """Their keys and sessions end at once. Their opinions stay."""
    return ApiCall("DELETE", path("members", member), reads(Member))


def give_key(member: str) -> ApiCall[NewKey]:
    """A key with which a member signs in and acts; it takes the place of any that they had."""
    return ApiCall("POST", path("members", member, "key"), reads(NewKey))
