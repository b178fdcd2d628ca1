"""Names and claims found in a title and an abstract without a model."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assayer.text.contents import MAX_CLAIMS, MAX_NAMES, Mention, contents_of, text_with_title
from assayer.text.names import normalise_name

TITLE = "HedgeNet: Graph Neural Networks for Counting Wild Bees"
ABSTRACT = (
    "Wild bees are hard to count. Building on BERT, we propose HedgeNet, which counts them in images by contrastive "
    "learning. Graph neural networks weigh what each camera saw. Our experiments show that HedgeNet finds a third more "
    "wild bees than transects do."
)


def index_mentions(title: str, abstract: str) -> dict[str, Mention]:
    return {mention.normalised: mention for mention in contents_of(title, abstract).mentions}


def test_named_techniques_are_methods_and_title_phrases_are_concepts() -> None:
    mentions = index_mentions(TITLE, ABSTRACT)
    kinds = {name: item.kind for name, item in mentions.items()}
    assert (
        kinds["hedgenet"] == kinds["bert"] == kinds["contrastive learning"] == kinds["graph neural network"] == "method"
    )
    assert kinds["counting wild bee"] == "concept"


def test_introduced_methods_are_distinguished_from_methods_built_on() -> None:
    mentions = index_mentions(TITLE, ABSTRACT)
    assert (mentions["hedgenet"].introduced, mentions["bert"].introduced) == (True, False)
    assert (mentions["bert"].built_on, mentions["graph neural network"].built_on) == (True, False)


def test_claims_are_sentences_stating_findings() -> None:
    contents = contents_of(TITLE, ABSTRACT)
    text = text_with_title(TITLE, ABSTRACT)
    assert [text[claim.start : claim.end].strip() for claim in contents.claims] == [
        ABSTRACT[ABSTRACT.index("Our exp") :]
    ]


def test_name_spelling_variants_are_counted_as_same_name() -> None:
    contents = contents_of("Graph Neural Networks", "We study a graph neural network. A Graph neural-network is slow.")
    assert [mention.normalised for mention in contents.mentions].count("graph neural network") == 1
    assert contents.mentions[0].name == "Graph Neural Networks"


@pytest.mark.parametrize(("title", "abstract"), [("X", "."), ("a", "我们研究蜜蜂。"), ("?", "\x00 \u202e [[[")])
def test_text_without_names_yields_no_mentions(title: str, abstract: str) -> None:
    assert contents_of(title, abstract).mentions == []


def test_names_and_claims_of_a_long_text_are_bounded() -> None:
    contents = contents_of("Names", " ".join(f"We show that METHOD{number} finds bees." for number in range(5_000)))
    assert len(contents.mentions) == MAX_NAMES
    assert len(contents.claims) == MAX_CLAIMS


@settings(max_examples=60, deadline=None)
@given(title=st.text(min_size=1, max_size=60), abstract=st.text(max_size=400))
def test_mentions_and_claims_point_to_positions_in_text(title: str, abstract: str) -> None:
    contents, text = contents_of(title, abstract), text_with_title(title, abstract)
    for mention in contents.mentions:
        assert mention.name in text[mention.sentence.start : mention.sentence.end]
        assert mention.normalised == normalise_name(mention.name)
    assert all(0 <= claim.start < claim.end <= len(text) for claim in contents.claims)
