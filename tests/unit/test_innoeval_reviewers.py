"""Reviewers drawn for an idea, and what each may see."""

from collections import Counter

import pytest

from assayer.ideas.parsing import parse_idea
from assayer.methods.innoeval.board.reviewers import (
    assign_models,
    choose_visible_sources,
    draw_board,
    limit_familiarity,
    mask_evidence,
)
from assayer.methods.innoeval.board.reviewers import build_reviewer as seated
from assayer.methods.innoeval.personas import Persona, load_built_in_persona_pool
from assayer.models import Familiarity
from tests.unit.innoeval_evidence import make_evidence_pack, make_read_source
from tests.unit.innoeval_world import IDEA

POOL = load_built_in_persona_pool()
FOREST = parse_idea(
    "# Forest plots\n\nWe count species in forest habitat every year, and follow population and biodiversity "
    "after fire with satellite and remote sensing records. The genome of one species is read for adaptation and "
    "selection, a regression relates it to soil, nitrogen and yield, and causal claims rest on randomised plots.",
    source="forest.md",
)


def make_persona(literature: int = 8, applications: int = 8, frontier: int = 8) -> Persona:
    levels = Familiarity(literature=literature, methods=1, applications=applications, frontier=frontier)
    return POOL.personas[0].model_copy(update={"familiarity": levels})


def test_board_draw_depends_on_idea_and_seed() -> None:
    first = draw_board(POOL, 5, 1, IDEA)
    assert first == draw_board(POOL, 5, 1, IDEA)
    assert len({seat.persona.name for seat in first}) == 5
    other_boards = [draw_board(POOL, 5, 2, IDEA), draw_board(POOL, 5, 1, FOREST)]
    assert all(board != first for board in other_boards)


def test_majority_of_the_board_is_from_fields_near_the_idea() -> None:
    seats = draw_board(POOL, 5, 0, FOREST)
    near_fields = [seat.persona.field for seat in seats if seat.kind == "near"]
    assert Counter(seat.kind for seat in seats) == {"near": 3, "open": 2}
    assert "ecology" in near_fields


def test_persona_familiarity_is_capped_for_unrelated_ideas() -> None:
    ecologist = next(seat.persona for seat in draw_board(POOL, 5, 0, FOREST) if seat.kind == "near")
    assert limit_familiarity(ecologist, FOREST, 4) == ecologist
    unrelated_idea = parse_idea("# Xyzzy\n\n" + "Plugh plover. " * 15, source="x")
    unrelated_familiarity = limit_familiarity(ecologist, unrelated_idea, 4).familiarity
    assert all(level <= 4 for _, level in unrelated_familiarity)
    assert limit_familiarity(ecologist, unrelated_idea, 10) == ecologist, "as the paper has it"


def test_first_seat_varies_between_models() -> None:
    firsts = Counter(assign_models(("a", "b"), 5, seed, IDEA)[0] for seed in range(40))
    assert set(firsts) == {"a", "b"}
    assert assign_models((), 3, 0, IDEA) == (None, None, None)


def test_source_kinds_are_masked_by_matching_familiarity() -> None:
    masks = mask_evidence(
        0, IDEA, make_persona(literature=10, applications=7, frontier=4), make_evidence_pack().before_cutoff
    )
    assert {mask.kind: (mask.level, len(mask.hidden_papers), mask.shown_count) for mask in masks} == {
        "literature": (10, 0, 10),
        "web": (4, 6, 4),
        "code": (7, 3, 7),
        "data": (7, 3, 7),
    }


def test_fractional_number_of_hidden_items_is_rounded_at_random() -> None:
    three = [make_read_source("literature", n) for n in range(3)]
    counts = [len(mask_evidence(seed, IDEA, make_persona(literature=8), three)[0].hidden_papers) for seed in range(400)]
    assert set(counts) == {0, 1}
    assert sum(counts) / 400 == pytest.approx(0.6, abs=0.1)


def test_masking_is_reproducible_and_differs_between_reviewers() -> None:
    before = make_evidence_pack().before_cutoff
    first_persona, second_persona = POOL.personas[0], POOL.personas[1]
    assert mask_evidence(3, IDEA, first_persona, before) == mask_evidence(3, IDEA, first_persona, before)
    same_levels = second_persona.model_copy(update={"familiarity": first_persona.familiarity})
    assert mask_evidence(3, IDEA, first_persona, before) != mask_evidence(3, IDEA, same_levels, before)


def test_hidden_sources_stay_mostly_the_same_when_other_sources_change() -> None:
    ten, nine = make_evidence_pack().before_cutoff[:10], make_evidence_pack().before_cutoff[:9]
    hidden_with_more = mask_evidence(0, IDEA, make_persona(literature=5), ten)[0].hidden_papers
    fewer = mask_evidence(0, IDEA, make_persona(literature=5), nine)[0].hidden_papers
    assert set(fewer) <= {item.paper.id for item in nine}
    assert len(set(hidden_with_more) & set(fewer)) >= 4


def test_reviewer_sees_all_sources_not_hidden() -> None:
    sources = make_evidence_pack().before_cutoff
    seat = draw_board(POOL, 5, 0, IDEA)[0]
    reviewer = seated("R1", seat, mask_evidence(0, IDEA, seat.persona, sources))
    hidden = {paper for mask in reviewer.masking for paper in mask.hidden_papers}
    assert hidden
    assert {item.paper.id for item in choose_visible_sources(reviewer, sources)} == {
        item.paper.id for item in sources
    } - hidden
