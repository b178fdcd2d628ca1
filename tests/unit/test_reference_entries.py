"""Entries whose form misled the parser in real documents; names and titles are invented."""

import pytest

from assayer.reference_lists.entry_parser import parse_references
from assayer.reference_lists.list_removal import split_off_lists
from workers.documents.parsed_text import ParsedText
from workers.documents.pdf_accents import compose_accents
from workers.documents.pdf_layout import detect_layout
from workers.documents.pdf_lines import PdfLine, TextStyle

ENTRIES = {
    "date in the middle": (
        "S. Moor, H. Li, and P.A. Crow. Load shedding in a small network. In Sustainable Power, 2009. SUPER '09. "
        "Conference on, pages 1-6.",
        ("S. Moor", "H. Li", "P.A. Crow"),
        "Load shedding in a small network",
        2009,
    ),
    "publisher with a month": (
        "John Gast and Kate Knob. Hope for parks: how citizens plan. Oxford University Press, February 2020. ISBN 9.",
        ("John Gast", "Kate Knob"),
        "Hope for parks: how citizens plan",
        2020,
    ),
    "first name in full before an initial": (
        "Chua-Liang Su and D. Kirsch. Quantifying the effect of prices. Power Systems, 24(3):1199-1207, Aug 2009.",
        ("Chua-Liang Su", "D. Kirsch"),
        "Quantifying the effect of prices",
        2009,
    ),
    "family name with St.": (
        "Frank DN, Harp N, St. Amand AL, Pace NR. Imbalances of gut bacteria in mice. Proc Mice 2007;104:13780.",
        ("Frank DN", "Harp N", "St. Amand AL", "Pace NR"),
        "Imbalances of gut bacteria in mice",
        2007,
    ),
    "organisation before a title": (
        "R Core Team. R: A language for statistics. (R Foundation for Statistical Computing, 2022).",
        ("R Core Team",),
        "R: A language for statistics",
        2022,
    ),
    "centres": (
        "Centers for Post and Parcels. Museum of stamps timeline. (2022).",
        ("Centers for Post and Parcels",),
        "Museum of stamps timeline",
        2022,
    ),
    "quoted word that begins a title": (
        "Kahn, G., & Savu, J. (2015). “Utilitarian” judgments in dilemmas of trams. Cognition, 134, 193-209.",
        ("Kahn, G", "Savu, J"),
        "“Utilitarian” judgments in dilemmas of trams",
        2015,
    ),
    "family name with a capital particle": (
        "Alice M De Moor, Rob J Crow, and Ralph D Kirsch. Forecasting riders with patterns. Rails, 106(4):15–27, 2011.",
        ("Alice M De Moor", "Rob J Crow", "Ralph D Kirsch"),
        "Forecasting riders with patterns",
        2011,
    ),
    "volume and pages directly after the title": (
        "Moor, J. F., and M. E. Crow. 2005. Trams in rainy towns 41:1211–1223.",
        ("Moor, J. F", "M. E. Crow"),
        "Trams in rainy towns",
        2005,
    ),
    "page that reads like a year": (
        "M. Toom and J. A. Land. Attaching buttons to web pages. In Proceedings of HCI 09, p. 1859. ACM Press.",
        ("M. Toom", "J. A. Land"),
        "Attaching buttons to web pages",
        None,
    ),
    "address after the year": (
        "Rail Desk. Tram Timetable Compromised. 2017. URL: https://rails.example/item?f=33.",
        ("Rail Desk",),
        "Tram Timetable Compromised",
        2017,
    ),
    "publisher in quotation marks": (
        'Ann Moor. 2021. Building small trams. " Rails Media, Inc.".',
        ("Ann Moor",),
        'Building small trams. " Rails Media, Inc."',
        2021,
    ),
    "two particles": (
        "Ann L. Van de Moor, Bo Crow, and Cy Lind. Fast trams for towns. CoRR, abs/1803.10201, 2018.",
        ("Ann L. Van de Moor", "Bo Crow", "Cy Lind"),
        "Fast trams for towns",
        2018,
    ),
    "suffix in ordinal": (
        "Donald E. Moor 3rd. Tram system security. Rails, 1999.",
        ("Donald E. Moor",),
        "Tram system security",
        1999,
    ),
    "suffix after the family name": (
        "Hill, Jr., Nils A. and Moor, Bo. 2011. A study of trams. Rails 3, 2-4.",
        ("Hill, Nils A", "Moor, Bo"),
        "A study of trams",
        2011,
    ),
    "suffix after the initials": (
        "Moor, B., & Hill, N. A., Jr. (2011). A study of trams. Rails, 3, 2-4.",
        ("Moor, B", "Hill, N. A"),
        "A study of trams",
        2011,
    ),
    "lower-case initial": (
        "Moor, M.E., Hill, S.a., Crow, R.S., 2009. Climate of trams. Rails 173, 225–40.",
        ("Moor, M.E", "Hill, S.a", "Crow, R.S"),
        "Climate of trams",
        2009,
    ),
    "volume that contains the work": (
        "Moor, P.H., 1988. Trams as a model of towns, in: Town biology. Rail Press, pp. 85–107.",
        ("Moor, P.H",),
        "Trams as a model of towns",
        1988,
    ),
    "and coauthors": (
        "Moor, J. D., and Coauthors, 2017: A view of trams from above. Bull. Rails, 98, 2113–2134.",
        ("Moor, J. D",),
        "A view of trams from above",
        2017,
    ),
    "et al. and others": (
        "Moor, C. G., Crow, M. D., et al.others. (2011). A scale of short trams. Rails, 40(3), 142.",
        ("Moor, C. G", "Crow, M. D"),
        "A scale of short trams",
        2011,
    ),
    "initials with a hyphen before the last name": (
        "S. Moor, R. Crow, and B.-E. Lind. A model of trams in towns. Rails, 181(6):725–736, 2013.",
        ("S. Moor", "R. Crow", "B.-E. Lind"),
        "A model of trams in towns",
        2013,
    ),
    "number of the volume": (
        "J. P. Moor. Resources of trams, volume 19. Rail Press, 1997.",
        ("J. P. Moor",),
        "Resources of trams",
        1997,
    ),
    "pages that read like years": (
        "M. Toom, S. M. Druck, and J. A. Land. Attaching buttons to web pages. In Proceedings of HCI, pp. 1859–1868.",
        ("M. Toom", "S. M. Druck", "J. A. Land"),
        "Attaching buttons to web pages",
        None,
    ),
}


