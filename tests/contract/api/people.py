"""Members of a tenant who ask the API with keys of their own, and a call that they review."""

import httpx2

from orchestrator.access.api_keys import generate_key
from orchestrator.access.audit_chain import ActBy
from orchestrator.access.roles import MemberId, PersonRole
from orchestrator.jobs.models import TenantId
from orchestrator.reviewing.models import Member, NewMember
from tests.contract.api.service import ACME, Service
from tests.contract.store_jobs import OPERATOR

__all__ = ["OPERATOR", "Person", "add_person", "call_of"]

FILLER = "We predict which stored examples the next round of training will overwrite, and rehearse those first. " * 3


class Person(httpx2.AsyncClient):
    """Member of a tenant and a client with their key."""

    def __init__(self, service: Service, member: Member, key: str) -> None:
        headers = {"Authorization": f"Bearer {key}"}
        super().__init__(transport=httpx2.ASGITransport(app=service.app), base_url="http://api", headers=headers)
        self.member, self.key = member, key


async def add_person(
    service: Service, role: PersonRole, name: str = "Ada Byron", *, affiliation: str = "", tenant: TenantId = ACME
) -> Person:
    services, now = service.services, service.services.clock.now()
    email = f"{name.lower().replace(' ', '.')}@example.org"
    id = MemberId(services.new_id("mb"))
    new_member = NewMember(name=name, email=email, affiliation=affiliation, role=role)
    member = await services.members.invite(tenant, id, new_member, ActBy(OPERATOR, now))
    assert member is not None
    key = generate_key()
    await services.members.give_key(tenant, member.id, key, ActBy(OPERATOR, now))
    return Person(service, member, key.secret)


async def call_of(service: Service, *texts: str, tenant: TenantId = ACME) -> tuple[str, list[str]]:
    """A batch of ideas with these words, and its evaluations in the rows' order."""
    form = [("file", (f"{place}.txt", f"{text}\n\n{FILLER}{place}".encode())) for place, text in enumerate(texts)]
    async with service.open_caller(tenant=tenant) as owner:
        answer = await owner.post("/v1/batches", files=form)
        assert answer.status_code == 202, answer.text
        batch = answer.json()["id"]
        evaluations = (await owner.get(f"/v1/batches/{batch}/evaluations")).json()["items"]
    return batch, [item["id"] for item in sorted(evaluations, key=lambda item: item["row"])]
