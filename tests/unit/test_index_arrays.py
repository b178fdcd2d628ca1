"""NumPy files opened by several threads at once."""

import ast
import io
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from index.arrays import load_array, load_arrays


def test_array_headers_are_never_parsed_by_two_threads_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    np.save(tmp_path / "a.npy", np.arange(3))
    archive = io.BytesIO()
    np.savez(archive, a=np.arange(3))
    parsing: list[int] = []
    max_parsing = 0

    def literal_eval(text: str) -> object:
        nonlocal max_parsing
        parsing.append(1)
        max_parsing = max(max_parsing, len(parsing))
        time.sleep(0)
        parsing.pop()
        return parse(text)

    parse = ast.literal_eval
    monkeypatch.setattr(ast, "literal_eval", literal_eval)

    def load(_: int) -> int:
        return len(load_array(tmp_path / "a.npy")) + len(load_arrays(io.BytesIO(archive.getvalue()))["a"])

    with ThreadPoolExecutor(4) as threads:
        assert set(threads.map(load, range(200))) == {6}
    assert max_parsing == 1
