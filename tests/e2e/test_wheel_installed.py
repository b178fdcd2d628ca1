"""The wheel, installed beside other packages named as the repository's folders, does what the checkout does."""

import json
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.request import urlopen

import pytest

from tests.e2e.program import CORPUS, IDEAS, ROOT, Homes, Program, read_reports, run_process
from tests.e2e.wheel import MOVED, install_wheel
from tests.fork_server import Ended
from tests.polling import LONGEST_SECONDS

pytestmark = pytest.mark.slow
IDEA = IDEAS / "quote-then-abstain.md"
FOREIGN = 'raise ImportError("This is the package of another project.")\n'


class Installed(NamedTuple):
    bin: Path
    home: Path
    """Data directory with the example corpus, and working directory."""

    def build_environment(self) -> dict[str, str]:
        own = {name: value for name, value in os.environ.items() if not name.startswith(("ASSAYER_", "PYTHON", "RAY_"))}
        return {**own, "ASSAYER_HOME": str(self.home), "ASSAYER_EMBEDDER__MAX_TOKENS": "32"}

    def run(self, program: str, *arguments: object, **settings: str) -> Ended:
        return run_process(
            [self.bin / program, *arguments], cwd=self.home, env={**self.build_environment(), **settings}
        )

    @contextmanager
    def serve(self, *options: str) -> Iterator[str]:
        """Yield the address of a service, which is asked to stop in the end."""
        with (self.home / "serve.log").open("w") as log:
            process = subprocess.Popen(
                [str(self.bin / "assayer"), "serve", "--port", "0", *options],
                cwd=self.home,
                env=self.build_environment(),
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        with process:
            try:
                assert process.stdout is not None
                lines = iter(process.stdout.readline, "")
                address = next((match[1] for line in lines if (match := re.search(r"listens at (\S+)", line))), None)
                assert address is not None, (self.home / "serve.log").read_text()
                yield address
                process.send_signal(signal.SIGTERM)
                process.wait(LONGEST_SECONDS)
            finally:
                process.kill()


@pytest.fixture(scope="module")
def installed_wheel(wheel_file: Path, homes: Homes, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installed]:
    folder = tmp_path_factory.mktemp("installed")
    packages = install_wheel(wheel_file, folder)
    for name in MOVED:
        (packages / name).mkdir()
        (packages / name / "__init__.py").write_text(FOREIGN)
    program = homes.create_bare_home("wheel")
    installed = Installed(folder / "bin", program.home)
    build = installed.run("assayer", "corpus", "build", CORPUS)
    assert build.code == 0, build.err
    yield installed
    program.stop_server()


def test_command_and_module_show_the_version(installed_wheel: Installed) -> None:
    assert installed_wheel.run("assayer", "--version") == (0, "assayer 0.1.0\n", "")
    assert installed_wheel.run("python", "-m", "assayer", "--version").out == "assayer 0.1.0\n"


def test_every_module_of_the_wheel_can_be_imported(installed_wheel: Installed) -> None:
    program = """
import importlib, pkgutil, assayer
names = [module.name for module in pkgutil.walk_packages(assayer.__path__, "assayer.")]
names = [name for name in names if not name.endswith(("__main__", "assayer.inspect_tasks"))]  # needs Inspect AI
for name in names:
    importlib.import_module(name)
print(len(names))
"""
    result = installed_wheel.run("python", "-W", "ignore", "-c", program)
    assert result.code == 0, result.err
    assert int(result.out) > 1000


def test_check_writes_the_report_that_the_checkout_writes(installed_wheel: Installed) -> None:
    result = installed_wheel.run("assayer", "check", IDEA)
    assert result.code == 0, result.err
    checkout = Program(installed_wheel.home).with_settings(
        CORPUS__PATH=installed_wheel.home / "corpus", EMBEDDER__MAX_TOKENS=32
    )
    assert checkout.run("check", IDEA, "--out", "expected").code == 0
    (report,), (expected,) = (read_reports(installed_wheel.home / name).values() for name in ("out", "expected"))
    assert {**report, "usage": None} == {**expected, "usage": None}


def test_example_gives_a_first_report_with_literature(installed_wheel: Installed) -> None:
    result = installed_wheel.run("assayer", "example", "--out", "first")
    assert result.code == 0, result.err
    (report,) = read_reports(installed_wheel.home / "first" / "report").values()
    assert report["references"]


def test_documents_are_read_by_child_processes(installed_wheel: Installed) -> None:
    text = "We count bees on strips of flowers. " * 5
    (installed_wheel.home / "idea.html").write_text(f"<h1>Bees</h1><p>{text}</p>")
    result = installed_wheel.run("assayer", "read", "idea.html")
    assert result.code == 0, result.err
    assert "Overview (35 words)" in result.out


def test_evaluation_in_several_processes(installed_wheel: Installed) -> None:
    result = installed_wheel.run("assayer", "check", IDEAS, "--out", "several", ASSAYER_EVALUATION__PROCESSES="2")
    assert result.code == 0, result.err
    assert len(read_reports(installed_wheel.home / "several")) == len(list(IDEAS.iterdir()))


def test_service_starts_and_stops_with_the_embedded_database(installed_wheel: Installed) -> None:
    with installed_wheel.serve() as address:
        assert urlopen(f"{address}/readyz", timeout=LONGEST_SECONDS).status == 200  # noqa: S310
        assert "<html" in urlopen(f"{address}/docs", timeout=LONGEST_SECONDS).read().decode()  # noqa: S310
        described = json.load(urlopen(f"{address}/openapi.json", timeout=LONGEST_SECONDS))  # noqa: S310
    published = json.loads((ROOT / "docs" / "openapi.json").read_text("utf-8"))
    assert described["paths"].keys() == published["paths"].keys()
    assert described["components"]["schemas"].keys() == published["components"]["schemas"].keys()


def test_service_starts_and_stops_on_ray(installed_wheel: Installed) -> None:
    with installed_wheel.serve("--ray") as address:
        assert urlopen(f"{address}/readyz", timeout=LONGEST_SECONDS).status == 200  # noqa: S310
