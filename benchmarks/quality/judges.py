"""Judges that answer: the endpoint from the settings, the simulator, or a script whose score is known in advance."""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Literal

from benchmarks.quality.scripted import WAYS, ScriptedJudge, Way
from cluster.local_model import start_chosen_model
from cluster.settings import Settings
from cluster.settings_loading import load_settings
from simulator.process import Simulator

Judge = Literal["endpoint", "simulator", "recorded", "first", "nothing", "truth"]
JUDGES: tuple[Judge, ...] = ("endpoint", "simulator", "recorded", *WAYS)

_WAYS: Mapping[Judge, Way] = {way: way for way in WAYS}


@contextmanager
def open_settings(
    judge: Judge | None, folder: Path, latency: float, grades: Mapping[str, int], local_model: str | None = None
) -> Iterator[Settings]:
    """Yield the ordinary settings, with a local model if one is named. For a built-in judge, they have its address and
    a data directory in `folder`, so that invented answers never enter the cache of real ones."""
    if judge is None:
        yield load_settings().model_copy(update={"llm": None})
        return
    if judge == "endpoint":
        with start_chosen_model("laptop", None, local_model) as chosen_model:
            yield chosen_model.settings
        return
    with ExitStack() as stack:
        if judge in ("simulator", "recorded"):  # the simulator gets no requests if answers are recorded
            address = stack.enter_context(Simulator(latency_mean=latency)).base_url
        else:
            address = stack.enter_context(ScriptedJudge(_WAYS[judge], _write_grades(grades, folder))).base_url
        home = _create_folder(folder / f"home-{judge}")
        variables = {
            "HOME": str(home),
            "LLM__BASE_URL": address,
            "LLM__MODEL": "simulated",
            "LLM__API_KEY": "simulated",
        }
        if "ASSAYER_CORPUS__PATH" not in os.environ:
            variables["CORPUS__PATH"] = str(load_settings().corpus_path)
        environment_before = dict(os.environ)
        os.environ |= {f"ASSAYER_{name}": value for name, value in variables.items()}
        try:
            yield load_settings()
        finally:
            os.environ.clear()
            os.environ |= environment_before


def _write_grades(grades: Mapping[str, int], folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "grades.json"
    path.write_text(json.dumps(dict(grades)), "utf-8")
    return path


def _create_folder(folder: Path) -> Path:
    """Make a folder that the embedded database server can traverse: under root, it runs as another user."""
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o711)
    return folder.absolute()
