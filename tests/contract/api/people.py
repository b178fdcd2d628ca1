"""Members of a tenant who ask the API with keys of their own, and a call that they review."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpx2

from orchestrator.access.api_keys import generate_key
from orchestrator.access.audit_chain import ActBy
from orchestrator.access.roles import MemberId, PersonRole
from orchestrator.jobs.models import TenantId
from orchestrator.reviewing.models import Member, NewMember
from tests.contract.api.service import ACME, Service
from tests.contract.store_jobs import OPERATOR

__all__ = ["OPERATOR", "Person", "asking", "call_of", "person"]

FILLER = "We predict which stored examples the next round of training will overwrite, and rehearse those first. " * 3


@dataclass(frozen=True)
class Person:
    member: Member
    key: str


async def person(
    service: Service, role: PersonRole, name: str = "Ada Byron", *, affiliation: str = "", tenant: TenantId = ACME
) -> Person:
    services, now = service.services, service.services.clock.now()
    email = f"{name.lower().replace(' ', '.')}@example.org"
    id = MemberId(services.new_id("mb"))
    new = NewMember(name=name, email=email, affiliation=affiliation, role=role)
    made = await services.members.invite(tenant, id, new, ActBy(OPERATOR, now))
    assert made is not None
    key = generate_key()
    await services.members.give_key(tenant, made.id, key, ActBy(OPERATOR, now))
    return Person(made, key.secret)


@asynccontextmanager
async def asking(service: Service, who: Person) -> AsyncIterator[httpx2.AsyncClient]:
    async with service.client(who.key) as client:
        yield client


async def call_of(service: Service, *texts: str, tenant: TenantId = ACME) -> tuple[str, list[str]]:
    """A batch of ideas with these words, and its evaluations in the rows' order."""
    form = [("file", (f"{place}.txt", f"{text}\n\n{FILLER}{place}".encode())) for place, text in enumerate(texts)]
    async with service.caller(tenant=tenant) as owner:
        made = await owner.post("/v1/batches", files=form)
        assert made.status_code == 202, made.text
        batch = made.json()["id"]
        listed = (await owner.get(f"/v1/batches/{batch}/evaluations")).json()["items"]
    return batch, [item["id"] for item in sorted(listed, key=lambda item: item["row"])]
