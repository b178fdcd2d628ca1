"""`assayer mcp --local`: tools for an agent over stdio, with the SDK's own client, without a running service."""

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters

from tests.contract.api.mcp_clients import call_tool
from tests.e2e.program import IDEAS, Homes, Program, run_simulator
from tests.fork_server import PROGRAM

IDEA = (IDEAS / "quote-then-abstain.md").read_text("utf-8")
OTHER = (IDEAS / "coral-acoustics.txt").read_text("utf-8")


@pytest.fixture(scope="module")
def program_with_simulator(homes: Homes) -> Iterator[Program]:
    with run_simulator(latency_mean=0) as simulated:
        yield homes.create_home("mcp-local").with_simulator(simulated)


@asynccontextmanager
async def _open_agent(program: Program, *options: str) -> AsyncIterator[Client]:
    own = {name: value for name, value in os.environ.items() if not name.startswith(("ASSAYER_", "OPENAI_"))}
    environment = {**own, "ASSAYER_HOME": str(program.home), **program.settings}
    server = StdioServerParameters(command=str(PROGRAM), args=["mcp", "--local", *options], env=environment)
    async with Client(server) as client:
        yield client


async def test_agent_evaluates_reads_searches_and_compares_without_a_service(program_with_simulator: Program) -> None:
    async with _open_agent(program_with_simulator) as agent:
        papers = await call_tool(agent, "search_papers", query="quotes in literature reviews", limit=3)
        suggested = await call_tool(agent, "suggest_references", idea=IDEA, limit=3)
        compared = await call_tool(agent, "compare", first=IDEA, second=OTHER, wait_seconds=120)
        evaluated = await call_tool(agent, "evaluate", idea=IDEA, wait_seconds=300)
        report = await call_tool(agent, "fetch_report", id=evaluated["id"])
    assert (len(papers["papers"]), len(suggested["papers"])) == (3, 3)
    assert (compared["state"], compared["outcomes"][0]["winner"]) in {
        ("succeeded", winner) for winner in ("first", "second", "tie")
    }
    assert evaluated["state"] == "succeeded", evaluated["problem"]
    assert evaluated["summary"]["scores"]
    assert report["text"].startswith("# Quote, Verify in Context")
    keys = await asyncio.to_thread(
        program_with_simulator.fetch_rows, "SELECT tenant, scopes, revoked_at FROM api_keys ORDER BY created_at"
    )
    assert [(key["tenant"], set(key["scopes"])) for key in keys] == [("mcp-local", {"read", "submit"})]
    assert all(key["revoked_at"] for key in keys)


@pytest.mark.slow
async def test_unfinished_evaluation_continues_at_the_next_start(homes: Homes) -> None:
    program = homes.create_home("mcp-local-twice")
    async with _open_agent(program) as agent:
        job = (await call_tool(agent, "evaluate", idea=IDEA, wait_seconds=0))["id"]
    async with _open_agent(program) as agent:
        evaluation = await call_tool(agent, "evaluation_status", id=job, wait_seconds=300)
        report = await call_tool(agent, "fetch_report", id=job)
    assert evaluation["state"] == "succeeded"
    async with _open_agent(program) as agent:
        assert await call_tool(agent, "fetch_report", id=job) == report


@pytest.mark.parametrize(
    ("options", "words"),
    [(("--local", "--http", "8766"), "over stdio only"), (("--model", "openai/gpt"), "requires --local")],
)
def test_contradicting_options_are_refused(options: tuple[str, ...], words: str, tmp_path: Path) -> None:
    result = Program(tmp_path).run("mcp", *options)
    assert (result.code, words in result.err) == (2, True)
