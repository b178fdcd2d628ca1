"""Masking takes time in proportion to the text, whatever the text is."""

import pytest

from assayer.blinding.blind import spans_to_mask
from tests.unit.processor_time import fill_text, limited_processor_time

__all__ = ["limited_processor_time"]

CHARACTERS = 20_000
HOSTILE = [
    "A. ", "Aa ", "Dr ", "Dr. Anna Roe met Roe. ", "University of Aa, ", "Aa of ", "a@b ", "@", "{a,", "0000-", "+1 2",
    "\n", "x\n\n", "Author: Anna Roe\n", "Team\n", "# Team\n\nx\n", "funded by A ", "grant A1 ", "our previous work [",
    "led by Anna ", "Anna Roe, ", "at MIT ", "I am a professor ", "References\n", "https://a.", "Aa-", "[name] ",
    "my advisor ", "My PhD with ", "Anna Roe\n", "PhD student, MIT\n", "github.com/a/", "In (Roe 2020) we showed ",
    "thank the A ", "I hold an A ", "김", "a dot ", "a at b dot ", "(grant A1 ", "References\n\n# Team\n\n",
    "Aa Ba (University of Aa", "our paper on ", "[@", "a@b.", "1.1 A\n",
    "# References\n## A\n", "## References\n### A\n",
    "Owner: Anna Roe | ", "| Name | Role |\n| Anna Roe | PI |\n", "由张三丰负责，", "د. محمد علي ",
    "we thank Anna Roe ",
    "(lead: Anna Roe; ", "roe_a/", "A.B. ", "J. R. ", "our work [1] ", "Owner Anna Roe\n", "Author:\n", "김민수 교수 ",
    "Zwqx: Arstd Oien\n", "к.ф.-м.н. ", "Иванов И.И., ", "Team\n\nAa bb cc\n\n",
    "Roe and ", "(Roe, unpublished; ", "Roe, ", "Roe (RP) ", "The Roe ", "ROE, Anna (", "@anna ", "WP1 (lead: Roe, ",
    "Roe will ", "zal a ", "student, Roe ", "RP ",
]  # fmt: skip


@pytest.mark.parametrize("piece", HOSTILE)
def test_masking_runs_within_time_limit_on_hostile_text(piece: str) -> None:
    spans_to_mask(fill_text(piece, characters=CHARACTERS), "A title")
