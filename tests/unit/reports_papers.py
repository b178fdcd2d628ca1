"""Invented papers that the reports of the tests cite, as corpus records."""

import datetime as dt

from assayer.models import Label, PaperId, Reference

PAPERS: dict[str, tuple[str, tuple[str, ...], str, str, str]] = {
    "P1": (
        "Replay buffers and the price of remembering",
        ("Ines Halvorsen", "Tomas Okafor"),
        "2021-06-01",
        "Workshop on Lifelong Learning 2021",
        "We revisit experience replay for language models that are fine-tuned on a sequence of tasks. A buffer of "
        "one percent of the past examples recovers 83 percent of the accuracy that plain fine-tuning loses. "
        "Gains vanish once the tasks share fewer than a tenth of their vocabulary.",
    ),
    "P2": (
        "Which examples does a model forget first?",
        ("Mei-Ling Duarte", "Piotr Adeyemi", "Sofia Lindqvist"),
        "2022-12-01",
        "Empirical Text Methods 2022",
        "We track single examples through twelve rounds of continual fine-tuning. Examples near the decision "
        "boundary are forgotten four times as often as the others, and the loss one round earlier predicts it "
        "with an AUROC of 0.81.",
    ),
    "P3": (
        "Loss-ranked rehearsal for continual learning",
        ("Jonas Whitfield", "Ama Serwaa", "Kenji Moriyama", "Lucia Ferrante", "Anders Bale", "Rita Cho", "O. Nwosu"),
        "2023-05-01",
        "Learning Representations 2023",
        "We rank stored examples by their current loss and rehearse the top of the list. On five text streams "
        "this halves forgetting at equal compute. Ranking every 200 steps is enough; ranking at every step adds "
        "cost and no accuracy.",
    ),
    "P4": (
        "Retrieval at inference time makes rehearsal unnecessary",
        ("Clara Benedetti", "Yusuf Rahmani"),
        "2023-12-01",
        "Neural Systems 2023",
        "A frozen language model with a growing index answers questions about new domains without any "
        "rehearsal. On streams of ten domains it forgets nothing, since nothing is overwritten, but it is 6.2 "
        "points behind fine-tuning on tasks that need new skills rather than new facts.",
    ),
    "P5": (
        "Low-rank adapters forget less",
        ("Hanna Vogel",),
        "2024-02-01",
        "Learning Representations 2024",
        "Adapters of rank eight lose 2.1 points over a stream of eight tasks where full fine-tuning loses 11.4. "
        "The gap closes when the rank grows.",
    ),
    "P6": (
        "Gradient conflict as a signal for memory selection",
        ("Daniel Abebe", "Ruth Castellanos"),
        "2023-07-01",
        "Machine Learning Proceedings 2023",
        "Memories whose gradients point against the current batch are the ones about to be lost. Selecting them "
        "outperforms uniform replay on vision streams; on text the advantage is within noise.",
    ),
    "P7": (
        "A critical look at forgetting benchmarks",
        ("Olu Fashola", "Marta Kowalczyk"),
        "2022-05-01",
        "Computational Language 2022",
        "Reported gains depend on the order of the tasks: over 24 random orders the ranking of seven methods "
        "changes in 17. We recommend at least ten orders and paired tests.",
    ),
    "P8": (
        "Small language models on a budget: a field guide",
        ("Nadia Petrova", "Sam Whitlock"),
        "2024-03-01",
        "Transactions on Practical Models 2024",
        "We fine-tune models from 60 to 700 million parameters on one consumer card. Throughput falls by a third "
        "when an example store larger than main memory is consulted at every step.",
    ),
}  # fmt: skip


def record(label: str) -> dict[str, object]:
    """One line of the corpus file."""
    title, authors, date, venue, abstract = PAPERS[label]
    return {
        "id": f"corpus-{label.lower()}",
        "title": title,
        "abstract": abstract,
        "authors": list(authors),
        "publication_date": date,
        "venue": venue,
        "url": f"https://papers.example.org/{label.lower()}.html",
    }


def make_reference(label: str) -> Reference:
    title, authors, date, venue, _ = PAPERS[label]
    return Reference(
        label=Label(label),
        id=PaperId(f"corpus-{label.lower()}"),
        title=title,
        authors=authors,
        publication_date=dt.date.fromisoformat(date),
        venue=venue,
        url=f"https://papers.example.org/{label.lower()}.html",
        source="corpus",
    )


def quote_abstract(label: str, start: str, words: int = 18) -> str:
    """Return words of the paper's abstract, from the first occurrence of `start` on."""
    abstract = PAPERS[label][4]
    return " ".join(abstract[abstract.index(start) :].split()[:words])
