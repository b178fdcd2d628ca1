"""Sixty-four invented papers, for tests that need no real ones."""

import datetime as dt

from simulator.outside.records import NoticeKind, Record

_TASKS = (
    ("protein folding", "residue contacts", "CASP targets"),
    ("machine translation", "low-resource languages", "news test sets"),
    ("traffic forecasting", "road sensors", "city-scale loop detectors"),
    ("question answering", "retrieved passages", "open-domain trivia"),
    ("image segmentation", "organ boundaries", "abdominal scans"),
    ("code generation", "unit tests", "programming puzzles"),
    ("molecule design", "binding affinity", "docking benchmarks"),
    ("speech recognition", "noisy microphones", "read sentences"),
)
_METHODS = (
    ("Graph neural networks", "message passing over neighbours"),
    ("Sparse attention", "attention over a few learned positions"),
    ("Contrastive pretraining", "pairs of augmented views"),
    ("Diffusion models", "denoising in many small steps"),
    ("Reinforcement learning", "a reward that experts agree with"),
    ("Bayesian optimisation", "a surrogate with calibrated uncertainty"),
    ("Curriculum learning", "examples ordered from easy to hard"),
    ("Knowledge distillation", "a small student of a large teacher"),
)
_FAMILIES = ("Abara", "Brandt", "Chen", "Dahl", "Eze", "Fontaine", "García", "Haddad", "Ito", "Jovanović", "Kumar")
_GIVEN = ("Ada", "Bela", "Chidi", "Dora", "Emre", "Fei", "Greta", "Hugo", "Inès")
_NOTICES: dict[int, NoticeKind] = {9: "retracted", 20: "withdrawn", 33: "concern", 41: "retracted", 50: "withdrawn"}
_VENUES = ("NeurIPS", "ICML", "ACL", "EMNLP", "AISTATS")


def _choose_author(number: int, position: int) -> str:
    return f"{_GIVEN[(number + 2 * position) % 9]} {_FAMILIES[(3 * number + position) % 11]}"


def _generate_record(number: int) -> Record:
    (task, object_, data), (method, means) = _TASKS[number % 8], _METHODS[number // 8]
    year = 2013 + number * 5 % 11
    venue = _VENUES[number * 3 % len(_VENUES)]
    return Record(
        id=f"sample-{number:03}",
        title=f"{method} for {task}",
        abstract=(
            f"Progress in {task} is held back by {object_}. We study {method.lower()}, that is {means}, and ask when "
            f"they help. On {data} our model improves over strong baselines, most where {object_} are rare. "
            f"An ablation shows that {means} matters more than the size of the model. "
            f"We discuss what remains open in {task} and release our code."
        ),
        authors=tuple(_choose_author(number, position) for position in range(1 + number % 4)),
        year=year,
        publication_date=dt.date(year, 1 + number * 7 % 12, 1 + number * 11 % 28),
        venue=f"{venue} {year}",
        url=f"https://proceedings.example/{number:03}",
        keywords=(task, method.lower()),
        citation_count=number * 17 % 120,
        notice=_NOTICES.get(number),
    )


SAMPLE: tuple[Record, ...] = tuple(_generate_record(number) for number in range(64))
