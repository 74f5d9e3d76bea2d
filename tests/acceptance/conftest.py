"""What tests of whole jobs share: a server of Spark Connect."""

from collections.abc import Iterator

import pytest

from tests.acceptance.connect_server import ConnectServer


@pytest.fixture(scope="session")
def connect(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConnectServer]:
    """Serve Spark Connect to all tests; one that kills the server starts its own."""
    with ConnectServer(tmp_path_factory.mktemp("connect")) as server:
        yield server
