"""`assayer check`: report evidence about ideas, without a language model and without a judgement."""

from pathlib import Path

from assayer.methods.check import METHOD
from cluster.cli.evaluate import write_reports
from cluster.cli.options import (
    IdeaPaths,
    WithBlind,
    WithCutoff,
    WithJson,
    WithProfile,
    WithReportFolder,
    WithReportFormats,
)
from cluster.local_model import ChosenModel
from cluster.settings_loading import load_settings


def check(
    paths: IdeaPaths,
    cutoff: WithCutoff = None,
    formats: WithReportFormats = None,
    out: WithReportFolder = Path("out"),
    profile: WithProfile = "laptop",
    blind: WithBlind = None,
    as_json: WithJson = False,
) -> None:
    """Report evidence about ideas, with no generated text: closest work, limitations, references."""
    settings = load_settings(profile).model_copy(update={"llm": None})
    write_reports(paths, METHOD, cutoff, ChosenModel(settings), formats, out, blind, as_json=as_json)
