"""Detection of author identity in every form of an idea, and of text that only resembles it."""

import pytest

from assayer.blinding.blind import blind_idea
from assayer.errors import InputError
from assayer.ideas.parsing import parse_idea
from assayer.models import BlindDefault, Idea, is_judged_blind

BODY = (
    "Language models state things that are not so, and readers cannot tell. We propose to quote first and to abstain "
    "where nothing can be quoted. We will measure how often a claim is borne out by what it cites, on two data sets."
)


def make_idea(text: str, title: str = "Quote, then abstain") -> Idea:
    return parse_idea(text, "idea.md", title)


def list_masked_kinds(masked: Idea) -> list[str]:
    assert masked.blinding is not None
    return sorted({item.kind for item in masked.blinding.masked})


BLOCKS = {
    "marks": "# Quote, then abstain\n\nAnna Schmidt¹*, Bo Li², Ngozi Eze¹\n¹University of Freiburg, ²ETH Zurich\n"
    "{anna.schmidt,eze}@uni-freiburg.de",
    "two lines": "# Quote, then abstain\n\nAnna Schmidt\nDepartment of Physics, University of Freiburg, Germany",
    "byline": "# Quote, then abstain\n\nby Anna Schmidt (University of Freiburg)",
    "bold": "# Quote, then abstain\n\n**Anna Schmidt**\n\n*Institute of Informatics, University of Freiburg*",
    "labels": "Title: Quote, then abstain\nPrincipal investigator: Prof. Dr. Anna Schmidt\n"
    "Host institution: University of Freiburg\nCareer stage: doctoral candidate",
    "bold labels": "# Quote, then abstain\n\n- **PI:** Anna Schmidt, PhD student\n- **Co-PI:** Bo Li\n"
    "- **Affiliation:** University of Freiburg\n- **E-mail:** anna.schmidt@uni-freiburg.de",
}


@pytest.mark.parametrize("block", BLOCKS.values(), ids=BLOCKS.keys())
def test_author_block_is_removed_completely(block: str) -> None:
    masked = blind_idea(make_idea(f"{block}\n\n## Abstract\n\n{BODY}"))
    for word in ("Anna", "Schmidt", "Freiburg", "Zurich", "Ngozi", "doctoral", "@", "["):
        assert word not in masked.text
    assert BODY in masked.text
    assert [section.title for section in masked.sections] == ["Abstract"]


