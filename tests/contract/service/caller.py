"""HTTP client of the service, as an outside user would be."""

from typing import Any

from httpx2 import AsyncClient, Response

from tests.polling import wait_until_async

IDEA = (
    "Quote, then abstain. Language models that answer from retrieved papers often cite what they have not read. We "
    "propose to let a model first copy the sentence on which its answer rests, to check by exact search that the "
    "sentence stands in the paper, and to abstain where it does not. We will measure how often citations hold and "
    "how many questions stay unanswered, on two public collections of questions about scientific papers."
)
_TERMINAL = {"succeeded", "failed", "cancelled"}


class Caller:
    def __init__(self, client: AsyncClient) -> None:
        self.client = client

    @staticmethod
    def connect_to(url: str, key: str) -> "Caller":
        return Caller(AsyncClient(base_url=url, headers={"Authorization": f"Bearer {key}"}, timeout=30))

    async def submit(self, text: str = IDEA, **body: Any) -> str:
        answer = await self.client.post("/v1/evaluations", json={"idea": {"text": text}, **body})
        assert answer.status_code == 202, answer.text
        return str(answer.json()["id"])

    async def get_evaluation(self, id: str) -> dict[str, Any]:
        answer = await self.client.get(f"/v1/evaluations/{id}")
        assert answer.status_code == 200, answer.text
        evaluation: dict[str, Any] = answer.json()
        return evaluation

    async def wait_until_ended(self, id: str) -> dict[str, Any]:
        return await wait_until_async(lambda: self.get_evaluation(id), lambda item: item["state"] in _TERMINAL)

    async def fetch_report(self, id: str) -> Response:
        return await self.client.get(f"/v1/evaluations/{id}/report", headers={"Accept": "application/json"})

    async def cancel(self, id: str) -> Response:
        return await self.client.delete(f"/v1/evaluations/{id}")