@pytest.mark.parametrize("form", ENTRIES)
def test_authors_title_and_year_of_an_entry_are_distinguished(form: str) -> None:
    entry, authors, title, year = ENTRIES[form]
    (work,) = parse_references(entry)
    assert (work.authors, work.title, work.year) == (authors, title, year)


def make_list_numbered_twice() -> str:
    return (
        "[1] A. Moor, “Trams in towns,” Rails, 2019.\n[2] B. Crow, “Buses in towns,” Roads, 2020.\n"
        "[2] C. Lind, “Bikes in towns,” Paths, 2021.\n[3] D. Park, “Boats in towns,” Canals, 2022."
    )


LISTS = {
    "number printed twice": (make_list_numbered_twice(), ["A. Moor", "B. Crow", "C. Lind", "D. Park"]),
    "publisher on a line of its own": (
        "Gold, R. J. (1995). Saving old flags: the history of a controversy in\nfour towns.\nBoulder: West Press.\n"
        "Green, J., & Port, S. (1996). Evidence of terror\nin trams. Rails, 3, 1-9.\nKamm, M. (1991). Chords of\n"
        "memory.\nNew York: Knot Press.\nSchatz, R. T. (1999). Varieties of attachment. Paths, 2, 1-4.",
        ["Gold, R. J", "Green, J", "Kamm, M", "Schatz, R. T"],
    ),
    "name and year within a title": (
        "Brand, M. J., & Blank, I. (2014). Does Recalling Good Deeds Change the Perception of Lamps: A Replication "
        "of Baner, Chatt, and Sinha (2012). Social Lamps, 45(3), 246-252.",
        ["Brand, M. J"],
    ),
    "note above the first number": (
        "*Identifiers were verified; author lists are shortened.\nCitations use these numbers.*\n\n"
        "1. Moor A. Trams in towns. Rails 2019;1:1.\n2. Crow B. Buses in towns. Roads 2020;1:2.\n"
        "3. Lind C. Bikes in towns. Paths 2021;1:3.",
        ["Moor A", "Crow B", "Lind C"],
    ),
    "numbers of Word shown as bullets": (
        "- Moor A. Trams in towns. Rails. 2019.\n\n- Crow B. Buses in towns. Roads. 2020. [3]Lind C. Bikes\n\n"
        "in towns. Paths. 2021. [4]Park D. Boats in towns.\n\nCanals. 2022.\n\n- Dale E. Balloons. Skies. 2023.",
        ["Moor A", "Crow B", "Lind C", "Park D", "Dale E"],
    ),
    "makers of software": (
        "Ann Abel and Bo Moor. 2011. A Modular\nTram. Rails 7, 2 (2011). https://doi.org/10.1000/7\n"
        "Tram developers. 2024a. Tram documentation. https://trams.example/guide/\n"
        "tml developers. 2024. tml documentation. https://trams.example/tml\n"
        "Cy Lind and Di Park. 2016. Types of buses. Roads 3, 4 (2016). https://doi.org/10.1000/8",
        ["Ann Abel", "", "", "Cy Lind"],
    ),
    "websites without a date": (
        "Moor, T. (2018) 14 December\n[online] https://rails.example/a (accessed 20 December 2018).\n"
        "Rail Works Blog [online] https://rails.example/b (accessed 20 December 2018).\n"
        "Lind, L. (2016) The Use of Trams, 14 April, Board of Rails, Washington DC.",
        ["Moor, T", "", "Lind, L"],
    ),
    "family name In": (
        'Harrow, Mark, and Ann Brew. "Colours for maps." Maps 40, no. 1 (2003): 27-37.\n\n'
        'In, Ho, and Sid Moor. "Issues of Trams." Proceedings of Rails. IEEE. 1-2.\n\n'
        'In, Ho, and Sid Moor. "Other issues of trams." IEEE, 2001: 10-15.',
        ["Harrow, Mark", "In, Ho", "In, Ho"],
    ),
    "address that begins with www": (
        "Barn, S. B. (2006). A privacy paradox. Rails, 11 (9). Retrieved from\nwww.rails.example/barn/index.html\n"
        "Bar, L., Sec, E., & Cem, Z. (2017). Online trams. Roads, 67 (1), 26–53.",
        ["Barn, S. B", "Bar, L"],
    ),
    "works without authors, by date": (
        "Chen, Guo, and Eva Zhang. 2008. “Street Modeling of Towns.” In Maps, 103:1-10.\n"
        "“City Engine for Urban Environments.” 2015. Accessed November 8. http://city.example/engine.\n"
        "“Perlin Clouds.” 2012. Wiki. https://wiki.example/clouds.\n"
        "Focas, Carl, and Ann Moor. 1998. The Four World Cities. London: Stationery Office.",
        ["Chen, Guo", "", "", "Focas, Carl"],
    ),
}


