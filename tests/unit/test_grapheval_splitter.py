import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assayer.citing.quotes import occurs_in
from assayer.methods.grapheval.viewpoints.splitter import refers_back, split_viewpoints
from tests.corpus_papers import REAL_PAPERS


def list_viewpoint_texts(text: str) -> list[str]:
    return [viewpoint.text for viewpoint in split_viewpoints(text, 100)]


def test_sentences_become_viewpoints_without_linking_words() -> None:
    texts = list_viewpoint_texts(
        "We train a network on maps. However, the network forgets old maps. Finally, we test it on roads."
    )
    assert texts == [
        "We train a network on maps.",
        "The network forgets old maps.",
        "We test it on roads.",
    ]


def test_repeated_statement_keeps_its_first_position() -> None:
    texts = list_viewpoint_texts(
        "Roads change after every flood. We train a network on maps. Roads change after every flood."
    )
    assert texts == ["Roads change after every flood.", "We train a network on maps."]


def test_only_clauses_with_their_own_subject_are_split() -> None:
    texts = list_viewpoint_texts(
        "We train the model on ten thousand maps, and we test it on maps of other countries; "
        "the score is the share of roads found, and of bridges."
    )
    assert texts == [
        "We train the model on ten thousand maps.",
        "We test it on maps of other countries.",
        "The score is the share of roads found, and of bridges.",
    ]


def test_pronoun_sentence_is_prefixed_with_previously_introduced_term() -> None:
    viewpoints = split_viewpoints("We propose MapNet, a network for road maps. It finds bridges that others miss.", 100)
    assert [item.text for item in viewpoints][1] == "MapNet: It finds bridges that others miss."
    assert viewpoints[1].words == "It finds bridges that others miss."
    assert viewpoints[1].self_contained


def test_back_reference_without_term_is_joined_with_previous_sentence() -> None:
    viewpoints = split_viewpoints("Roads change after every flood. This makes old maps of little use to drivers.", 100)
    assert [item.text for item in viewpoints] == [
        "Roads change after every flood. This makes old maps of little use to drivers."
    ]


@pytest.mark.parametrize(
    ("sentence", "leaning"),
    [
        ("It improves recall.", True),
        ("However, it improves recall.", True),
        ("This method improves recall.", True),
        ("It is known that maps age.", False),
        ("In this paper, we draw maps.", False),
        ("We draw maps.", False),
        ("Theyless is a name.", False),
    ],
)
def test_sentences_referring_back_are_recognised(sentence: str, leaning: bool) -> None:
    assert refers_back(sentence) is leaning


def test_headings_and_run_in_headings_are_not_viewpoints() -> None:
    method = "## Method\n\n**Experiment 1**\nWe draw ten maps of one town."
    texts = list_viewpoint_texts(f"# Plan\n\n{method}\n\n## Risks\n\n- The town may change.")
    assert texts == ["We draw ten maps of one town."]


@given(st.text(max_size=300))
def test_any_text_is_split_without_failing(text: str) -> None:
    for viewpoint in split_viewpoints(text, 20):
        assert viewpoint.text.strip()
        assert viewpoint.words.strip()


def test_viewpoints_of_real_abstracts_use_words_of_the_abstract() -> None:
    path = REAL_PAPERS.parents[1] / "iclr2017" / "submissions.jsonl.gz"
    if not path.is_file():
        pytest.skip(f"no real abstracts: {path} is not there")
    with gzip.open(path, "rt") as lines:
        abstracts = [json.loads(line)["abstract"] for line in lines][:60]
    viewpoints = [(abstract, viewpoint) for abstract in abstracts for viewpoint in split_viewpoints(abstract, 64)]
    assert len(viewpoints) >= 5 * len(abstracts)
    foreign_words = [
        item.words for abstract, item in viewpoints if len(item.words) >= 20 and not occurs_in(item.words, abstract)
    ]
    assert len(foreign_words) <= 0.01 * len(viewpoints), foreign_words[:3]
    assert sum(not item.self_contained for _, item in viewpoints) <= 0.05 * len(viewpoints)
