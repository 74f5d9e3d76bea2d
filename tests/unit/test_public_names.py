"""What is offered to programs outside: all that is named is there, and nothing else is promised."""

import inspect
from types import ModuleType

import pytest

import pipeline.client
import state.inspect


@pytest.mark.parametrize("module", [pipeline.client, state.inspect])
def test_every_name_that_is_offered_is_there_and_explains_itself(module: ModuleType) -> None:
    assert sorted(set(module.__all__)) == sorted(module.__all__)
    for name in module.__all__:
        offered = getattr(module, name)
        if inspect.isclass(offered) or inspect.isfunction(offered):
            assert offered.__doc__, name


@pytest.mark.parametrize("module", [pipeline.client, state.inspect])
def test_a_name_that_is_not_offered_is_told_like_any_other(module: ModuleType) -> None:
    with pytest.raises(AttributeError, match=f"module '{module.__name__}' has no attribute 'no'"):
        _ = module.no
    assert not hasattr(module, "deltalake")


def test_a_command_refuses_a_keyword_it_does_not_know() -> None:
    client = pipeline.client.Client("127.0.0.1:1")
    with pytest.raises(TypeError, match="unexpected keyword argument 'raeson'"):
        client.cancel("k", raeson="paid")  # type: ignore[call-arg]
