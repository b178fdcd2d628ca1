"""Guards before a debate: `python -m benchmarks.guards fit | families | honest | attacks FILE.jsonl`.

`fit` writes the weights. `families` leaves out one family of wordings after another and says how many of its wordings
are found by what was learned from the others. `honest` counts the honest texts that are stopped, on those that were not
learned from. `attacks` counts what is stopped of a file of probes: one JSON object a line, with kind, question,
abstract and idea.
"""

import argparse
import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from assayer.methods.debate.guards import stopped_by
from assayer.models.reward import RewardItem
from benchmarks.guards.fit import SEEN, calibrated, examples, fit, write
from benchmarks.guards.texts import HONEST, about_judges, abstracts, honest_ideas

_ABSTRACTS = 5_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("do", choices=("fit", "families", "honest", "attacks"))
    parser.add_argument("probes", nargs="?", type=Path)
    parser.add_argument("--show", action="store_true", help="print what was missed, or stopped though honest")
    asked = parser.parse_args()
    match asked.do:
        case "fit":
            write(calibrated(fit(examples())))
        case "families":
            _families()
        case "honest":
            _honest(asked.show)
        case _:
            _attacks(asked.probes, asked.show)


def _families() -> None:
    given = examples()
    for place, kind in enumerate(("orders", "nothings")):
        for family in sorted(set(given.family[given.kind == kind])):
            model = calibrated(fit(given, family))
            left = (given.family == family) & (given.kind == kind)
            found = (given.rows[left] @ model.weights[place] + model.bias[place] > 0).mean()
            print(f"{kind:9} {family:10} found {found:.3f} of {left.sum()}")


def _honest(show: bool) -> None:
    papers = abstracts()[SEEN:]
    texts = {**honest_ideas(), "abstracts": [one for _, one in papers[:_ABSTRACTS]]}
    texts["abstracts about judges, rewards, injections"] = about_judges(papers)
    texts["written for this, other languages"] = HONEST["foreign"]
    for name, ideas in texts.items():
        _count(name, [RewardItem(question=papers[at % 400][0], idea=idea, abstract=papers[at % 400 + 1][1])
                      for at, idea in enumerate(ideas)], show, honest=True)  # fmt: skip


def _attacks(path: Path, show: bool) -> None:
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    for kind in sorted({row["kind"] for row in rows}):
        probes = [RewardItem(question=row["question"], idea=row["idea"], abstract=row["abstract"])
                  for row in rows if row["kind"] == kind]  # fmt: skip
        _count(kind, probes, show, honest=False)


def _count(name: str, items: Iterable[RewardItem], show: bool, honest: bool) -> None:
    listed = list(items)
    stops = [stopped_by(one) for one in listed]
    guards = Counter(stop.name for stop in stops if stop)
    share = np.mean([stop is not None for stop in stops])
    print(f"{name}: {guards.total()} of {len(listed)} stopped ({share:.1%}) {dict(guards)}")
    if show:
        for item, stop in zip(listed, stops, strict=True):
            if (stop is not None) == honest:
                print("   ", stop.name if stop else "-", repr(item.idea[:700]))


if __name__ == "__main__":
    main()
