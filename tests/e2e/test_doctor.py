"""`assayer doctor`: what is configured, what answers and what is missing, in plain words."""

import asyncio
import re
from importlib.metadata import version

import pytest

from simulator.outside.process import OutsideWorld
from tests.contract.mail_server import run_mail_server
from tests.e2e.program import Ended, Program, build_source_settings, run_simulator

SERVICES = (
    "Semantic Scholar",
    "arXiv",
    "OpenAlex",
    "Crossref",
    "Unpaywall",
    "Google Scholar",
    "web search",
    "GitHub",
    "Kaggle",
    "DataCite",
)
# Whatever else the session needs is evaluated meanwhile.


def _parse_findings(ended: Ended) -> dict[str, tuple[str, str]]:
    """State and words of each finding."""
    found = {}
    for line in ended.out.splitlines():
        state, _, rest = line.partition(" ")
        what, _, text = rest.strip().partition(": ")
        found[what] = (state, text)
    assert list(found) == [
        "assayer",
        "data directory",
        "database",
        "corpus",
        "FAISS",
        "language model",
        *(["structured answers"] if "structured answers" in found else []),
        "webhooks",
        "mail",
        *SERVICES,
        "GROBID",
    ]
    assert ended.err == ""
    return found


@pytest.fixture
def unconfigured_program(program: Program) -> Program:
    """Return the program without any settings, not even a corpus."""
    return Program(program.home)


def test_unconfigured_machine_passes_and_missing_services_are_listed(unconfigured_program: Program) -> None:
    ended = unconfigured_program.run("doctor")
    found = _parse_findings(ended)
    assert ended.code == 0
    assert found["data directory"] == ("ok", f"{unconfigured_program.home} (ASSAYER_HOME).")
    assert found["database"][0] == "ok"
    assert "PostgreSQL" in found["database"][1]
    assert found["corpus"][0] == "absent"
    assert found["corpus"][1].startswith(f"There is no corpus in {unconfigured_program.home / 'corpus'}. Build one: ")
    assert found["language model"][0] == "absent"
    assert "ASSAYER_LLM__MODEL" in found["language model"][1]
    assert found["mail"] == (
        "absent",
        "not configured; no email is sent. Set ASSAYER_MAIL__HOST and __SENDER.",
    )
    assert found["webhooks"] == ("ok", "secrets are encrypted with a key in the data directory.")
    assert {found[service][0] for service in (*SERVICES, "GROBID")} == {"absent"}


def test_working_llm_endpoint_is_reported_with_its_model(program: Program) -> None:
    with run_simulator(latency_mean=0) as simulated:
        ended = program.with_simulator(simulated).run("doctor")
        found = _parse_findings(ended)
    assert ended.code == 0
    assert found["FAISS"] == ("ok", f"faiss-cpu {version('faiss-cpu')}, searches on the CPU.")
    assert found["language model"] == ("ok", f"simulated at {simulated.base_url} answers.")
    assert found["structured answers"][0] == "ok"
    assert re.fullmatch(
        r"JSON mode with a schema; the answer to the request with the largest schema is valid; [\d,]+ tokens in "
        r"[\d.]+ s \([\d,]+ tokens/s\)\. Context window: not stated\.",
        found["structured answers"][1],
    )
    assert found["corpus"][0] == "ok"
    assert "84 papers" in found["corpus"][1]


def test_all_broken_services_are_reported_together(program: Program) -> None:
    with run_simulator(latency_mean=0, api_key="sk-right") as simulated:
        ended = (
            program.with_simulator(simulated)
            .with_settings(EMBEDDER__MODEL="another", GROBID__URLS="http://127.0.0.1:9", CORPUS__DEVICE="cuda")
            .run("doctor")
        )
        found = _parse_findings(ended)
    assert ended.code == 1
    assert found["database"][0] == "ok"
    assert found["corpus"][0] == "broken"
    assert "ASSAYER_EMBEDDER__MODEL" in found["corpus"][1]
    assert found["FAISS"][0] == "broken"
    assert "pip install 'assayer-research[gpu]'" in found["FAISS"][1]
    assert found["language model"] == (
        "broken",
        f"The LLM endpoint {simulated.base_url} rejected the API key (401). "
        "Set ASSAYER_LLM__API_KEY to a valid key for this endpoint, or check ASSAYER_LLM__BASE_URL.",
    )
    assert found["GROBID"] == ("broken", "http://127.0.0.1:9 does not respond.")
    assert "sk-test" not in ended.out


def test_external_services_are_checked_through_their_clients(program: Program) -> None:
    with OutsideWorld() as world:
        world.configure("crossref", down=True)
        ended = program.with_settings(**build_source_settings(world)).run("doctor")
        found = _parse_findings(ended)
        asked = {
            name: world.read_stats(name).requests for name in ("semantic_scholar", "arxiv", "openalex", "unpaywall")
        }
    assert ended.code == 1
    assert {found[service] for service in SERVICES if service != "Crossref"} == {
        ("ok", f"{world.url(path)} responds.")
        for path in ("s2", "arxiv", "openalex", "unpaywall/v2", "serper", "github", "kaggle/api/v1", "datacite")
    }
    assert found["Crossref"][0] == "broken"
    assert set(asked.values()) == {1}


async def test_mail_server_is_checked_without_sending_mail(program: Program) -> None:
    async with run_mail_server() as post:
        told = {
            "MAIL__HOST": "127.0.0.1",
            "MAIL__PORT": post.port,
            "MAIL__TLS": "off",
            "MAIL__SENDER": "assayer@example.org",
            "ACCESS__URL": "https://assayer.example.org",
        }
        ended = await asyncio.to_thread(program.with_settings(**told).run, "doctor")
        broken = await asyncio.to_thread(program.with_settings(**told | {"MAIL__TLS": "starttls"}).run, "doctor")
        unfit = await asyncio.to_thread(program.with_settings(**told | {"MAIL__SENDER": "nobody"}).run, "doctor")
    address = f"127.0.0.1:{post.port}"
    words = f"{address} responds, not encrypted. Emails are sent from assayer@example.org."
    assert _parse_findings(ended)["mail"] == ("ok", words)
    assert _parse_findings(broken)["mail"][0] == "broken"
    assert "ASSAYER_MAIL__HOST, ASSAYER_MAIL__PORT and ASSAYER_MAIL__TLS" in _parse_findings(broken)["mail"][1]
    assert broken.code == 1
    assert "ASSAYER_MAIL__SENDER is not a valid email address: 'nobody'" in _parse_findings(unfit)["mail"][1]
    assert not post.letters


def test_service_with_incomplete_settings_is_absent_and_names_missing_setting(program: Program) -> None:
    found = _parse_findings(program.with_settings(UNPAYWALL__BASE_URL="http://127.0.0.1:9").run("doctor"))
    assert found["Unpaywall"] == ("absent", "http://127.0.0.1:9 is not used without ASSAYER_UNPAYWALL__EMAIL.")


def test_unusable_home_directory_is_reported_with_remedy(program: Program) -> None:
    blocked = program.home / "blocked"
    blocked.write_text("a file where a folder should be")
    ended = program.with_settings(HOME=blocked).run("doctor")
    found = _parse_findings(ended)
    assert ended.code == 1
    assert found["database"][0] == "broken"
    assert "Set ASSAYER_HOME to a writable directory." in found["database"][1]
