"""Pieces of a paper become its main sections, numbered or not."""

from workers.full_texts.grobid_tei import HeadedText, main_sections

ROOMS = "Birds sang. " * 3


def titles(*headings: tuple[str, str] | str) -> list[str]:
    pieces = [
        HeadedText("", heading, ROOMS) if isinstance(heading, str) else HeadedText(*heading, ROOMS)
        for heading in headings
    ]
    return [section.title for section in main_sections(pieces)]


def test_arabic_numbers_decide_whatever_the_titles_say() -> None:
    found = titles(("1", "Introduction"), ("2", "Where birds sing"), ("2.1", "Results of others"), ("3.", "Coda"))
    assert found == ["Introduction", "Where birds sing", "Coda"]


def test_roman_numbers_hold_lettered_subsections() -> None:
    found = titles("I. INTRODUCTION", "II. APPROACH", "A. Data", "B. Model", "III. EXPERIMENTS", "IV. CONCLUSION")
    assert found == ["INTRODUCTION", "APPROACH", "EXPERIMENTS", "CONCLUSION"]


def test_lettered_appendices_of_an_arabic_paper_are_sections() -> None:
    found = titles(("1", "Introduction"), ("2", "Method"), ("3", "Experiments"), ("A", "Proofs"), ("A.1", "Lemma"))
    assert found == ["Introduction", "Method", "Experiments", "Proofs"]


def test_unnumbered_heading_in_a_numbered_paper_opens_only_by_a_usual_name() -> None:
    found = titles("Abstract", ("1", "Introduction"), ("2", "Song"), "Datasets of note", ("3", "Fin"), "References")
    assert found == ["Abstract", "Introduction", "Song", "Fin", "References"]


def test_unnumbered_medical_paper_keeps_its_subsections_inside() -> None:
    found = titles(
        "Background", "Methods", "Participants", "Data analysis", "Results", "Song against silence", "Discussion",
        "Possible limitations", "Conclusions", "Acknowledgements",
    )  # fmt: skip
    assert found == ["Background", "Methods", "Results", "Discussion", "Conclusions", "Acknowledgements"]


def test_unnumbered_subject_after_the_introduction_is_a_section_of_its_own() -> None:
    assert titles("Introduction", "A grammar of song", "Experiments") == [
        "Introduction",
        "A grammar of song",
        "Experiments",
    ]


def test_subheadings_stand_on_lines_of_their_own_and_empty_sections_are_left_out() -> None:
    (methods,) = main_sections(
        [
            HeadedText("", "Introduction", ""),
            HeadedText("", "Methods", ""),
            HeadedText("", "Participants", "Ten."),
            HeadedText("", "", "More."),
        ]
    )
    assert (methods.title, methods.text) == ("Methods", "Participants\n\nTen.\n\nMore.")


def test_text_without_any_heading_is_one_section() -> None:
    (section,) = main_sections([HeadedText("", "", "Birds sang.")])
    assert section.title == "Text"