SENTENCES = {
    "title": ("The work is led by Professor Anna Schmidt. Schmidt will hire two people.", ["Schmidt", "Professor"]),
    "my name": ("My name is Anna Schmidt and I have worked on this before.", ["Anna", "Schmidt"]),
    "at": ("The study will be carried out at the University of Freiburg.", ["Freiburg"]),
    "bare": ("Our group at MIT has the hardware.", ["MIT"]),
    "first person": ("I am a third-year PhD student at ETH Zurich.", ["PhD", "ETH", "Zurich"]),
    "grant": (
        "This work is funded by NSF grant IIS-1234567 and the ERC (grant agreement no. 101001234).",
        ["NSF", "1234567", "101001234"],
    ),
    "award": ("It began under award R01 GM123456.", ["GM123456"]),
    "mail": ("Write to anna.schmidt [at] uni-freiburg [dot] de.", ["anna", "freiburg"]),
    "orcid": ("See https://orcid.org/0000-0002-1825-0097.", ["0097", "orcid"]),
    "own work": ("In our previous work [Schmidt 2020] we began this; Schmidt et al. (2021) went on.", ["Schmidt"]),
    "own work, two": ("Our earlier study (Roe and Poe, 2019) found it. Poe (2020) did not.", ["Roe", "Poe"]),
    "thanks": (
        "## Acknowledgements\n\nWe thank Jane Roe for her help and the Acme Foundation for money.",
        ["Jane", "Acme"],
    ),
    "thanks, run in": ("Acknowledgements. We thank Jane Roe for her help.", ["Jane", "thank"]),
    "cv": ("## Curriculum vitae\n\n2012 PhD in physics\n2015 Award for young scientists", ["2012", "Award"]),
    "team": ("## Team\n\nDr. Jane Roe has led such work for ten years.", ["Jane", "ten years"]),
    "chinese": ("负责人：张伟\n单位：清华大学", ["张伟", "清华"]),
    "korean": ("Principal investigator: 김민수\n\n김민수 leads it, as 김민수는 has done before.", ["김민수"]),
    "japanese": ("氏名: 山田 太郎\n\n山田太郎 leads it, and 山田 has done so before.", ["山田", "太郎"]),
    "advisor": ("My advisor Jane Roe and my colleague Tom Poe built it.", ["Jane", "Roe", "Tom", "Poe"]),
    "advisor, unknown name": ("It began with my supervisor Xquil Zand in a seminar.", ["Xquil", "Zand"]),
    "advisor, hyphen": ("My advisor Ji-woo Ha built it, and Ha will help.", ["Ji-woo", "Ha"]),
    "in its script": (
        "The plan is Prof. Li Wei's (李伟). Dr. Li Wei (李伟) leads it, as 李伟 has before.",
        ["Wei", "李伟"],
    ),
    "korean, place": ("연구책임자: 김민수 (서울대학교)\n\n김민수 leads it.", ["김민수", "서울대학교"]),
    "place above person": ("- Institution: Zalando\n- PI: Jane Roe\n\nRoe leads it.", ["Zalando", "Roe"]),
    "regards": ("Kind regards,\nXquil Zand\n\nP.S. Zand leads it.", ["Kind", "Xquil", "Zand"]),
    "our lab": ("Our Stanford lab has the hardware.", ["Stanford"]),
    "we at": ("We at MIT have collected such data.", ["MIT"]),
    "account": ("See https://github.com/jane-roe/quote for more.", ["jane", "roe"]),
    "account, said": ("Our code is at https://github.com/qlab7/quote.", ["qlab7"]),
    "cited before": ("In (Roe 2020) we showed this; Roe (2021) went on.", ["Roe"]),
    "own paper": ("It rests on my paper (Roe & O'Brien, 2022).", ["Roe", "O'Brien"]),
    "money, thanked for": (
        "We thank the Acme Foundation for funding (grant ABC-12).",
        ["Acme", "ABC-12"],
    ),
    "money, held": ("I hold an ERC Starting Grant.", ["ERC", "Grant"]),
    "german grant": ("The project runs under DFG grant SCHM 2345/1-1.", ["SCHM", "2345"]),
    "mail, spelled out": ("**Contact:** jane DOT roe AT stanford DOT edu", ["jane", "roe", "stanford"]),
    "capitals": ("Prof. ANNA SCHMIDT leads it. Schmidt will go on, with A. Schmidt in charge.", ["SCHMIDT", "Schmidt"]),
    "capitals without dots": ("Prof. ALI YILMAZ leads it. Yılmaz will go on.", ["YILMAZ", "Yılmaz"]),
    "signature": ("Jane Roe\nFull professor, Stanford University", ["Jane", "Roe", "professor", "Stanford"]),
    "signature, unknown place": ("Jane Roe\nFull professor, Zalando", ["Jane", "Roe", "professor", "Zalando"]),
    "place in brackets": ("The data come from Xquil Zand (University of Oslo).", ["Xquil", "Zand", "Oslo"]),
}


@pytest.mark.parametrize(("sentence", "hidden"), SENTENCES.values(), ids=SENTENCES.keys())
def test_identifying_sentence_is_masked_and_reported(sentence: str, hidden: list[str]) -> None:
    masked = blind_idea(make_idea(f"## Problem\n\n{BODY}\n\n{sentence}\n\n## References\n\nDoe, J. (2019). A paper."))
    assert [word for word in hidden if word in masked.text] == []
    assert BODY in masked.text
    assert "Doe, J. (2019)" in masked.whole_text
    assert masked.blinding is not None
    masked_text = " ".join(item.text for item in masked.blinding.masked)
    assert [word for word in hidden if word not in masked_text] == []


