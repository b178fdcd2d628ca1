"""Resolves assayer's wheel together with other packages of the field, one at a time, and prints a table of conflicts.

    python -m benchmarks.dependency_conflicts dist/assayer_research-*.whl paper-qa inspect-ai -- --offline

Nothing is installed. Without names it takes `PACKAGES`. What follows `--` is passed to `uv pip compile`, such as the
index to use. Each package is resolved alone and with the wheel. It conflicts if both together have no solution, or only
one with an older release of the package. It is unresolved, and says nothing about assayer, if it has no solution alone,
if the index lacks a release or a wheel that is needed, or if the resolver takes too long."""

import argparse
import re
import subprocess
import sys
from pathlib import Path
from typing import Literal, NamedTuple

PACKAGES = (
    *("accelerate", "anthropic", "arxiv", "autogen-agentchat", "bespokelabs-curator", "chromadb", "crewai", "dask"),
    *("datasets", "deepeval", "docling", "dspy", "fastmcp", "google-genai", "gradio", "haystack-ai", "inspect-ai"),
    *("instructor", "jupyter", "jupyterlab", "langchain", "langgraph", "litellm", "llama-index", "lm-eval", "mlflow"),
    *("openai", "openreview-py", "outlines", "paper-qa", "peft", "pyalex", "pydantic-ai", "pyzotero", "ragas"),
    *("semanticscholar", "smolagents", "spacy", "streamlit", "transformers", "trl", "vllm", "wandb"),
)
_TIMEOUT_SECONDS = 300
_INDEX_LACKS = re.compile(
    r"not found in the (?:cache|package registry|provided package locations)|network was disabled|"
    r"no wheels with a matching|not available on this|Failed to (?:fetch|download|read|extract|build)"
)
"""Parts of uv's messages about an index that lacks something, as opposed to requirements that exclude each other."""


class Resolution(NamedTuple):
    version: str
    """Version of the package; empty if there is no solution."""
    packages: int
    """Number of packages in the solution."""
    error: str


class Verdict(NamedTuple):
    kind: Literal["fits", "conflict", "unresolved"]
    reason: str = ""
    version: str = ""
    packages: int = 0


def resolve(package: str, requirements: str, options: list[str]) -> Resolution:
    """Resolve requirements, one a line, of which the package is one."""
    command = ["uv", "pip", "compile", "--no-header", "--no-annotate", *options, "-"]
    try:
        process = subprocess.run(
            command, input=requirements, capture_output=True, text=True, check=False, timeout=_TIMEOUT_SECONDS
        )
    except subprocess.TimeoutExpired:
        return Resolution("", 0, f"Failed to read an answer of uv within {_TIMEOUT_SECONDS} s")
    lines = [line for line in process.stdout.splitlines() if line]
    name = re.escape(package).replace(r"\-", "[-_.]")
    version = next((line.partition("==")[2].split()[0] for line in lines if re.match(rf"{name}==", line, re.I)), "")
    return Resolution(version, len(lines), "" if process.returncode == 0 else " ".join(process.stderr.split()))


def check_package(package: str, wheel: str, options: list[str]) -> Verdict:
    """Return whether the newest release of the package that can be had alone can be had with the wheel."""
    resolution_alone = resolve(package, package, options)
    if resolution_alone.error:
        return Verdict("unresolved", f"without assayer: {resolution_alone.error}")
    resolution_together = resolve(package, f"{wheel}\n{package}=={resolution_alone.version}", options)
    if not resolution_together.error:
        return Verdict("fits", "", resolution_together.version, resolution_together.packages)
    return Verdict(
        "unresolved" if _INDEX_LACKS.search(resolution_together.error) else "conflict",
        resolution_together.error,
        resolution_alone.version,
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", type=Path)
    parser.add_argument("packages", nargs="*")
    parser.add_argument("--extras", default="local,api,mcp,pandas,object-storage")
    separator_position = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    arguments, options = parser.parse_args(sys.argv[1:separator_position]), sys.argv[separator_position + 1 :]
    wheel = f"assayer-research[{arguments.extras}] @ {arguments.wheel.absolute().as_uri()}"
    if error := resolve("assayer-research", wheel, options).error:
        raise SystemExit(f"The wheel alone has no solution: {error}")
    print("| package | version | packages together | result |\n|---|---|---|---|")
    kinds = []
    for package in arguments.packages or PACKAGES:
        verdict = check_package(package, wheel, options)
        kinds.append(verdict.kind)
        result = f"{verdict.kind}: {verdict.reason}" if verdict.reason else verdict.kind
        print(f"| `{package}` | {verdict.version or '—'} | {verdict.packages or '—'} | {result} |", flush=True)
    conflicts = kinds.count("conflict")
    print(f"\n{kinds.count('fits')} fit, {conflicts} conflict, {kinds.count('unresolved')} unresolved.")
    return min(conflicts, 1)


if __name__ == "__main__":
    sys.exit(main())
