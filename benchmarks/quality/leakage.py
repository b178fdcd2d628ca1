"""How often the leakage check speaks up, on texts that stand in for questions: `python -m benchmarks.quality.leakage
PAPERS.jsonl.gz`. No model is asked.
"""

import gzip
import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path

from assayer.curation.leakage import abstract_parts, measure_leakage
from assayer.curation.options import LeakageLimits
from assayer.text.sentences import sentence_spans

_PAPERS = 1_000
_SHORTEST = 500
"""Characters of an abstract."""


def main(path: Path) -> None:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        papers = [json.loads(line) for line in lines]
    usable = [one for one in papers if len(one.get("abstract") or "") >= _SHORTEST]
    drawn = random.Random(1).sample(usable, min(_PAPERS, len(usable)))
    found: dict[str, list[bool]] = {}
    for paper in drawn:
        for name, question, abstract in _stand_ins(paper["title"], paper["abstract"]):
            leaks = measure_leakage(question, paper["title"], abstract, LeakageLimits()).leaks
            found.setdefault(name, []).append(leaks)
    worded = sum(abstract_parts(one["abstract"]).found_by_wording for one in drawn)
    print(f"{worded} of {len(drawn)} abstracts have a sentence that proposes something")
    for name, told in found.items():
        print(f"{name}: {sum(told)} of {len(told)} ({sum(told) / len(told):.1%})")


def _stand_ins(title: str, abstract: str) -> Iterator[tuple[str, str, str]]:
    """Name, text in place of a question, abstract that it is held against."""
    parts = abstract_parts(abstract)
    method, problem = _sentences(parts.method), _sentences(parts.problem)
    words = method[0].split()
    kept = sorted(random.Random(title).sample(range(len(words)), (len(words) + 1) // 2))
    yield "first sentence of the method", method[0], abstract
    yield "half of its words", " ".join(words[at] for at in kept), abstract
    yield "title", title, abstract
    if problem:
        yield "problem", " ".join(problem), abstract
    if len(problem) > 1:
        yield "problem's last sentence, held out", problem[-1], abstract.replace(problem[-1], "")


def _sentences(text: str) -> list[str]:
    return [one for start, end in sentence_spans(text) if (one := text[start:end].strip())]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