def test_byline_after_opening_paragraph_is_removed() -> None:
    masked = blind_idea(make_idea(f"{BODY}\nJane Roe\nFull professor, Stanford University\n\n## Method\n\n{BODY}"))
    assert masked.text == f"{BODY}\n\n## Method\n\n{BODY}"


@pytest.mark.parametrize("family", ["Xu", "Ng", "Wu"])
def test_two_letter_surname_is_masked_when_used_alone(family: str) -> None:
    sentences = f"{family} proposed this in 2019. As {family} notes, it works with {family} in charge."
    masked = blind_idea(
        make_idea(f"# Quote, then abstain\n\nWei {family}\nTsinghua University\n\n## Problem\n\n{BODY} {sentences}")
    )
    assert masked.text.endswith("[name] proposed this in 2019. As [name] notes, it works with [name] in charge.")


def test_two_letter_surname_before_first_name_is_masked() -> None:
    masked = blind_idea(
        make_idea(f"## Problem\n\n{BODY}\n\nProf. Xu Weiming leads it. Xu has done so before, as Xu notes.")
    )
    assert masked.text.endswith("[name] leads it. [name] has done so before, as [name] notes.")


def test_surname_matching_a_chemical_symbol_is_not_masked_in_chemistry_text() -> None:
    sentence = "Anodes of lithium: Li plates at the surface."
    masked = blind_idea(
        make_idea(f"# Quote, then abstain\n\nBo Li\nTsinghua University\n\n## Problem\n\n{BODY} {sentence}")
    )
    assert masked.text.endswith(sentence)


TEXTS_WITH_NAME_AS_WORD = {
    "Kaiming He": "He will see. You may ask. He and others agree.",
    "Yi Ma": "The rock is of 120 Ma. It lies deep.",
    "Jane Roe": "ROE is a ratio. The ROE of firms differs.",
    "Sam Will": "Will it hold? Will is a word.",
}


@pytest.mark.parametrize(("author", "sentence"), TEXTS_WITH_NAME_AS_WORD.items(), ids=TEXTS_WITH_NAME_AS_WORD)
def test_words_units_and_abbreviations_matching_author_name_are_kept(author: str, sentence: str) -> None:
    masked = blind_idea(
        make_idea(f"# Quote, then abstain\n\n{author}\nUniversity of Oslo\n\n## Problem\n\n{BODY}\n\n{sentence}")
    )
    assert masked.text.endswith(sentence)


@pytest.mark.parametrize("block", ["ANNA SCHMIDT\nUniversity of Oslo", "Anna Schmidt\nUniversity of Oslo"])
def test_author_name_is_masked_in_any_capitalisation(block: str) -> None:
    sentences = (
        "Anna Schmidt will lead; Schmidt too. It is SCHMIDT, too. Gram-Schmidt and the Schmidt decomposition stay."
    )
    masked = blind_idea(make_idea(f"# Quote, then abstain\n\n{block}\n\n## Problem\n\n{BODY}\n\n{sentences}"))
    assert masked.text.endswith(
        "[name] will lead; [name] too. It is [name], too. Gram-Schmidt and the Schmidt decomposition stay."
    )


def test_proposal_title_and_section_titles_are_masked() -> None:
    heading = "Prior results at Stanford University under NSF grant IIS-1234567"
    title = "Prof. Jane Roe (Stanford University): Quoting under NSF grant IIS-1234567"
    masked = blind_idea(make_idea(f"## Problem\n\n{BODY} Roe began it.\n\n## {heading}\n\n{BODY}", title))
    assert masked.title == "[name] ([institution]): Quoting under [funding]"
    assert masked.sections[1].title == "Prior results at [institution] under [funding]"
    assert "Roe" not in masked.text


