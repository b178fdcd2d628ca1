"""Options shared by several commands, and parsing of values that people type."""

import datetime as dt
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from pydantic import BaseModel, ValidationError

from assayer.errors import InputError
from cluster.cli.output import PageFormat, ReportFormat
from cluster.cli.standard_input import with_standard_input
from cluster.settings import Profile, Settings


def day(text: str | None, noun: str) -> dt.date | None:
    """Parse a date written as YYYY-MM-DD; None if there is no text. Raises InputError, in which `noun` names the
    date."""
    if text is None:
        return None
    try:
        if re.fullmatch(r"\d{4}-\d{2}-\d{2}", text):
            return dt.date.fromisoformat(text)
    except ValueError:
        pass
    raise InputError(f"The {noun} {text!r} is not a date.", "Write it as YYYY-MM-DD, for example 2024-09-30.")


M = TypeVar("M", bound=BaseModel)


def validated(kind: type[M], values: Mapping[str, Any]) -> M:
    try:
        return kind(**values)
    except ValidationError as error:
        first = error.errors()[0]
        where = str(first["loc"][0]).replace("_", " ")
        raise InputError(f"The {where} cannot be used: {first['msg']}.", "See --help.") from None


def comma_separated(text: str | None) -> tuple[str, ...]:
    """Split the text at commas, leaving out blank parts."""
    return tuple(part for part in map(str.strip, (text or "").split(",")) if part)


def with_section(settings: Settings, section: str, options: Mapping[str, Any]) -> Settings:
    """Return the settings with one section updated by the options that are not None. Raises InputError."""
    current: BaseModel = getattr(settings, section)
    chosen = {name: value for name, value in options.items() if value is not None}
    return settings.model_copy(update={section: validated(type(current), {**current.model_dump(), **chosen})})


IDEAS_HELP = (
    "Ideas: files (.txt .md .tex .html .rtf .pdf .docx .odt .json .jsonl .csv .xlsx), folders of them, the folder or "
    ".zip of a TeX paper, arXiv ids, DOIs, addresses of papers or of OpenReview venues, or - for standard input."
)
IdeaPaths = Annotated[list[Path], typer.Argument(metavar="IDEAS", help=IDEAS_HELP, callback=with_standard_input)]
JobIds = Annotated[list[str], typer.Argument(help="Ids: ev_…, bt_…, rk_…, cp_…, rw_…, cu_…, pr_… or sc_….")]

WithCutoff = Annotated[
    str | None,
    typer.Option(
        "--cutoff",
        help="YYYY-MM-DD: ignore literature published later. An earlier cutoff of an idea itself still applies.",
    ),
]
WithFormats = Annotated[
    list[PageFormat] | None, typer.Option("--format", help="Format; repeat for several. All three by default.")
]
WithReportFormats = Annotated[
    list[ReportFormat] | None,
    typer.Option(
        "--format",
        help="Format; repeat for several. By default html, md and json. bibtex and ris hold the idea's own references, "
        "corrected by the records found.",
    ),
]
WithReportFolder = Annotated[Path, typer.Option("--out", help="Folder for the reports.")]
WithBoard = Annotated[
    int | None,
    typer.Option("--board", min=0, max=100, help="InnoEval: number of reviewers; 0 is the control without personas."),
]
WithBoardModels = Annotated[
    str | None,
    typer.Option(
        "--board-models",
        metavar="A,B,...",
        help="InnoEval: models of the endpoint among which the reviewers are distributed; a service must permit them.",
    ),
]
WithCriteria = Annotated[
    Path | None,
    typer.Option(
        "--criteria", metavar="FILE.toml", help="Criteria of the call, each with name, question, anchors, weight."
    ),
]
WithBlind = Annotated[
    bool | None,
    typer.Option(
        "--blind/--no-blind",
        help="Mask names, affiliations, acknowledgements and the like before anything judges the ideas. "
        "By default for several ideas, not for a single one.",
        show_default=False,
    ),
]


WithJson = Annotated[
    bool, typer.Option("--json", help="Print one JSON document on standard output, and nothing else there.")
]

WithProfile = Annotated[Profile, typer.Option("--profile", help="Named set of settings.")]

WithModel = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="PROVIDER/NAME",
        help="Language model: openai/…, anthropic/…, gemini/…, azure/…, mistral/…, openrouter/…, deepseek/…, "
        "ollama/…, vllm/… or llamacpp/…, with the key in the provider's own variable; or a name that "
        "ASSAYER_LLM__BASE_URL serves.",
        show_default=False,
    ),
]

WithLocalModel = Annotated[
    str | None,
    typer.Option(
        "--local-model",
        metavar="FILE|PACKAGE",
        help="Run this GGUF model, or the one in an installed package, in llama.cpp on this machine while the "
        "command runs.",
        show_default=False,
    ),
]
