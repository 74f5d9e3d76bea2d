"""Every promise of state.store, as tests that each kind of store must pass.

A fixture ``subject`` gives the store. ``disturb`` runs each test as it is, with the store opened
anew between the steps, and with a fold between them. The tests themselves are in promises_*.py, one
file for each theme.
"""

from collections.abc import Callable

import pytest
from promises_answers import Answers
from promises_batches import Batches
from promises_claims import Claims
from promises_commands import Commands
from promises_figures import Figures
from promises_imports import Imports
from promises_keys import Keys
from promises_moved import Moved
from promises_orders import Orders
from promises_outcomes import Outcomes
from promises_pages import Pages
from promises_pausing import Pausing
from promises_repeats import Repeats
from subject import Subject


class Conformance(
    Batches,
    Commands,
    Claims,
    Outcomes,
    Answers,
    Pages,
    Repeats,
    Orders,
    Moved,
    Keys,
    Pausing,
    Imports,
    Figures,
):
    """Subclass it and provide ``subject``."""

    @pytest.fixture(params=["undisturbed", "reopened", "folded", "folded and reopened"])
    def disturb(self, request: pytest.FixtureRequest, subject: Subject) -> Callable[[], None]:
        def between_steps() -> None:
            if "folded" in request.param:
                subject.fold()
            if "reopened" in request.param:
                subject.reopen()

        return between_steps
