"""`assayer admin members`: manage a tenant's members."""

from typing import TYPE_CHECKING, Annotated

import typer

from assayer.errors import InputError
from assayer_client.people import PersonRole
from cluster.cli.batch.service_client import open_service_client
from cluster.cli.options import WithJson
from cluster.cli.terminal import print_json, print_remark, show_table

if TYPE_CHECKING:
    from assayer_client.people import Member

app = typer.Typer(help="Manage the people who work in the console, and their roles.", no_args_is_help=True)

Who = Annotated[str, typer.Argument(help="A member's id (mb_…) or email address.")]
Role = Annotated[PersonRole, typer.Option(help="owner, officer, reviewer or auditor.")]
Affiliation = Annotated[
    str, typer.Option(help="Institutions, separated by semicolons: the member gets no proposals from them.")
]


@app.command("invite")
def invite(
    name: Annotated[str, typer.Argument(help="Full name, as it would appear in a proposal.")],
    email: Annotated[str, typer.Argument(help="Email address of their account at your identity provider.")],
    role: Role = "reviewer",
    affiliation: Affiliation = "",
    key: Annotated[bool, typer.Option("--key", help="Also create a key for the member, and print it.")] = False,
    as_json: WithJson = False,
) -> None:
    """Add a member and print their id or, with --key, their key, which is shown only once."""
    from assayer_client.people import MemberBody

    with open_service_client() as client:
        member = client.members.invite(MemberBody(name=name, email=email, role=role, affiliation=affiliation))
        secret = client.members.create_key(member.id).secret if key else None
    if as_json:
        print_json({"member": member, "key": secret})
        return
    print_remark(f"{member.name} is now a member with the role {member.role}: {member.id}.")
    typer.echo(secret or member.id)


@app.command("list")
def list_members(as_json: WithJson = False) -> None:
    """List members by name, including former members."""
    with open_service_client() as client:
        members = client.members.list().items
    if as_json:
        print_json(members)
        return
    rows = [
        (member.id, member.name, member.email, member.role, member.affiliation, _state(member)) for member in members
    ]
    show_table(("id", "name", "e-mail", "role", "affiliation", "state"), rows)


@app.command("change")
def change(who: Who, role: Role, as_json: WithJson = False) -> None:
    """Change a member's role, effective from the next request."""
    from assayer_client.people import MemberPatch

    with open_service_client() as client:
        changed = client.members.update(_find_member_id(who, client.members.list().items), MemberPatch(role=role))
    print_remark(f"{changed.name} now has the role {changed.role}.")
    if as_json:
        print_json(changed)


@app.command("key")
def give_key(who: Who, as_json: WithJson = False) -> None:
    """Create a personal key for a member and print it once; it replaces any earlier key."""
    with open_service_client() as client:
        key = client.members.create_key(_find_member_id(who, client.members.list().items))
    print_remark("Pass it only to this member. It is shown only once:")
    if as_json:
        print_json(key)
    else:
        typer.echo(key.secret)


@app.command("remove")
def remove(who: Who, as_json: WithJson = False) -> None:
    """Remove a member. Their keys and sessions are revoked immediately; their opinions are kept."""
    with open_service_client() as client:
        removed_member = client.members.remove(_find_member_id(who, client.members.list().items))
    print_remark(f"{removed_member.name} is no longer a member.")
    if as_json:
        print_json(removed_member)


def _find_member_id(who: str, members: "tuple[Member, ...]") -> str:
    ids = [
        member.id
        for member in members
        if member.removed_at is None and who.lower() in (member.id, member.email.lower())
    ]
    if not ids:
        raise InputError(f"There is no member {who}.", "List them: assayer admin members list")
    return ids[0]


def _state(member: "Member") -> str:
    if member.removed_at is not None:
        return f"removed on {member.removed_at:%Y-%m-%d}"
    return "can sign in" if member.can_sign_in else "invited"
