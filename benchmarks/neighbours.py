"""Resolves assayer's wheel beside other packages of the field, one at a time, and prints the conflicts as a table.

    python -m benchmarks.neighbours dist/assayer_research-0.1.0-py3-none-any.whl paper-qa inspect-ai -- --offline

Nothing is installed. Without names it takes `PACKAGES`. What follows `--` is passed to `uv pip compile`, such as the
index to use. A package of which only an older release fits than without assayer is a conflict as well."""

import argparse
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

PACKAGES = (
    *("accelerate", "anthropic", "arxiv", "autogen-agentchat", "bespokelabs-curator", "chromadb", "crewai", "dask"),
    *("datasets", "deepeval", "docling", "dspy", "fastmcp", "google-genai", "gradio", "haystack-ai", "inspect-ai"),
    *("instructor", "jupyter", "jupyterlab", "langchain", "langgraph", "litellm", "llama-index", "lm-eval", "mlflow"),
    *("openai", "openreview-py", "outlines", "paper-qa", "peft", "pyalex", "pydantic-ai", "pyzotero", "ragas"),
    *("semanticscholar", "smolagents", "spacy", "streamlit", "transformers", "trl", "vllm", "wandb"),
)


class Resolution(NamedTuple):
    version: str
    """Version of the package; empty if there is no solution."""
    packages: int
    """Number of packages in the solution."""
    error: str


def resolved(package: str, requirements: str, options: list[str]) -> Resolution:
    """Resolve requirements, one a line, of which the package is one."""
    command = ["uv", "pip", "compile", "--no-header", "--no-annotate", *options, "-"]
    ended = subprocess.run(command, input=requirements, capture_output=True, text=True, check=False)
    lines = [line for line in ended.stdout.splitlines() if line]
    name = re.escape(package).replace(r"\-", "[-_.]")
    version = next((line.partition("==")[2].split()[0] for line in lines if re.match(rf"{name}==", line, re.I)), "")
    return Resolution(version, len(lines), "" if ended.returncode == 0 else " ".join(ended.stderr.split()))


def conflict(package: str, wheel: str, options: list[str]) -> tuple[str, Resolution]:
    """Return why the package and the wheel do not go together, or an empty string, and the resolution of both."""
    alone, both = resolved(package, package, options), resolved(package, f"{wheel}\n{package}", options)
    if alone.error:
        return f"without assayer: {alone.error}", both
    if both.error or both.version == alone.version:
        return both.error, both
    return f"only {both.version} fits, instead of {alone.version}", both


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", type=Path)
    parser.add_argument("packages", nargs="*")
    parser.add_argument("--extras", default="local,mcp,pandas")
    place = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    arguments, options = parser.parse_args(sys.argv[1:place]), sys.argv[place + 1 :]
    wheel = f"assayer-research[{arguments.extras}] @ {arguments.wheel.absolute().as_uri()}"
    print("| package | version | packages together | conflict |\n|---|---|---|---|")
    conflicts = 0
    for package in arguments.packages or PACKAGES:
        why, both = conflict(package, wheel, options)
        conflicts += bool(why)
        print(f"| `{package}` | {both.version or '—'} | {both.packages} | {why or 'none'} |", flush=True)
    print(f"\n{conflicts} conflicts.")
    return min(conflicts, 1)


if __name__ == "__main__":
    sys.exit(main())
