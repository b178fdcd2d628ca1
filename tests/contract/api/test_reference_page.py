"""The page of the API in a real browser, under its policy: on a phone and on a desk, in the light and in the dark."""

from tests.contract.api.service import Service


async def test_api_reference_is_public_and_its_policy_forbids_scripts(service: Service) -> None:
    async with service.open_client() as anonymous:
        answer, document = await anonymous.get("/docs"), await anonymous.get("/openapi.json")
    assert (answer.status_code, document.status_code) == (200, 200)
    assert answer.headers["content-type"].startswith("text/html")
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src" not in policy
    assert "unsafe" not in policy
    for path in document.json()["paths"]:
        assert f"<code>{path}</code>" in answer.text
