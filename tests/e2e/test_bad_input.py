"""Unusable input is refused immediately, in a single sentence that says what is wrong and what to do."""

import datetime as dt
import socket

import pytest

from tests.e2e.evaluations import Evaluated
from tests.e2e.program import IDEAS, Ended, Program, read_reports

# Whatever else the session needs is evaluated meanwhile.

GOOD = IDEAS / "quote-then-abstain.md"
NEVER = 1_000
"""Attempts, or seconds, that the program would not live to see: what waits for them is no refusal at once."""


def _get_refusal(result: Ended) -> str:
    """The one line of a refusal that came before any work."""
    assert result.code == 2
    assert result.out == ""
    assert "Traceback" not in result.err
    (line,) = result.err.splitlines()
    assert line.startswith("Error: ")
    return line.removeprefix("Error: ")


def _run_refused(program: Program, *arguments: object) -> str:
    return _get_refusal(program.run("evaluate", *(arguments or (GOOD,))))


def _find_closed_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def test_each_unusable_file_is_reported_with_its_reason(program: Program) -> None:
    folder = program.home / "ideas"
    folder.mkdir(exist_ok=True)
    (folder / "binary.txt").write_bytes(bytes(range(256)) * 40)
    (folder / "empty.txt").touch()
    (folder / "false.pdf").write_text("This is no PDF at all.")
    (folder / "long.txt").write_text("word " * 2_100_000)
    (folder / "short[bold].md").write_text("An idea.")
    (folder / "torn.json").write_text('{"title": "An idea"')
    (program.home / "slides.pptx").write_bytes(b"PK\x03\x04")
    result = program.run("evaluate", "ideas", "slides.pptx", "nowhere/idea.txt")
    assert (result.code, result.out) == (2, "")
    assert result.err.splitlines() == [
        "No report: ideas/binary.txt is not text: it contains binary data. Use plain text, Markdown, JSON or PDF.",
        "No report: ideas/empty.txt is empty. An idea needs a problem, a method and a way to test it, in words.",
        "No report: ideas/false.pdf is not a PDF: it does not begin with %PDF-. Export it as PDF.",
        "No report: ideas/long.txt has more than 10 MB. Shorten it, or pass one file per idea.",
        "No report: ideas/short[bold].md has 2 words; that is too short to be judged as an idea. Describe the problem, "
        "the method and the experiments in at least 20 words; a page is better.",
        "No report: ideas/torn.json is not valid JSON: Expecting ',' delimiter at line 1, column 20. "
        "Check quotes and commas.",
        "No report: slides.pptx has an unsupported format. "
        "Supported formats: .txt, .md, .tex, .html, .htm, .xml, .rtf, .ipynb, .pdf,"
        " .docx, .odt, .json, .jsonl, .ndjson, .csv, .tsv, .xlsx, .org, .rst, .adoc, .asciidoc.",
        "No report: nowhere/idea.txt does not exist.",
    ]
    assert not (program.home / "out").exists()


def test_proposal_without_content_after_masking_is_rejected_and_others_are_evaluated(program: Program) -> None:
    folder = program.home / "call"
    folder.mkdir()
    (folder / "good.md").write_bytes(GOOD.read_bytes())
    life = "Dr. Jane Roe has led the team for ten years and has won prizes for her work. " * 3
    (folder / "team.md").write_text(f"# Quote, then abstain\n\n## Team\n\n{life}", encoding="utf-8")
    result = program.run("evaluate", folder, "--out", "judged", "--format", "json")
    assert result.code == 1
    (line,) = (line for line in result.err.splitlines() if "team.md" in line)
    assert "says little about the idea: blind mode left 0 words of its text." in line
    assert list(read_reports(program.home / "judged")) == ["good"]


def test_unknown_method_is_rejected_with_available_methods(program: Program) -> None:
    methods_message = "Unknown method 'tarot'. Methods: review, scholareval, grapheval, innoeval, scicompanion, check."
    assert _run_refused(program, GOOD, "--method", "tarot") == methods_message


def test_invalid_cutoff_date_is_rejected_with_an_example(program: Program) -> None:
    message = _run_refused(program, GOOD, "--cutoff", "2024-02-30")
    assert message == "The cutoff '2024-02-30' is not a date. Write it as YYYY-MM-DD, for example 2024-09-30."


def test_cutoff_in_the_future_is_refused(program: Program) -> None:
    date = dt.date.today() + dt.timedelta(days=400)
    message = _run_refused(program, GOOD, "--cutoff", date)
    assert message == f"The cutoff {date} is in the future. Give a past date or omit it."


def test_unknown_format_is_rejected_with_available_formats(program: Program) -> None:
    result = program.run("evaluate", GOOD, "--format", "docx")
    assert result.code == 2
    assert "--format" in result.err
    assert all(kind in result.err for kind in ("docx", "html", "md", "json"))


