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


def _parse_findings(result: Ended) -> dict[str, tuple[str, str]]:
    """State and words of each finding."""
    findings = {}
    for line in result.out.splitlines():
        state, _, rest = line.partition(" ")
        name, _, text = rest.strip().partition(": ")
        findings[name] = (state, text)
    assert list(findings) == [
        "assayer",
        "data directory",
        "database",
        "corpus",
        "FAISS",
        "language model",
        *(["structured answers"] if "structured answers" in findings else []),
        "webhooks",
        "mail",
        *SERVICES,
        "GROBID",
    ]
    assert result.err == ""
    return findings


@pytest.fixture
def unconfigured_program(program: Program) -> Program:
    """Return the program without any settings, not even a corpus."""
    return Program(program.home)


def test_unconfigured_machine_passes_and_missing_services_are_listed(unconfigured_program: Program) -> None:
    result = unconfigured_program.run("doctor")
    findings = _parse_findings(result)
    assert result.code == 0
    assert findings["data directory"] == ("ok", f"{unconfigured_program.home} (ASSAYER_HOME).")
    assert findings["database"][0] == "ok"
    assert "PostgreSQL" in findings["database"][1]
    assert findings["corpus"][0] == "absent"
    assert findings["corpus"][1].startswith(
        f"There is no corpus in {unconfigured_program.home / 'corpus'}. Build one: "
    )
    assert findings["language model"][0] == "absent"
    assert "ASSAYER_LLM__MODEL" in findings["language model"][1]
    assert findings["mail"] == (
        "absent",
        "not configured; no email is sent. Set ASSAYER_MAIL__HOST and __SENDER.",
    )
    assert findings["webhooks"] == ("ok", "secrets are encrypted with a key in the data directory.")
    assert {findings[service][0] for service in (*SERVICES, "GROBID")} == {"absent"}


def test_working_llm_endpoint_is_reported_with_its_model(program: Program) -> None:
    with run_simulator(latency_mean=0) as simulated:
        result = program.with_simulator(simulated).run("doctor")
        findings = _parse_findings(result)
    assert result.code == 0
    assert findings["FAISS"] == ("ok", f"faiss-cpu {version('faiss-cpu')}, searches on the CPU.")
    assert findings["language model"] == ("ok", f"simulated at {simulated.base_url} answers.")
    assert findings["structured answers"][0] == "ok"
    assert re.fullmatch(
        r"JSON mode with a schema; the answer to the request with the largest schema is valid; [\d,]+ tokens in "
        r"[\d.]+ s \([\d,]+ tokens/s\)\. Context window: not stated\.",
        findings["structured answers"][1],
    )
    assert findings["corpus"][0] == "ok"
    assert "84 papers" in findings["corpus"][1]


def test_all_broken_services_are_reported_together(program: Program) -> None:
    with run_simulator(latency_mean=0, api_key="sk-right") as simulated:
        result = (
            program.with_simulator(simulated)
            .with_settings(EMBEDDER__MODEL="another", GROBID__URLS="http://127.0.0.1:9", CORPUS__DEVICE="cuda")
            .run("doctor")
        )
        findings = _parse_findings(result)
    assert result.code == 1
    assert findings["database"][0] == "ok"
    assert findings["corpus"][0] == "broken"
    assert "ASSAYER_EMBEDDER__MODEL" in findings["corpus"][1]
    assert findings["FAISS"][0] == "broken"
    assert "pip install 'assayer-research[gpu]'" in findings["FAISS"][1]
    assert findings["language model"] == (
        "broken",
        f"The LLM endpoint {simulated.base_url} rejected the API key (401). "
        "Set ASSAYER_LLM__API_KEY to a valid key for this endpoint, or check ASSAYER_LLM__BASE_URL.",
    )
    assert findings["GROBID"] == ("broken", "http://127.0.0.1:9 does not respond.")
    assert "sk-test" not in result.out


def test_external_services_are_checked_through_their_clients(program: Program) -> None:
    with OutsideWorld() as world:
        world.configure("crossref", down=True)
        result = program.with_settings(**build_source_settings(world)).run("doctor")
        findings = _parse_findings(result)
        request_counts = {
            name: world.read_stats(name).requests for name in ("semantic_scholar", "arxiv", "openalex", "unpaywall")
        }
    assert result.code == 1
    assert {findings[service] for service in SERVICES if service != "Crossref"} == {
        ("ok", f"{world.url(path)} responds.")
        for path in ("s2", "arxiv", "openalex", "unpaywall/v2", "serper", "github", "kaggle/api/v1", "datacite")
    }
    assert findings["Crossref"][0] == "broken"
    assert set(request_counts.values()) == {1}


async def test_mail_server_is_checked_without_sending_mail(program: Program) -> None:
    async with run_mail_server() as post:
        mail_settings = {
            "MAIL__HOST": "127.0.0.1",
            "MAIL__PORT": post.port,
            "MAIL__TLS": "off",
            "MAIL__SENDER": "assayer@example.org",
            "ACCESS__URL": "https://assayer.example.org",
        }
        result = await asyncio.to_thread(program.with_settings(**mail_settings).run, "doctor")
        broken = await asyncio.to_thread(
            program.with_settings(**mail_settings | {"MAIL__TLS": "starttls"}).run, "doctor"
        )
        unfit = await asyncio.to_thread(
            program.with_settings(**mail_settings | {"MAIL__SENDER": "nobody"}).run, "doctor"
        )
    address = f"127.0.0.1:{post.port}"
    words = f"{address} responds, not encrypted. Emails are sent from assayer@example.org."
    assert _parse_findings(result)["mail"] == ("ok", words)
    assert _parse_findings(broken)["mail"][0] == "broken"
    assert "ASSAYER_MAIL__HOST, ASSAYER_MAIL__PORT and ASSAYER_MAIL__TLS" in _parse_findings(broken)["mail"][1]
    assert broken.code == 1
    assert "ASSAYER_MAIL__SENDER is not a valid email address: 'nobody'" in _parse_findings(unfit)["mail"][1]
    assert not post.letters


def test_service_with_incomplete_settings_is_absent_and_names_missing_setting(program: Program) -> None:
    findings = _parse_findings(program.with_settings(UNPAYWALL__BASE_URL="http://127.0.0.1:9").run("doctor"))
    assert findings["Unpaywall"] == ("absent", "http://127.0.0.1:9 is not used without ASSAYER_UNPAYWALL__EMAIL.")


def test_unusable_home_directory_is_reported_with_remedy(program: Program) -> None:
    blocked = program.home / "blocked"
    blocked.write_text("a file where a folder should be")
    result = program.with_settings(HOME=blocked).run("doctor")
    findings = _parse_findings(result)
    assert result.code == 1
    assert findings["database"][0] == "broken"
    assert "Set ASSAYER_HOME to a writable directory." in findings["database"][1]
