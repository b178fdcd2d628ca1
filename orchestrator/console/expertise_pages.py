"""Pages `/console/expertise` (for the reviewer) and `/console/members/{id}/expertise` (for officers): a reviewer's
expertise and declared conflicts of interest."""

import re
from typing import Annotated

from fastapi import APIRouter, Form, Query
from pydantic import Field, ValidationError
from starlette.responses import Response

from assayer.models import Frozen
from assayer_client.expertise import Expertise, ExpertiseBody, ExpertiseOutcome
from orchestrator.console.page_context import Assigner, PageContext, Reviewer
from orchestrator.problems import HttpProblem, build_not_found_problem, require
from orchestrator.reviewing.models import Member, ReviewRefused
from orchestrator.services.members import get_member
from orchestrator.validation_wording import describe_validation_error
from orchestrator.web.path_parameters import PathId
from orchestrator.web.stored_expertise import store_expertise

router = APIRouter(prefix="/console", tags=["pages"], include_in_schema=False)

_Text = Annotated[str, Field(max_length=300_000)]
_OriginCall = Annotated[str | None, Query(max_length=64)]
_TITLES = {"keywords": "Keywords", "institutions": "Institutions", "people": "People", "papers": "Papers"}


class ExpertiseForm(Frozen, extra="ignore", defer_build=False):
    """The form's fields as typed."""

    version: Annotated[int, Field(ge=0)] = 0
    keywords: _Text = ""
    institutions: _Text = ""
    people: _Text = ""
    references: Annotated[str, Field(max_length=2_000_000)] = ""
    removed: Annotated[tuple[int, ...], Field(max_length=1_000)] = ()
    """Positions, in the stored list, of the papers to remove."""


@router.get("/expertise")
async def show_own_expertise(context: Reviewer) -> Response:
    """Show reviewers the form for their own expertise."""
    return await _render_form(context, await _get_own_member(context))


@router.post("/expertise")
async def change_own_expertise(context: Reviewer, form: Annotated[ExpertiseForm, Form()]) -> Response:
    return await _store_form(context, await _get_own_member(context), form)


@router.get("/members/{id}/expertise")
async def show_expertise(id: PathId, context: Assigner, call: _OriginCall = None) -> Response:
    """Show an officer the form for a reviewer. `call` is the call whose page the officer came from, if any."""
    return await _render_form(context, await _get_reviewer(context, id), call=call)


@router.post("/members/{id}/expertise")
async def change_expertise(
    id: PathId, context: Assigner, form: Annotated[ExpertiseForm, Form()], call: _OriginCall = None
) -> Response:
    return await _store_form(context, await _get_reviewer(context, id), form, call)


async def _get_own_member(context: PageContext) -> Member:
    return await get_member(context.services.members, context.tenant, context.caller.subject)


async def _get_reviewer(context: PageContext, id: str) -> Member:
    member = await get_member(context.services.members, context.tenant, id)
    if member.removed_at is not None or member.role != "reviewer":
        raise HttpProblem("conflict", f"{member.name} is not a reviewer.")
    return member


async def _store_form(context: PageContext, member: Member, form: ExpertiseForm, call: str | None = None) -> Response:
    """Store the form, then show either what was stored or why it could not be stored."""
    expertise = await _get_expertise(context, member)
    try:
        body = ExpertiseBody(
            version=form.version,
            keywords=_split_items(form.keywords, r"[\n,;]"),
            institutions=_split_items(form.institutions, r"[\n;]"),
            people=_split_items(form.people, r"[\n;]"),
            papers=tuple(paper for index, paper in enumerate(expertise.papers) if index not in form.removed),
            references=form.references,
        )
        outcome = await store_expertise(context.services, context.tenant, member, body, context.by)
    except ValidationError as error:
        first_error = error.errors(include_url=False)[0]
        name = str(first_error["loc"][0])
        fault = f"{_TITLES.get(name, name)}: {describe_validation_error(first_error)}"
        return await _render_form(context, member, form=form, fault=fault, call=call)
    except (HttpProblem, ReviewRefused) as refusal:
        return await _render_form(context, member, form=form, fault=str(refusal), call=call)
    return await _render_form(context, member, outcome=outcome, call=call)


async def _get_expertise(context: PageContext, member: Member) -> Expertise:
    return require(
        await context.reviewing.expertise.get(context.tenant, member.id), build_not_found_problem("member", member.id)
    )


async def _render_form(
    context: PageContext,
    member: Member,
    *,
    form: ExpertiseForm | None = None,
    fault: str = "",
    outcome: ExpertiseOutcome | None = None,
    call: str | None = None,
) -> Response:
    stored_expertise = outcome.expertise if outcome else await _get_expertise(context, member)
    shown_form = form or ExpertiseForm(
        version=stored_expertise.version,
        keywords="\n".join(stored_expertise.keywords),
        institutions="\n".join(stored_expertise.institutions),
        people="\n".join(stored_expertise.people),
    )
    is_own = context.caller.subject == member.id
    return context.render_page(
        "expertise.html",
        status=409 if fault else 200,
        member=member,
        own=is_own,
        here="/console/expertise" if is_own else f"/console/members/{member.id}/expertise",
        stored=stored_expertise,
        form=shown_form,
        fault=fault,
        outcome=outcome,
        call=await context.find_batch(call) if call else None,
    )


def _split_items(text: str, separator: str) -> tuple[str, ...]:
    """Split a text field into its distinct items, keeping their order."""
    return tuple(dict.fromkeys(item for part in re.split(separator, text) if (item := " ".join(part.split()))))
