"""Forms in which a model may cite a work that it was not given, and texts that only resemble such forms."""

from collections.abc import Iterator
from typing import NamedTuple


class CitationForm(NamedTuple):
    group: str
    text: str


_NAMES = ("Smith", "García-Márquez", "O'Brien", "McDonald", "Müller", "Li")
_YEARS = ("1998", "2021", "2024b")
_AUTHOR_YEAR = (
    "by {a} ({y})",
    "{a} ({y}) showed",
    "{a} et al. ({y})",
    "{a} et al. [{y}]",
    "{a} et al., {y}",
    "[{a} et al., {y}]",
    "({a} et al. {y})",
    "({a}, {y})",
    "({a} and {b}, {y})",
    "({a} & {b}, {y})",
    "[{a} and {b}, {y}]",
    "(see {a}, {y}, p. 4)",
    "(e.g., {a}, {y}; {b} et al., 2019)",
    "{a} and {b} ({y})",
    "{a}, {b}, and Jones ({y})",
    "{a}, J., & {b}, K. ({y})",
    "{a} and colleagues",
    "{a} et al",
    "{a} & {b}, {y}",
    "({a}, in press)",
    "({a}, n.d.)",
)
_UNUSUAL_AUTHORS = (
    "van der Maaten and Hinton (2008)",
    "SMITH ET AL. (2021)",
    "(MÜLLER, 2015)",
    "[SLB+21]",
    "[Smith2021]",
    "[Smi21, Lee20]",
    "Ｓｍｉｔｈ ｅｔ ａｌ． （２０２１）",
    "Smith e\u200bt al. (20\u200b21)",
    "Ѕmith et аl. (2021)",
    "\\cite{smith2021}",
    "\\citep[see][]{smith2021}",
    "[@smith2021]",
    "Łukasz and Ørsted (2017)",
)
_IDENTIFIERS = (
    *(
        "arXiv:2301.12345",
        "arXiv 2301.12345v2",
        "ARXIV:2301.12345",
        "arXiv : 2301 . 12345",
        "2301.12345",
        "2301.12345v3",
    ),
    *(
        "ar\u200bXiv:2301.12345",
        "аrХiv:2301.12345",
        "arXiv：２３０１．１２３４５",
        "hep-th/9901001",
        "cs/0112017",
        "cs.CL/0701001",
    ),
    *(
        "doi:10.1000/182",
        "DOI 10.1145/3292500.3330701",
        "10.1145/3292500.3330701",
        "1０.1145/3292500",
        "PMID: 12345678",
    ),
    *(
        "PMC1234567",
        "ISBN 978-3-16-148410-0",
        "CorpusID:52967399",
    ),
)
_ADDRESSES = (
    *("https://example.org/x", "http://example.org", "HTTPS://EXAMPLE.ORG/X", "//example.org/x", "ftp://a.example/x"),
    *("www.example.com", "Www.Example.com", "example.com", "github.com/foo/bar", "doi.org/10.1/x", "example[.]com"),
    *(
        "hxxp://example.org",
        "someone@example.org",
        "https://exa\u200bmple.org",
        "ｈｔｔｐｓ：／／example.org",
        "javascript:alert(1)",
    ),
    *("[the paper](https://example.org/x)", "<https://example.org>"),
)
_TITLES = (
    "“Attention Is All You Need”",
    '"Deep Residual Learning for Image Recognition"',
    "«Language Models are Few-Shot Learners»",
    "*Language Models are Few-Shot Learners*",
)
_UNKNOWN_LABELS = (
    *(
        "[P901]",
        "[P902, P903]",
        "[P901; P902]",
        "[P1000]",
        "[P\u200b901]",
        "[P901 and P902]",
        "[P901-P903]",
        "[P901, p. 4]",
    ),
    *(
        "(P901)",
        "{P901}",
        "【P901】",
        "［Ｐ９０１］",
        "[Р901]",
        "[p901]",
        "[P 901]",
        "[Paper 901]",
        "[see P901]",
        "[𝐏𝟗𝟎𝟏]",
        "[P٩٠١]",
    ),
    *("⟦P901⟧", "[P901†]", "[#P901]", "[\u202eP901]", "[P₉₀₁]"),
)
_WRONG_LABELS = (
    *(
        "(P1)",
        "{P1}",
        "【P1】",
        "［Ｐ１］",
        "[Р1]",
        "[p1]",
        "[P 1]",
        "[P1 and P1]",
        "[P1-P1]",
        "[P1, p. 4]",
        "[see P1]",
    ),
    *("[Paper 1]", "<P1>", "⟦P1⟧", "[𝐏𝟏]", "[Ρ1]", "[P1†]"),
)

