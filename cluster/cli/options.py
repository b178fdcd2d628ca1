"""Options shared by several commands, and parsers for option values."""

import datetime as dt
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from pydantic import BaseModel, ValidationError

from assayer.errors import InputError
from cluster.cli.output import PageFormat, ReportFormat
from cluster.cli.standard_input import replace_standard_input
from cluster.settings import Profile, Settings


def parse_day_option(text: str | None, noun: str) -> dt.date | None:
    """Parse a date written as YYYY-MM-DD; None if there is no text. Raises InputError if it is malformed; `noun` names
    the date in the message."""
    if text is None:
        return None
    try:
        if re.fullmatch(r"\d{4}-\d{2}-\d{2}", text):
            return dt.date.fromisoformat(text)
    except ValueError:
        pass
    raise InputError(f"The {noun} {text!r} is not a date.", "Write it as YYYY-MM-DD, for example 2024-09-30.")


M = TypeVar("M", bound=BaseModel)


def validate(kind: type[M], values: Mapping[str, Any]) -> M:
    try:
        return kind(**values)
    except ValidationError as error:
        first_error = error.errors()[0]
        option_name = str(first_error["loc"][0]).replace("_", " ")
        raise InputError(f"The {option_name} is invalid: {first_error['msg']}.", "See --help.") from None


def split_at_commas(text: str | None) -> tuple[str, ...]:
    """Split the text at commas, skipping blank parts."""
    return tuple(part for part in map(str.strip, (text or "").split(",")) if part)


def update_section(settings: Settings, section: str, options: Mapping[str, Any]) -> Settings:
    """Return the settings with one section updated by the options that are not None. Raises InputError if a value is
    invalid."""
    current: BaseModel = getattr(settings, section)
    set_options = {name: value for name, value in options.items() if value is not None}
    return settings.model_copy(update={section: validate(type(current), {**current.model_dump(), **set_options})})


IDEAS_HELP = (
    "Ideas, each one of: a file (.txt .md .tex .html .rtf .pdf .docx .odt .json .jsonl .csv .xlsx), a folder of files, "
    "the folder or .zip of a TeX paper, an arXiv id, a DOI, the URL of a paper or OpenReview venue, or - for stdin."
)
IdeaPaths = Annotated[list[Path], typer.Argument(metavar="IDEAS", help=IDEAS_HELP, callback=replace_standard_input)]
JobIds = Annotated[list[str], typer.Argument(help="Ids: ev_…, bt_…, rk_…, cp_…, rw_…, cu_…, pr_… or sc_….")]

WithCutoff = Annotated[
    str | None,
    typer.Option(
        "--cutoff",
        help="YYYY-MM-DD: ignore literature published later. If an idea has its own, earlier cutoff, that one applies.",
    ),
]
WithFormats = Annotated[
    list[PageFormat] | None, typer.Option("--format", help="Format; repeat for several. By default all three.")
]
WithReportFormats = Annotated[
    list[ReportFormat] | None,
    typer.Option(
        "--format",
        help="Format; repeat for several. By default html, md and json. bibtex and ris contain the idea's own "
        "references, corrected from the matching records.",
    ),
]
WithReportFolder = Annotated[Path, typer.Option("--out", help="Folder for the reports.")]
WithBoard = Annotated[
    int | None,
    typer.Option(
        "--board",
        min=0,
        max=100,
        help="InnoEval: number of reviewers; 0 means one reviewer without a persona, as a control.",
    ),
]
WithBoardModels = Annotated[
    str | None,
    typer.Option(
        "--board-models",
        metavar="A,B,...",
        help="InnoEval: models at the endpoint, distributed among the reviewers; a service must allow them.",
    ),
]
WithCriteria = Annotated[
    Path | None,
    typer.Option(
        "--criteria",
        metavar="FILE.toml",
        help="Criteria in the call for proposals, each with name, question, anchors and weight.",
    ),
]
WithBlind = Annotated[
    bool | None,
    typer.Option(
        "--blind/--no-blind",
        help="Mask names, affiliations, acknowledgements and similar details before anything judges the ideas. "
        "Default: on for several ideas, off for one.",
        show_default=False,
    ),
]


WithJson = Annotated[bool, typer.Option("--json", help="Print one JSON document on standard output and nothing else.")]

WithProfile = Annotated[Profile, typer.Option("--profile", help="Named set of settings.")]

WithModel = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="PROVIDER/NAME",
        help="Language model, as one of openai/…, anthropic/…, gemini/…, azure/…, mistral/…, openrouter/…, deepseek/…, "
        "ollama/…, vllm/… or llamacpp/…, with the key in the provider's usual variable; or the name of a model at "
        "ASSAYER_LLM__BASE_URL.",
        show_default=False,
    ),
]

WithLocalModel = Annotated[
    str | None,
    typer.Option(
        "--local-model",
        metavar="FILE|PACKAGE",
        help="Run a GGUF model in llama.cpp on this machine while the command runs: this file, or the model in an "
        "installed package.",
        show_default=False,
    ),
]