def test_text_after_reference_list_is_masked_and_list_is_kept() -> None:
    reference_text = (
        "Doe, J. (2019). A paper. Stanford University Press.\n\n2. Poe, A. (2018). Play. Cambridge University Press"
    )
    after = (
        "The study will be carried out at Stanford University under NSF grant IIS-1234567. Our group at MIT has GPUs."
    )
    masked = blind_idea(
        make_idea(f"## Problem\n\n{BODY}\n\n## References\n\n{reference_text}\n\n## Facilities\n\n{after}")
    )
    assert reference_text in masked.whole_text
    assert masked.text.endswith(
        "The study will be carried out at [institution] under [funding]. Our group at [institution] has GPUs."
    )


def test_removed_section_is_recorded_in_full() -> None:
    biography = "Dr. Jane Roe has led such work. " * 40
    masked = blind_idea(make_idea(f"## Problem\n\n{BODY}\n\n## Team\n\n{biography}"))
    assert masked.blinding is not None
    (cut,) = masked.blinding.masked
    assert cut.text == f"## Team {biography}".strip()


@pytest.mark.parametrize(
    "author_lines", ["## Team\n\nDr. Jane Roe has led such work for many years. ", "Author: Jane Roe, "]
)
def test_proposal_with_only_author_information_is_rejected(author_lines: str) -> None:
    with pytest.raises(InputError, match=r"idea\.md .* blind mode left \d+ words? of its text"):
        blind_idea(make_idea(f"# Quote, then abstain\n\n{author_lines}{'She has won prizes. ' * 8}"))


TEXTS_WITHOUT_AUTHORS = [
    "We train with Adam and compare Bayes estimators under a Gaussian prior.",
    "A Nash equilibrium exists, and by the Cauchy–Schwarz inequality the bound holds.",
    "The model is supervised by Contrastive Learning and supported by evidence from ablations.",
    "We use the Stanford Question Answering Dataset, MIT-BIH and the MIT License.",
    "Brown et al. (2020) and Vaswani et al. show that Transformers scale; see also Smith and Jones (2019).",
    "Previous work [Smith 2020] has shown this. Chain-of-Thought Prompting helps Large Language Models.",
    "Position: relative position encodings. Name: a label of each entity. PI: proportional–integral control.",
    "The team meets weekly. Students learn from peers, and graduate students annotate 500 sentences.",
    "OpenAI's GPT-4 and models from Google are compared; project 2025 of the roadmap is out of scope.",
    "PD Control and the Control group; 40 PD Patients, and Patients with tremor. Cache Miss Rate. Rate and latency.",
    "Ms Pacman is a game. Detection is measured by Acc@0.5, and code is available at github.com.",
    "We use https://github.com/huggingface/transformers and https://github.com/google-research/bert.",
]


@pytest.mark.parametrize("sentence", TEXTS_WITHOUT_AUTHORS)
def test_methods_data_sets_and_cited_authors_stay(sentence: str) -> None:
    text = f"# Quote, then abstain\n\n## Problem\n\n{BODY} {sentence}"
    masked = blind_idea(make_idea(text))
    assert masked.text == make_idea(text).text
    assert list_masked_kinds(masked) == []


LINES = [
    "Organization: Three parts",
    "- Lab: Mice with a knockout",
    "- Institution: Trust and cooperation",
    "- Phone: a smartphone with sensors",
    "Title: An AI scientist that quotes",
    "Role: a scientist asks",
    "Position: We hold that a scientist asks first",
]


@pytest.mark.parametrize("line", LINES)
def test_labelled_line_unrelated_to_people_is_kept(line: str) -> None:
    text = f"## Problem\n\n{BODY}\n\n{line}\n\n{BODY}"
    assert blind_idea(make_idea(text)).text == text


SECTIONS = [
    "## CV\n\nComputer vision has changed.",
    "## Contact\n\nContact mechanics of rough surfaces matter.",
    "## Funding\n\nVenture finance of start-ups depends on trust.",
    "## Background\n\nOnly PD Control is used. PD Control is old.",
    "## Profile\n\nThe profile of the flow is parabolic.",
    "## Team\n\nTeams of agents are formed anew.",
]


