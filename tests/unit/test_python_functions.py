"""The functions of `assayer` for programs: one form that blocks and one that does not, with the same parameters."""

import inspect

import pytest

import assayer


@pytest.mark.parametrize("name", ["evaluate", "check", "rank"])
def test_both_forms_have_the_same_parameters_and_description(name: str) -> None:
    blocking, awaited = getattr(assayer, name), getattr(assayer, f"{name}_async")
    assert (blocking.__name__, awaited.__name__) == (name, f"{name}_async")
    assert inspect.iscoroutinefunction(awaited)
    assert not inspect.iscoroutinefunction(blocking)
    assert inspect.signature(blocking).parameters == inspect.signature(awaited).parameters
    assert inspect.getdoc(blocking) == inspect.getdoc(awaited)
