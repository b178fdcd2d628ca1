"""`assayer corpus build` and `update` from bibliographies, as reference managers export them."""

import json

from tests.e2e.program import Homes

CORALS = """@article{corals, title={Corals on tiles}, author={Reef, Ada}, year={2020}, doi={10.1000/corals},
  abstract={We grow corals on tiles and measure them.}}
@book{tides, title={Tides}, author={Moon, Bo}, year={1999}}
"""
BEES = (
    "TY  - JOUR\nTI  - Bees on strips\nAU  - Field, Cy\nPY  - 2021\nAB  - We count bees on strips of flowers.\nER  - \n"
)


def test_corpus_is_built_and_updated_from_bibliographies(homes: Homes) -> None:
    program = homes.create_bare_home("bibliography").with_settings(EMBEDDER__MAX_TOKENS=32)
    (program.home / "library.bib").write_text(CORALS)
    (program.home / "more.RIS").write_text(BEES)
    build = program.run("corpus", "build", "library.bib")
    assert (build.code, "Built: 1 papers" in build.out) == (0, True), build.err
    assert "Skipped library.bib: 'Tides': abstract is missing" in build.out
    again = json.loads(program.run("corpus", "build", "library.bib", "--json").out)
    assert (again["papers"], again["already_built"]) == (1, True)
    assert again["skipped"] == ["library.bib: 'Tides': abstract is missing"]
    updated = program.run("corpus", "update", "more.RIS", "--json")
    assert updated.code == 0, updated.err
    changes = json.loads(updated.out)["changes"]
    assert (changes["before"], changes["new"], changes["changed"]) == (again["version"], 1, 0)
    unchanged = json.loads(program.run("corpus", "update", "more.RIS", "--json").out)
    assert (unchanged["papers"], unchanged["changes"]) == (2, None)
    search = program.run("corpus", "search", "bees and flowers", "--json")
    assert "Bees on strips" in search.out


def test_bibliography_without_abstracts_is_refused_with_the_remedy(homes: Homes) -> None:
    program = homes.create_bare_home("bibliography")
    (program.home / "library.bib").write_text("@book{tides, title={Tides}, author={Moon, Bo}, year={1999}}")
    result = program.run("corpus", "build", "library.bib")
    assert result.code == 2
    assert result.err == (
        "Error: No entry in library.bib can be added to the corpus. library.bib: 'Tides': abstract is missing. "
        "Re-export the entries with their titles and abstracts.\n"
    )