@pytest.mark.parametrize("section", SECTIONS)
def test_scientific_section_with_people_related_title_is_kept(section: str) -> None:
    text = f"## Problem\n\n{BODY}\n\n{section}"
    assert blind_idea(make_idea(text)).text == text


def test_only_the_name_is_masked_in_contact_section_about_science() -> None:
    sentences = "Prof. Hertz showed how spheres flatten. " + "The area grows with the load. " * 15
    masked = blind_idea(make_idea(f"## Problem\n\n{BODY}\n\n## Contact\n\n{sentences.strip()}"))
    assert masked.text.endswith("## Contact\n\n[name]" + sentences.strip().removeprefix("Prof. Hertz"))


def test_only_personal_details_are_masked_in_mixed_sections() -> None:
    sentences = "Dr. Semmelweis showed that hands matter. Write to anna@uni.de."
    partners = "Jane Roe (University of Oslo) rates the answers. The scores are means of three raters."
    masked = blind_idea(make_idea(f"## Problem\n\n{BODY}\n\n## Background\n\n{sentences}\n\n## Partners\n\n{partners}"))
    assert masked.text.endswith(
        "## Background\n\n[name] showed that hands matter. Write to [e-mail].\n\n"
        "## Partners\n\n[name] ([institution]) rates the answers. The scores are means of three raters."
    )


def test_author_name_is_masked_except_inside_method_name() -> None:
    text = (
        f"# Quote, then abstain\n\nJohn Nash\nPrinceton University\n\n## Problem\n\n{BODY} As Nash et al. (2019) show, "
        "a Nash equilibrium exists. J. Nash will lead it, with Nash's group.\n\n## References\n\n"
        "Nash, J. (2019). Games.\nDoe, A. (2018). Play."
    )
    masked = blind_idea(make_idea(text))
    assert "a Nash equilibrium exists" in masked.text
    assert masked.text.count("Nash") == 1
    assert "Doe, A. (2018). Play." in masked.whole_text


def test_masked_idea_keeps_its_id_and_unmasked_words() -> None:
    idea_without_names = make_idea(
        f"# Quote, then abstain\n\nAnna Schmidt, University of Freiburg\n\n## Problem\n\n{BODY}"
    )
    masked = blind_idea(idea_without_names)
    assert masked.id == idea_without_names.id
    assert (masked.own_words.title, masked.own_words.text) == (idea_without_names.title, idea_without_names.text)
    assert idea_without_names.own_words.text == idea_without_names.text


def test_ideas_differing_only_in_masked_text_share_judged_id() -> None:
    def blind_idea_by(author: str) -> Idea:
        return blind_idea(make_idea(f"# Quote, then abstain\n\n{author}\n\n## Problem\n\n{BODY}"))

    first = blind_idea_by("Anna Schmidt, doctoral candidate\nUniversity of Freiburg")
    second = blind_idea_by("Prof. Dr. Kwame Mensah\nMassachusetts Institute of Technology, Cambridge, MA 02139, USA")
    assert first.id != second.id
    assert (first.text, first.judged_id) == (second.text, second.judged_id)


def test_section_texts_are_masked_like_the_full_text() -> None:
    text = f"# Quote, then abstain\n\n## Problem\n\n{BODY} Dr. Jane Roe leads it.\n\n## Method\n\n"
    text += f"Roe et al. (2021) began it; {BODY}"
    masked = blind_idea(make_idea(text))
    assert len(masked.sections) == 2
    for section in masked.sections:
        assert "Roe" not in section.text
        assert section.text in masked.text


@pytest.mark.parametrize(
    ("requested", "default", "several", "blind"),
    [
        (None, "several", True, True),
        (None, "several", False, False),
        (None, "always", False, True),
        (None, "never", True, False),
        (True, "never", False, True),
        (False, "always", True, False),
    ],
)
def test_blind_option_in_request_overrides_default_setting(
    requested: bool | None, default: BlindDefault, several: bool, blind: bool
) -> None:
    assert is_judged_blind(requested, default, several=several) is blind
