"""Accounts, pages, file names and initials of the authors, and works that they cite as theirs."""

import pytest

from assayer.blinding.blind import blind_idea
from assayer.ideas.parsing import parse_idea
from assayer.models import Idea

BODY = (
    "We propose to weigh the snow that lies on roofs and to compare it with what gauges in open fields report. A "
    "Kalman filter joins both series, as Osei and Brandt (2018) advise, and ML models rank the roofs by load."
)
AUTHORS = "Jacomine Verhaeghen and Maeve Lorrimer"
IDENTIFYING = {
    "page": ("See https://jverhaeghen.example.org and www.maeve-lorrimer.example.", ["jverh", "lorrimer"]),
    "handles": ("Follow @jverhaeghen or @maeve@social.example.", ["jverh", "@maeve"]),
    "labelled handles": (
        "GitHub: snowqueen42\nTwitter: @snowqueen\nWebsite: www.snow-queen.example",
        ["snow-queen", "snowqueen"],
    ),
    "code": ("The code is at github.com/jverhaeghen/snow and gitlab.com/mlorrimer.", ["jverh", "mlorr"]),
    "profile": (
        "See linkedin.com/in/jacomine-v-4b2 or https://bsky.app/profile/jverhaeghen.example.",
        ["jacomine", "jverh"],
    ),
    "file": (
        "Data: snow_verhaeghen_v2.csv, Verhaeghen-draft.docx, /home/verhaeghen/snow.",
        ["verhaeghen", "Verhaeghen"],
    ),
    "server": ("Get it from ftp://data.example.org/verhaeghen/snow.", ["verhaeghen"]),
    "address": ("Write to verhaeghen (at) example.org.", ["verhaeghen"]),
    "login": ("The code is held by jverhaeghen on GitHub; ORCID 0000 0002 1825 0097.", ["jverh", "1825"]),
    "telephone": ("Tel. 0491 / 123456 or 06 12 34 56 78, student no.: 2026012345", ["123456", "34 56"]),
    "verbs like terms": ("Verhaeghen models the flow, Verhaeghen will measure it.", ["Verhaeghen"]),
    "initials": ("J. V. and M. L. will weigh; J.V. will draw.", ["J. V.", "M. L.", "J.V."]),
    "contributions": ("JV conceived the study. MEL and JV wrote it. JV, ML: software.", ["JV"]),
    "three initials": ("Prof. Maeve Eve Lorrimer came; MEL and others meet. Later MEL draws.", ["MEL"]),
    "initials after a name": ("Jacomine Verhaeghen (JV) weighs. The rest: JV, 20 %.", ["JV"]),
    "short first name": ("Jac weighs the snow.", ["Jac"]),
    "handle": ("We post as @snowroofs on Mastodon, and @MaeveSnow too.", ["@snowroofs", "@MaeveSnow"]),
    "site": ("See https://jacomine.example.org for more.", ["jacomine"]),
    "page of the authors": ("Our project page is https://snow-on-roofs.example/team.", ["snow-on-roofs"]),
}


def blind_text(text: str) -> Idea:
    return blind_idea(parse_idea(f"# Snow on roofs\n\n{text}", "idea.md"))


@pytest.mark.parametrize(("sentence", "hidden"), IDENTIFYING.values(), ids=IDENTIFYING)
def test_accounts_files_and_initials_of_authors_are_masked(sentence: str, hidden: list[str]) -> None:
    text = blind_text(f"{AUTHORS}\n\n## Problem\n\n{BODY}\n\n{sentence}").text
    assert [words for words in hidden if words in text] == []
    assert BODY in text


