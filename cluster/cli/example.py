"""`assayer example`: generate a first report from a bundled sample, an invented idea and an invented corpus."""

import asyncio
import os
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from assayer.errors import Defect
from assayer_client.resources import DEFAULT_METHOD
from cluster.cli.corpus import build_from_records
from cluster.cli.evaluate import write_reports
from cluster.cli.options import WithJson, WithLocalModel, WithModel
from cluster.cli.output import make_folder
from cluster.cli.terminal import Outcome, print_markup
from cluster.local_model import ChosenModel, start_chosen_model
from cluster.settings import Settings
from cluster.whole_files import read_whole, write_whole
from workers.llm.providers import list_keys_set

_FILES = Path(__file__).parents[2] / "examples"
"""The repository's root folder; in a wheel, setup.py puts its files at the same relative location."""
_PAPERS, _IDEA = "corpus.jsonl", "ideas/quote-then-abstain.md"


def example(
    out: Annotated[Path, typer.Option(help="Folder for the papers, the idea, the corpus and the report.")] = Path(
        "example"
    ),
    model: WithModel = None,
    local_model: WithLocalModel = None,
    as_json: WithJson = False,
) -> None:
    """Evaluate an invented idea against 84 invented papers: a first report, without a key or a corpus of your own."""
    with start_chosen_model("laptop", model, local_model) as chosen:
        make_folder(out, "The example")
        papers, idea = out / Path(_PAPERS).name, out / Path(_IDEA).name
        for name, target in ((_PAPERS, papers), (_IDEA, idea)):
            write_whole(target, _read_content(name))
        settings = _set_corpus(chosen.settings, out / "corpus")
        # With --json, only the document about the report is printed.
        build_outcome = Outcome(as_json=as_json)
        asyncio.run(build_from_records([papers], None, False, settings, build_outcome))
        evaluated = ChosenModel(settings, chosen.local, chosen.speed, chosen.size)
        write_reports([idea], DEFAULT_METHOD, None, evaluated, None, out / "report", None, as_json=as_json)
    if not as_json:
        _show_next(settings, model, local_model)


def _show_next(settings: Settings, model: str | None, local_model: str | None) -> None:
    print_markup("")
    print_markup("The papers and the idea are invented. Next, use your own:")
    print_markup("  assayer corpus build library.bib")
    option = f" --model {model}" if model else f" --local-model {local_model}" if local_model else ""
    print_markup(f"  assayer evaluate proposal.md{escape(option)}")
    if settings.llm is None:
        keys = "".join(f" {variable} is set: --model {name}/…" for name, variable in list_keys_set(os.environ))
        print_markup(
            escape(f"Without a language model, a report has no scores.{keys or ' Add --model PROVIDER/NAME.'}")
        )


def _read_content(name: str) -> bytes:
    file = _FILES / name
    if not file.is_file():
        raise Defect(f"The example file {file} is missing.", "Reinstall assayer-research.")
    return read_whole(file)


def _set_corpus(settings: Settings, path: Path) -> Settings:
    """Return settings that use the example's own corpus folder and leave the user's corpus alone."""
    corpus = settings.corpus.model_copy(update={"path": path, "source": None})
    return settings.model_copy(update={"corpus": corpus})
