"""Build the wheel: move the packages below `assayer._engine`, so that the wheel installs `assayer` only, and add the
files of `assayer example`.

In the repository, and in an editable installation, they stay at the top level. Reasons:
docs/adr/0075-a-wheel-with-one-package.md."""

import ast
import re
import shutil
from collections.abc import Collection, Iterator
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.command.egg_info import egg_info

MOVED_PACKAGES = ("assayer_client", "cluster", "index", "orchestrator", "workers")
PARENT_PACKAGE = "assayer._engine"
_DOTTED = re.compile(rf"((?:{'|'.join(MOVED_PACKAGES)})(?:\.\w+)+)(?::\w+)?")
"""Text that may name a module or, after a colon, one of its functions."""


EXAMPLES = ("corpus.jsonl", "ideas/quote-then-abstain.md")
_RELATIVE_LINK = re.compile(r"\[([^\]]+)\]\((?!https?://)[^)]*\)")


class BuildPy(build_py):
    """Copy the packages, then move them and add the examples."""

    def run(self) -> None:
        if not self.editable_mode:
            shutil.rmtree(self.build_lib, ignore_errors=True)  # of an earlier build
        super().run()
        if not self.editable_mode:
            move_packages(Path(self.build_lib))
            for name in EXAMPLES:
                target = Path(self.build_lib, *PARENT_PACKAGE.split("."), "examples", name)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(Path("examples", name), target)


class EggInfo(egg_info):
    """Write the metadata; of the top-level packages, which other tools attribute to this distribution, only ours."""

    def run(self) -> None:
        super().run()
        self.write_file("top-level names", f"{self.egg_info}/top_level.txt", "assayer\n")


def move_packages(build: Path) -> None:
    """Move the packages below their parent, and adapt all references to them. Raises ValueError if one cannot be
    adapted."""
    files = [file.relative_to(build) for file in build.rglob("*.py")]
    modules = {".".join(file.with_suffix("").parts).removesuffix(".__init__") for file in files}
    for file in files:
        (build / file).write_bytes(adapted((build / file).read_bytes(), modules, str(file)))
    parent = build.joinpath(*PARENT_PACKAGE.split("."))
    parent.mkdir()
    (parent / "__init__.py").write_text('"""Implementation of assayer, without promises: names may change."""\n')
    for package in MOVED_PACKAGES:
        shutil.move(build / package, parent / package)


def adapted(source: bytes, modules: Collection[str], file: str) -> bytes:
    """Return the source with the new names of the moved modules; no line is added or removed."""
    lines = source.splitlines(keepends=True)
    for line, column, name in sorted(references(source, modules, file), reverse=True):
        text = lines[line - 1]
        lines[line - 1] = text[:column] + text[column:].replace(name.encode(), f"{PARENT_PACKAGE}.{name}".encode(), 1)
    changed = b"".join(lines)
    if left := [*references(changed, modules, file)]:
        raise ValueError(f"{file}: references that cannot be adapted: {left}")
    return changed


def references(source: bytes, modules: Collection[str], file: str) -> Iterator[tuple[int, int, str]]:
    """Yield the line, the column and the name of each reference to a moved module: in an import, or in a string that
    consists of the name of a module. Raises ValueError for `import PACKAGE.MODULE`, whose later uses would be wrong."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and not node.level and _is_moved(node.module or ""):
            yield node.lineno, node.col_offset + len("from "), node.module or ""
        elif isinstance(node, ast.Import) and any(_is_moved(alias.name) for alias in node.names):
            raise ValueError(f"{file}:{node.lineno}: write `from PACKAGE import MODULE`")
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            named = _DOTTED.fullmatch(node.value)
            if named is not None and named[1] in modules:
                yield node.lineno, node.col_offset, node.value


def _is_moved(module: str) -> bool:
    return module.partition(".")[0] in MOVED_PACKAGES


def description() -> str:
    """Return the README without its relative links, which lead nowhere on the page of the package index."""
    return _RELATIVE_LINK.sub(r"\1", Path("README.md").read_text("utf-8"))


if __name__ == "__main__":
    setup(
        cmdclass={"build_py": BuildPy, "egg_info": EggInfo},
        long_description=description(),
        long_description_content_type="text/markdown",
    )