@pytest.mark.parametrize("kind", LISTS)
def test_entries_of_a_list_are_separated(kind: str) -> None:
    reference_list, first_authors = LISTS[kind]
    assert [(work.authors or ("",))[0] for work in parse_references(reference_list)] == first_authors


def test_number_in_the_name_of_a_group_does_not_begin_an_entry() -> None:
    reference_list = (
        "Cho, Hyun. 2020. “Tracing Apps.” https://rails.example/2003.\n"
        "Eddo, Akira, Centre for the Modelling of Towns COVID-19 Working Group,\nSam Abbot, Adam J. Kuch, and "
        "Seb Funk. 2020. “Estimating the Spread in towns.” "
        "Rails 5: 67.\nKlep, Ada, Ann Moor,\nand CMMID COVID-19 Working Group. 2020. “Isolation in towns.” Rails.\n"
        "Liu, Yang, and Ada Klep. 2020. “Spreading.” Roads 395."
    )
    assert [work.raw[:4] for work in parse_references(reference_list)] == ["Cho,", "Eddo", "Klep", "Liu,"]


def test_block_on_authors_below_a_list_is_not_part_of_its_last_entry() -> None:
    text = f"{'Trams carry people through towns. ' * 9}\n\nReferences\n{LISTS['number printed twice'][0]}\n"
    text_and_lists = split_off_lists(f"{text}Affiliation:\nAnn Moor\nDepartment of Trams\n")
    assert "Department" in text_and_lists.text
    assert "Department" not in text_and_lists.lists[0]


