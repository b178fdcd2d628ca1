"""Every function that reads text from outside is known to the fuzzer, and reads hostile texts in time."""

import ast
import importlib
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from benchmarks.fuzzing.exempt import EXEMPT
from benchmarks.fuzzing.hostile import REPEATED
from benchmarks.fuzzing.readers import READERS, REFUSALS
from tests.unit.processor_time import filled, limited

__all__ = ["limited"]

CHARACTERS = 10_000
"""Of each run; what is quadratic in C shows in `python -m benchmarks.fuzzing`, whose texts are forty times as long."""
SECONDS = 1.0
"""Of the processor, for one run: what is linear takes a tenth of it."""
ROOT = Path(__file__).parents[2]
ROOMS = ("assayer", "workers", "orchestrator", "index", "cluster", "client/assayer_client")
TEXTS = {"str", "bytes", "BinaryIO"}
NAMES = {"abstract", "body", "content", "data", "document", "html", "idea", "passage", "pdf", "tei", "text", "words"}
"""Of arguments that hold a text wherever they stand."""


def public_functions_of_texts() -> Iterator[str]:
    """Those of the whole product that take a text or bytes first, or under a name of `NAMES`.

    Read from the sources: all modules at once are a minute's import."""
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.py")):
            tree = ast.parse(path.read_text("utf-8"))
            module = ".".join(path.relative_to((ROOT / room).parent).with_suffix("").parts).removesuffix(".__init__")
            exported = exports(tree)
            for node in tree.body:
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name in exported and takes(node):
                    yield f"{module}.{node.name}"


def exports(tree: ast.Module) -> set[str]:
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "__all__":
            return set(ast.literal_eval(node.value))
    return set()


def takes(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    given = [*function.args.posonlyargs, *function.args.args]
    return any(is_text(one) and (place == 0 or one.arg in NAMES) for place, one in enumerate(given))


def is_text(argument: ast.arg) -> bool:
    """Also a sequence of texts; a mapping or a function from texts is none."""
    parts = list(ast.walk(argument.annotation)) if argument.annotation else []
    names = {part.id for part in parts if isinstance(part, ast.Name)}
    return bool(names & TEXTS) and not names & {"Mapping", "Callable", "dict"}


def known() -> set[str]:
    return {name.partition(",")[0] for name in READERS}


def is_exempt(function: str) -> bool:
    """By itself, or with its module or a package around it."""
    parts = function.split(".")
    return any(".".join(parts[:length]) in EXEMPT for length in range(1, len(parts) + 1))


def test_each_function_that_reads_text_from_outside_stands_in_the_list_of_the_fuzzer() -> None:
    missing = {one for one in set(public_functions_of_texts()) - known() if not is_exempt(one)}
    assert not missing, (
        f"Add to READERS (benchmarks/fuzzing), or to EXEMPT with a reason (benchmarks/fuzzing/exempt.py): {missing}"
    )


def test_list_sees_functions_of_every_room() -> None:
    rooms = {one.partition(".")[0] for one in public_functions_of_texts()}
    assert rooms == {"assayer", "assayer_client", "cluster", "index", "orchestrator", "workers"}


def test_lists_name_nothing_that_is_gone() -> None:
    functions = set(public_functions_of_texts())
    for entry in EXEMPT:
        assert any(one == entry or one.startswith(f"{entry}.") for one in functions), entry
        assert entry not in known()
    for name in known():
        module, _, function = name.rpartition(".")
        assert callable(getattr(importlib.import_module(module), function))


@pytest.mark.parametrize("reader", READERS)
def test_reader_takes_time_that_grows_with_the_text(reader: str) -> None:
    for unit in REPEATED:
        signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
        with suppress(*REFUSALS):
            READERS[reader](filled(unit, characters=CHARACTERS))
