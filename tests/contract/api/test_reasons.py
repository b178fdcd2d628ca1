"""A reason is words: spaces are none, over HTTP and on pages; and what people judge is a claim of the report."""

import pytest

from tests.contract.api.console_forms import open_session, submit_form
from tests.contract.api.people import add_person
from tests.contract.api.problems import check_problem
from tests.contract.api.reviewed_calls import call_with_reviewer
from tests.contract.api.service import Service

CLAIM = "/summary/strengths/0"


@pytest.mark.parametrize("blank", ["   ", "\n\t\n", "\u00a0\u00a0\u00a0", " a "])
async def test_blank_or_too_short_reason_is_rejected(service: Service, blank: str) -> None:
    ada, _, (first,) = await call_with_reviewer(service, "# One")
    owner = await add_person(service, "owner", "Olga Owner")
    path = f"/v1/evaluations/{first}"
    assert (await ada.post(f"{path}/opinions", json={"score": 3})).status_code == 200
    judgement = {"point": CLAIM, "agrees": False, "reason": blank}
    check_problem(await ada.post(f"{path}/judgements", json=judgement), 422, "invalid-request")
    check_problem(await ada.post(f"{path}/conflicts", json={"reason": blank}), 422, "invalid-request")
    check_problem(await owner.post(f"{path}/override", json={"score": 3, "reason": blank}), 422, "invalid-request")
    assert (await owner.get("/v1/audit-log")).text.count("override") == 0
    async with open_session(service, ada.key) as browser:
        page = f"/console/review/{first}"
        assert (await submit_form(browser, page, "/conflict", reason=blank)).status_code == 422
        judging = {"point": CLAIM, "agrees": "false", "reason": blank}
        assert (await submit_form(browser, page, "/judgement", **judging)).status_code == 422


async def test_a_reason_is_kept_without_the_spaces_around_it(service: Service) -> None:
    _, _, (first,) = await call_with_reviewer(service, "# One")
    owner = await add_person(service, "owner", "Olga Owner")
    body = {"score": 3, "reason": "  It is\n urgent. "}
    answer = await owner.post(f"/v1/evaluations/{first}/override", json=body)
    assert answer.json()["reason"] == "It is\n urgent."


@pytest.mark.parametrize("point", ["/idea", "/notices/0", "/idea/blinding/masked/0", "/summary", "/references/0", "/x"])
async def test_only_claims_of_the_report_are_judged(service: Service, point: str) -> None:
    ada, _, (first,) = await call_with_reviewer(service, "# One")
    path = f"/v1/evaluations/{first}"
    await ada.post(f"{path}/opinions", json={"score": 3})
    report = (await ada.get(f"{path}/report")).json()
    assert report["notices"]
    judgement = {"point": point, "agrees": True, "reason": "It is so."}
    check_problem(await ada.post(f"{path}/judgements", json=judgement), 422, "invalid-request")
    good = await ada.post(f"{path}/judgements", json=judgement | {"point": CLAIM})
    assert good.status_code == 200, good.text