@pytest.mark.parametrize(
    "sentence",
    [
        "J. V. Marchetti (2019) and M. L. Osei agree; Marchetti, J. V. wrote it.",
        "ML models and JV loops are used, and ML will help.",
        "We use a jump variance (JV) and a moving level (ML). Then JV is fitted.",
        "Use https://github.com/huggingface/transformers and the file snow_v2.csv.",
        "Load it with @dataclass, @click.command and @property; tag @v1.2.",
        "See https://www.example.org/snow and www.weather.example/data.",
        "GitHub: the code is public.\nTwitter: a network of posts.",
    ],
)
def test_other_initials_accounts_and_files_stay(sentence: str) -> None:
    assert sentence in blind_text(f"{AUTHORS}\n\n## Problem\n\n{BODY}\n\n{sentence}").text


LISTS = {
    "thesis": (
        "My doctoral thesis [2] covers this.",
        "[1] L. Haverkamp. Snow at depth. Ice, 2019.\n[2] J. Verhaeghen and M. Lorrimer. Ten roofs. Thesis, 2021.",
    ),
    "numbers": (
        "In our previous work [2] we weighed ten roofs. Others [1] weighed more.",
        "[1] L. Haverkamp and P. Osei. Snow at depth. Ice, 2019.\n[2] J. Verhaeghen and M. Lorrimer. Ten roofs. "
        "Ice, 2021.",
    ),
    "several numbers": (
        "We have shown earlier [2, 3] that ten roofs suffice.",
        "1. Haverkamp, L., Osei, P. (2019). Snow at depth. Ice.\n2. Verhaeghen, J. (2020). Ten roofs. Ice.\n"
        "3. Lorrimer, M. (2021). Nine roofs. Ice.",
    ),
}


@pytest.mark.parametrize(("sentence", "entries"), LISTS.values(), ids=LISTS)
def test_authors_of_works_cited_by_number_as_theirs_are_masked(sentence: str, entries: str) -> None:
    masked = blind_text(f"## Problem\n\n{BODY}\n\n{sentence} Verhaeghen will weigh.\n\n## References\n\n{entries}")
    assert "Verhaeghen" not in masked.whole_text
    assert "Lorrimer" not in masked.whole_text
    assert "Haverkamp" in masked.reference_list


def test_authors_of_other_works_cited_by_number_are_not_masked() -> None:
    entries = "[1] L. Haverkamp. Snow at depth. Ice, 2019.\n[2] P. Osei. Snow. Ice, 2018."
    sentence = "Unlike our previous model, that of Haverkamp [1] needs ice, and [2] needs none."
    masked = blind_text(f"## Problem\n\n{BODY} {sentence}\n\n## References\n\n{entries}")
    assert sentence in masked.text
    assert masked.reference_list == entries


@pytest.mark.parametrize(
    "sentence",
    [
        "As we showed in Verhaeghen (2020), ten roofs suffice.",
        "This extends our method (Verhaeghen & Lorrimer, 2021).",
        "Our earlier work, Verhaeghen and Lorrimer (2019), used nine.",
        "We extend Verhaeghen & Lorrimer (2023), where we weighed roofs.",
        "In earlier work by our group (Verhaeghen et al. 2021) roofs were cut.",
    ],
)
def test_authors_cited_by_name_as_the_authors_own_are_masked(sentence: str) -> None:
    text = blind_text(f"## Problem\n\n{BODY}\n\n{sentence} Cutting follows Brandvold (2018).").text
    assert "Verhaeghen" not in text
    assert "Brandvold (2018)" in text


@pytest.mark.parametrize(
    "sentence",
    [
        "Our model is a transformer [1], and our results agree with [2].",
        "We initialise our model (Devlin et al., 2019) and our system (Brandvold 2018) on text.",
        "Our earlier model was compared with that of Haverkamp [1].",
    ],
)
def test_authors_of_other_works_next_to_our_model_are_not_masked(sentence: str) -> None:
    entries = "[1] L. Haverkamp. Snow at depth. Ice, 2019.\n[2] P. Osei. Snow. Ice, 2018."
    masked = blind_text(f"## Problem\n\n{BODY} {sentence}\n\n## References\n\n{entries}")
    assert sentence in masked.text
    assert masked.reference_list == entries
