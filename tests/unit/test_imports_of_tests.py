"""No test module or helper imports from a test module: what tests share lives in helper modules and conftests."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]


def iterate_imports_from_tests(code: str) -> Iterator[str]:
    """Yield the test modules and conftests that Python code imports from."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            package = "." * node.level + (node.module or "")
            modules = [package, *(f"{package}.{alias.name}" for alias in node.names)]
        else:
            continue
        for module in modules:
            parts = module.split(".")
            if parts[0] in ("tests", "") and (parts[-1].startswith("test_") or parts[-1] == "conftest"):
                yield module


@pytest.mark.parametrize(
    "code",
    [
        "from tests.unit.test_names import ROOT",
        "from tests.unit import test_names",
        "import tests.unit.test_names",
        "def later():\n    from .test_names import ROOT",
        "from tests.conftest import run_folder",
    ],
)
def test_import_from_a_test_module_is_noticed(code: str) -> None:
    assert len(list(iterate_imports_from_tests(code))) == 1


@pytest.mark.parametrize("code", ["from tests.unit.judges import right", "from assayer.test_set import rows"])
def test_other_imports_are_allowed(code: str) -> None:
    assert list(iterate_imports_from_tests(code)) == []


def test_no_module_imports_from_a_test_module() -> None:
    imports = {
        path.relative_to(TESTS).as_posix(): modules
        for path in TESTS.rglob("*.py")
        if (modules := list(iterate_imports_from_tests(path.read_text("utf-8"))))
    }
    assert imports == {}
