"""The program ends in order when a supervisor asks it to."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.corpus_papers import REAL_PAPERS
from tests.polling import LONGEST_SECONDS, wait_until

pytestmark = pytest.mark.slow

_PROGRAM = Path(sys.executable).with_name("assayer")


def _ignore_interrupts() -> None:
    """Ignore interrupts, as a shell does for background processes of a script."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@pytest.mark.skipif(not REAL_PAPERS.exists(), reason="shared/data is not beside the project")
def test_background_corpus_build_stops_on_sigterm_and_publishes_nothing(tmp_path: Path) -> None:
    build = subprocess.Popen(
        [str(_PROGRAM), "corpus", "build", str(REAL_PAPERS)],
        env={"ASSAYER_HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "OMP_NUM_THREADS": "1"},
        preexec_fn=_ignore_interrupts,  # noqa: PLW1509 - the test's own process has one thread here
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        unfinished = "corpus/versions/unfinished-*"
        wait_until(lambda: any(tmp_path.glob(unfinished)) or build.poll() is not None)
        assert build.poll() is None
        build.terminate()
        assert build.wait(LONGEST_SECONDS) != 0
    finally:
        build.kill()
        build.wait()
    assert not (tmp_path / "corpus" / "current").exists()
    assert not list(tmp_path.glob("corpus/versions/*"))