def test_reports_folder_that_is_a_file_is_refused(program: Program) -> None:
    (program.home / "taken").touch()
    message = _run_refused(program, GOOD, "--out", "taken")
    assert message == "Reports cannot be written to taken: File exists. Choose a different folder with --out."


def test_missing_corpus_error_names_build_command(program: Program) -> None:
    message = _run_refused(program.with_settings(CORPUS__PATH=program.home / "none"))
    assert message.startswith(f"There is no corpus in {program.home / 'none'}. Build one: assayer corpus build PATH. ")


def test_corpus_built_with_another_embedding_model_is_refused_with_both_names(program: Program) -> None:
    message = _run_refused(program.with_settings(EMBEDDER__QUERY_PREFIX="query: "))
    built_with = "was built with the embedding model all-MiniLM-L6-v2 tokens=32 (384 dimensions)"
    assert f"{built_with}, but the configured model is all-MiniLM-L6-v2 query='query: ' tokens=32." in message
    assert "ASSAYER_EMBEDDER__MODEL" in message
    assert "assayer corpus build" in message


def test_unreachable_llm_endpoint_error_names_its_address(program: Program) -> None:
    address = f"http://127.0.0.1:{_find_closed_port()}/v1"
    message = _run_refused(program.with_settings(LLM__BASE_URL=address, LLM__MODEL="m", LLM__MAX_ATTEMPTS=NEVER))
    assert message.startswith(f"The LLM endpoint {address} is down: no connection")
    assert message.endswith("Check that it is running and that ASSAYER_LLM__BASE_URL is correct.")


def test_unreachable_database_error_names_its_address_without_password(program: Program) -> None:
    port = _find_closed_port()
    url = f"postgresql://me:sesame@127.0.0.1:{port}/ideas"
    message = _run_refused(
        program.with_settings(DATABASE__URL=url, DATABASE__CONNECT_SECONDS=1, DATABASE__PATIENCE_SECONDS=NEVER)
    )
    assert f"127.0.0.1:{port}/ideas is unreachable" in message
    assert "ASSAYER_DATABASE__URL" in message
    assert "sesame" not in message


def test_endpoint_without_a_model_is_refused(program: Program) -> None:
    message = _run_refused(program.with_settings(LLM__BASE_URL="http://127.0.0.1:9/v1"))
    assert message.startswith("ASSAYER_LLM__BASE_URL: no model is configured; set ASSAYER_LLM__MODEL.")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--model", "anthropic/m"], "ANTHROPIC_API_KEY is not set, but models from anthropic need it."),
        (["--model", "azure/m"], "AZURE_OPENAI_ENDPOINT is not set, but models from azure need it."),
        (["--model", "nobody/m"], "Unknown provider 'nobody' in the model name 'nobody/m'. Providers: openai,"),
        (["--local-model", "nothing.gguf"], "'nothing.gguf' is neither a model file nor an installed package."),
        (["--model", "vllm/m", "--local-model", "nothing.gguf"], "--model and --local-model cannot be used together."),
    ],
)
def test_unusable_model_option_is_rejected_with_reason(
    program: Program, options: list[str], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ANTHROPIC_API_KEY", "AZURE_OPENAI_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
    assert _run_refused(program, GOOD, *options).startswith(words)


def test_misspelt_setting_is_rejected_with_a_suggestion(program: Program) -> None:
    message = _run_refused(program.with_settings(LLM__MODLE="m"))
    assert message == "Unknown setting ASSAYER_LLM__MODLE. Did you mean ASSAYER_LLM__MODEL?"


def test_dollar_budget_without_a_price_is_refused(program: Program) -> None:
    message = _run_refused(program.with_settings(LLM__MODEL="m", LLM__API_KEY="k", EVALUATION__MAX_USD=1))
    assert message.startswith("The budget is in US dollars, but the price of model 'm' is unknown.")
    assert "ASSAYER_LLM__PRICES='{\"m\": [2.0, 8.0]}'" in message


def test_revoked_api_key_stops_run_and_keeps_finished_reports(revoked_run: Evaluated) -> None:
    assert revoked_run.ended.code == 1
    (line,) = revoked_run.ended.err.splitlines()
    assert line.startswith("Stopped before all ideas were evaluated. The LLM endpoint http://127.0.0.1:")
    assert "rejected the API key (401). Set ASSAYER_LLM__API_KEY" in line
    (report,) = read_reports(revoked_run.program.out)
    assert f"out/{report}.json" in revoked_run.ended.out
    (row,) = revoked_run.program.fetch_rows("SELECT count(*) AS done FROM evaluations")
    assert row["done"] == 1
