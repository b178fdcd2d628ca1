"""Pieces of a paper become its main sections, numbered or not."""

from workers.full_texts.grobid_tei import HeadedText, group_main_sections

TEXT = "Birds sang. " * 3


def list_section_titles(*headings: tuple[str, str] | str) -> list[str]:
    pieces = [
        HeadedText("", heading, TEXT) if isinstance(heading, str) else HeadedText(*heading, TEXT)
        for heading in headings
    ]
    return [section.title for section in group_main_sections(pieces)]


def test_arabic_numbering_determines_sections_regardless_of_titles() -> None:
    titles = list_section_titles(
        ("1", "Introduction"), ("2", "Where birds sing"), ("2.1", "Results of others"), ("3.", "Coda")
    )
    assert titles == ["Introduction", "Where birds sing", "Coda"]


def test_lettered_subsections_stay_inside_roman_numbered_sections() -> None:
    titles = list_section_titles(
        "I. INTRODUCTION", "II. APPROACH", "A. Data", "B. Model", "III. EXPERIMENTS", "IV. CONCLUSION"
    )
    assert titles == ["INTRODUCTION", "APPROACH", "EXPERIMENTS", "CONCLUSION"]


def test_lettered_appendices_of_an_arabic_paper_are_sections() -> None:
    titles = list_section_titles(
        ("1", "Introduction"), ("2", "Method"), ("3", "Experiments"), ("A", "Proofs"), ("A.1", "Lemma")
    )
    assert titles == ["Introduction", "Method", "Experiments", "Proofs"]


def test_unnumbered_heading_in_numbered_paper_starts_section_only_with_standard_name() -> None:
    titles = list_section_titles(
        "Abstract", ("1", "Introduction"), ("2", "Song"), "Datasets of note", ("3", "Fin"), "References"
    )
    assert titles == ["Abstract", "Introduction", "Song", "Fin", "References"]


def test_subsections_of_unnumbered_medical_paper_stay_in_their_section() -> None:
    titles = list_section_titles(
        "Background", "Methods", "Participants", "Data analysis", "Results", "Song against silence", "Discussion",
        "Possible limitations", "Conclusions", "Acknowledgements",
    )  # fmt: skip
    assert titles == ["Background", "Methods", "Results", "Discussion", "Conclusions", "Acknowledgements"]


def test_unnumbered_topic_heading_after_introduction_starts_new_section() -> None:
    assert list_section_titles("Introduction", "A grammar of song", "Experiments") == [
        "Introduction",
        "A grammar of song",
        "Experiments",
    ]


def test_subheadings_get_separate_lines_and_empty_sections_are_dropped() -> None:
    (methods,) = group_main_sections(
        [
            HeadedText("", "Introduction", ""),
            HeadedText("", "Methods", ""),
            HeadedText("", "Participants", "Ten."),
            HeadedText("", "", "More."),
        ]
    )
    assert (methods.title, methods.text) == ("Methods", "Participants\n\nTen.\n\nMore.")


def test_text_without_any_heading_is_one_section() -> None:
    (section,) = group_main_sections([HeadedText("", "", "Birds sang.")])
    assert section.title == "Text"