def test_line_numbers_of_a_manuscript_are_removed() -> None:
    body = TextStyle("Serif", 10.0, bold=False, italic=False, upright=True)
    texts = ["Introduction", *["Trams carry 12 people through towns [1]."] * 24, "References"]
    texts += ["[1] A. Moor, “Trams in towns,” Rails, 2019.", "[2] B. Crow, “Buses in towns,”", "Roads, 2020."]
    line_numbers = [*range(1, 10), *range(20, 50)]
    lines = [
        PdfLine(number // 30, body, True, f"{number} {text}") for number, text in zip(line_numbers, texts, strict=False)
    ]
    sections = detect_layout(lines).sections
    assert [section.title for section in sections] == ["Introduction", "References"]
    assert "2 Trams" not in sections[0].text
    assert sections[0].text.count("Trams carry 12 people") == 24
    assert [work.authors[0] for work in parse_references(sections[1].text)] == ["A. Moor", "B. Crow"]


def test_line_number_inside_a_joined_word_is_removed() -> None:
    body = TextStyle("Serif", 10.0, bold=False, italic=False, upright=True)
    texts = [f"{number} Trams carry people through towns." for number in range(1, 41) if number not in (12, 30)]
    texts[10] = "11 Trams carry many peo12 ple through towns of 30 riders."
    sections = detect_layout([PdfLine(0, body, True, text) for text in texts]).sections
    assert "carry many people through towns of 30 riders" in sections[0].text


def test_line_numbers_are_removed_although_pages_with_figures_have_none() -> None:
    body = TextStyle("Serif", 10.0, bold=False, italic=False, upright=True)
    numbered = [PdfLine(n // 20, body, True, f"{n} Trams carry people {'a' * n}.") for n in range(1, 80)]
    figures = [PdfLine(4 + n // 20, body, True, f"Trams of towns {'b' * n}.") for n in range(160)]
    text = "".join(section.text for section in detect_layout([*numbered, *figures]).sections)
    assert "7 Trams" not in text
    assert text.count("Trams carry people") == 79


def test_entry_whose_initial_reads_like_a_number_does_not_end_the_list() -> None:
    body = TextStyle("Serif", 10.0, bold=False, italic=False, upright=True)
    head = TextStyle("Serif", 14.0, bold=True, italic=False, upright=True)
    first = ["A. Moor. Trams in towns. Rails, 1991.", "B. Lind. Buses in aged towns, volume 2. Town Press of"]
    texts = ["Introduction", *["Trams carry people through towns."] * 20, "References", *first, "Towns, 1994."]
    titles = ("Introduction", "References")
    lines = [
        PdfLine(int(place > 20), head if text in titles or text == first[1] else body, True, text)
        for place, text in enumerate(texts)
    ]
    sections = detect_layout(lines).sections
    assert [work.authors for work in parse_references(sections[-1].text)] == [("A. Moor",), ("B. Lind",)]


def test_title_of_a_list_below_an_empty_section_begins_the_list() -> None:
    body = TextStyle("Serif", 10.0, bold=False, italic=False, upright=True)
    head = TextStyle("Serif", 12.0, bold=True, italic=False, upright=True)
    texts = ["Discussão e Conclusão", "Referências", "[1] A. Moor. Trams in towns. Rails, 1991."]
    lines = [PdfLine(0, head, True, "Introduction")]
    lines += [PdfLine(0, body, True, f"Trams carry people {'a' * n}.") for n in range(9)]
    lines += [PdfLine(1, body if text.startswith("[") else head, True, text) for text in texts]
    assert detect_layout(lines).sections[-1].title == "Referências"


@pytest.mark.parametrize(
    ("printed", "composed"),
    [
        ("S¨arkinen, T. and Gr´ımsson, F.", "Särkinen, T. and Grímsson, F."),
        ("Makel ¨ a, P., N ¨ as¨ anen, R.", "Makelä, P., Näsänen, R."),
        ("Referˆencias de Sa¸car", "Referências de Saçar"),
        ("Hunenberger ¨ et al., images ¨ and towns", "Hunenberger ¨ et al., images ¨ and towns"),
        ("x ˜ N and ¨3", "x ˜ N and ¨3"),
    ],
)
def test_separate_accents_are_composed(printed: str, composed: str) -> None:
    assert compose_accents(printed) == composed


@pytest.mark.parametrize(
    "entry",
    [
        "Lee, A., Moor, S. J. W., & TRAM Group, for the. (2006). Reporting of riders in towns. Rails, 295, 1152.",
        "Lee, A., Moor, S. J., Dale, D., B. Baum, with:, & Ward, M. D. (2015). Riders in towns. Rails.",
        "Lee. G. Moor and Helmut Lamm. The effect of trams. Rails, 63(3):297–303, 1975.",
    ],
)
def test_end_of_a_list_of_names_is_not_read_as_a_title(entry: str) -> None:
    (work,) = parse_references(entry)
    assert "Lamm" not in work.title
    assert not work.title.startswith(("J.", "W.", "G."))


def test_caption_inside_a_list_ends_at_the_next_entry() -> None:
    body_style, caption_style = (
        TextStyle("Serif", size, bold=False, italic=False, upright=True) for size in (10.0, 8.0)
    )
    entries = [
        "[1] A. Moor, “Trams in towns,” Rails, 2019.",
        "Fig. 2. Riders per day",
        "[2] B. Crow, “Buses,” Roads, 2020.",
    ]
    lines = [PdfLine(0, body_style, True, "Trams carry people through towns.")] * 9
    lines += [
        PdfLine(1, body_style, True, "References"),
        *(PdfLine(1, caption_style, True, entry) for entry in entries),
    ]
    text = "\n".join(section.text for section in detect_layout(lines).sections)
    assert "[2] B. Crow" in text
    assert "Riders per day" not in text


def test_numbers_of_a_table_in_a_pdf_are_kept() -> None:
    body = TextStyle("Serif", 10.0, bold=False, italic=False, upright=True)
    texts = [f"{number} trams in town" for number in range(1, 19)] + ["Trams carry people."] * 10
    lines = [PdfLine(0, body, True, text) for text in texts]
    assert "7 trams" in detect_layout(lines).sections[0].text


def test_entries_in_the_style_of_a_heading_are_not_lost() -> None:
    entries = ["Moor, A. (2019). Trams in towns. Rails, 3, 1-9.", "Crow, B. (2020). Buses in towns. Roads, 4, 2-8."]
    headings = [(3, "Plan"), (0, "Trams carry people."), (3, "References"), *[(3, entry) for entry in entries]]
    sections = ParsedText(kind="text", title="", paragraphs=tuple(headings), hidden=()).split_sections()
    assert [section.title for section in sections] == ["Plan", "References"]
    assert [work.authors for work in parse_references(sections[1].text)] == [("Moor, A",), ("Crow, B",)]
