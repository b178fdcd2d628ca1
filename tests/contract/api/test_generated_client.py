"""A client that others' generator made of the OpenAPI document asks the service, and reads what it answers."""

import asyncio
import importlib
import json
import sys
from pathlib import Path

import pytest
from openapi_python_generator.common import Formatter
from openapi_python_generator.generate_data import generate_data

from tests.contract.api.people import call_of, person
from tests.contract.api.service import Service, served

DOCUMENT = Path(__file__).parents[3] / "docs" / "openapi.json"


def _readable_document(folder: Path) -> Path:
    """Without the fields that begin with `_`, as a trainer's protocol has them: the generator writes them into models
    of pydantic, which takes none."""
    document = json.loads(DOCUMENT.read_text("utf-8"))
    for schema in document["components"]["schemas"].values():
        fields = schema.get("properties", {})
        for name in [name for name in fields if name.startswith("_")]:
            del fields[name]
            schema["required"] = [one for one in schema.get("required", ()) if one != name]
    readable = folder / "openapi.json"
    readable.write_text(json.dumps(document), "utf-8")
    return readable


async def test_a_generated_client_reads_calls_evaluations_and_people(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = await asyncio.to_thread(_readable_document, tmp_path)
    await asyncio.to_thread(generate_data, document, tmp_path / "generated_client", formatter=Formatter.NONE)
    monkeypatch.syspath_prepend(str(tmp_path))
    call, (evaluation, other) = await call_of(service, "# One", "# Two")
    await service.finish()
    owner = await person(service, "owner", "Olga Owner")
    try:
        config = importlib.import_module("generated_client.api_config")
        services = {
            name: importlib.import_module(f"generated_client.services.{name}_service")
            for name in ("batches", "evaluations", "members")
        }
        async with served(service.app) as url:
            asks = config.APIConfig(base_path=url, access_token=owner.key)
            batch = await asyncio.to_thread(services["batches"].batches_one, asks, id=call)
            listed = await asyncio.to_thread(services["evaluations"].evaluations_listed, asks, batch=call)
            people = await asyncio.to_thread(services["members"].members_listed, asks)
            with pytest.raises(config.HTTPException) as refused:
                await asyncio.to_thread(services["batches"].batches_one, asks, id="bt_none")
    finally:
        for name in [name for name in sys.modules if name.split(".")[0] == "generated_client"]:
            del sys.modules[name]
    assert (batch.rows, batch.states) == (2, {"done": 1, "queued": 1})
    assert {one.id for one in listed.items} == {evaluation, other}
    assert [one.email for one in people.items] == [owner.member.email]
    assert refused.value.status_code == 404