HONEST_TEXTS = (
    "In 2021 the rate was 40 %, and since March 2020 it fell.",
    "Scores in [0, 1] are clipped to the range [1, 5], on a scale [1-5].",
    "The 95 % CI [12, 18] holds for x[1] and A[12] alike.",
    "GPT-4 (2023) and ImageNet (2009) are named with a year.",
    "In May 2021, and again (in 2020), the COVID-19 (2020) data grew.",
    "P450 enzymes, the [P450 enzymes] of the liver, p53 and TP53 (p < 0.05).",
    "The CO2 and [Ca2+] levels, 24/7, and I/O at 10.5 GB/s; e.g. the U.S. in 2020.",
    "It runs under Node.js and scikit-learn 1.5.2 with and/or without a GPU.",
    "The [PAD] token, [MASK], f(x) = [a, b] and mAP@0.5 at IoU@0.75.",
    "Gradient Boosting Decision Trees and Random Forests are the baselines.",
    "It says “we cannot tell” of 1,024 cases, a “large and growing” share.",
    "(1) first collect, (2) then annotate; see step (3), Figure 2 and Table 4.",
    'Brackets that end otherwise (compare "]}", [1, 2}, {"a": [ in the original).',
    "Values lie in [1, 5], with a median of 3 [2, 5]; x[1][2] and f(x)[3] are elements.",
    "The models' answers and the readers' notes; a 'best of many worlds' of theirs, at P95 and P99.",
    "¹³C-labelled samples, 10² cells, R² of 0.9 and m² of ground.",
    "Medicare (2019) pays; the Transformer (2017) and ResNet (2015) are models.",
    "Batches of [64] run, layers of [128, 64] units, a grid of [1, 2, 3].",
    "Run train.py/main, or see src/models.py and config.yaml/train. It is state-of-the-art.It works.",
    "Python 3.11, CUDA 12.1 and numpy 1.26.4; 1,024 GPUs in 2021, at 10.5 GB/s, on 3.5e4 samples (n = 120).",
    "The Paris Agreement (2015), the World Cup (2022), Hurricane Katrina (2005), Brexit (2016), (Winter 2020).",
    "Between Monday and Friday, 2023, it rained in Germany and France, 2020 being wet.",
)
"""None of them cites anything."""


UNCOVERED_FORMS = (
    "[1]",
    "[12]",
    "[1-3]",
    "[1, 2]",
    "[12,14–16]",
    "[^1]",
    "[12, p. 5]",
    "ref. 12",
    "before¹²",
    "Smith (2021)",
    "(Smith 2021)",
    "Smith’s 2021 paper",
    "(smith, 2021)",
    "(OpenAI, 2023)",
    "Иванов и др. (2021)",
    "P19-1423",
    "2020.acl-main.12",
    "Nature 521:436-444",
    "the paper “attention is all you need”",
    "BERT: Pre-training of Deep Bidirectional Transformers for Language Understanding",
)
"""Forms that are not looked for: too much that cites nothing is written in the same way."""


def generate_citation_forms() -> Iterator[CitationForm]:
    """Several hundred, each once."""
    names = list(zip(_NAMES, (*_NAMES[1:], _NAMES[0]), strict=True))
    for form in _AUTHOR_YEAR:
        for number, (a, b) in enumerate(names):
            yield CitationForm("author and year", form.format(a=a, b=b, y=_YEARS[number % len(_YEARS)]))
    groups = {
        "unusual author and year": _UNUSUAL_AUTHORS,
        "identifier": _IDENTIFIERS,
        "address": _ADDRESSES,
        "title": _TITLES,
        "label never given": _UNKNOWN_LABELS,
        "label in another form": _WRONG_LABELS,
    }
    for group, texts in groups.items():
        yield from (CitationForm(group, text) for text in texts)
