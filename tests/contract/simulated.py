"""Requests that tests of the simulator make, and their helpers."""

import json
from http.client import HTTPConnection
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field

from simulator.process import Simulator
from simulator.settings import Settings

if TYPE_CHECKING:
    import openai

QUESTION = """<idea 0a1b2c3d>
Soil microbes under drought: we sequence the rhizosphere of maize along a gradient of moisture.
</idea 0a1b2c3d>
[P1] Drought and roots (2019)
<paper 11111111>
Root exudates change within days of water stress. Community composition follows the exudates.
</paper 11111111>
[P2] Maize yields (2021)
<paper 22222222>
Yields fell by 12 percent in dry plots. Inoculation with native strains restored half of it.
</paper 22222222>
Judge each paper."""


class Judgement(BaseModel):
    model_config = ConfigDict(extra="forbid")

    label: str = Field(pattern=r"^P\d+$")
    reason: str = Field(description="Cites papers by label, e.g. [P3].")
    stance: Literal["supports", "contradicts"]
    score: int = Field(ge=0, le=5, strict=True)


class Judgements(BaseModel):
    model_config = ConfigDict(extra="forbid")

    judgements: list[Judgement]


FORMAT: Any = {
    "type": "json_schema",
    "json_schema": {"name": "judgements", "strict": True, "schema": Judgements.model_json_schema()},
}


def reset(process: Simulator) -> Simulator:
    """The running simulator, with default knobs, no latency and no history."""
    process.configure(**Settings(latency_mean=0).model_dump())
    process.reset()
    return process


def open_client(simulated: Simulator) -> "openai.OpenAI":
    import openai  # takes a second, which only those who open a client should pay

    return openai.OpenAI(base_url=simulated.base_url, api_key="sk-test", max_retries=0, timeout=60)


def ask(client: "openai.OpenAI", question: str = QUESTION, **options: Any) -> Any:
    defaults: dict[str, Any] = {"model": "simulated", "response_format": FORMAT}
    return client.chat.completions.create(
        messages=[{"role": "system", "content": "Answer in JSON."}, {"role": "user", "content": question}],
        **(defaults | options),
    )


def ask_for_text(client: "openai.OpenAI", question: str = QUESTION, **options: Any) -> str:
    content = ask(client, question, **options).choices[0].message.content
    assert isinstance(content, str)
    return content


def send_raw(simulated: Simulator, verb: str, path: str, body: str = "") -> tuple[int, Any]:
    address = urlsplit(simulated.base_url)
    connection = HTTPConnection(address.hostname or "", address.port, timeout=60)
    connection.request(verb, path, body, {"Authorization": "Bearer x"})
    response = connection.getresponse()
    status, content = response.status, json.loads(response.read())
    connection.close()
    return status, content
