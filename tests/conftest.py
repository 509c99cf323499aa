"""What every test stands on: no network beyond loopback, no key, nothing left behind."""

import os
import socket

import pytest
from hypothesis import settings

LOOPBACK = ("127.", "::1", "localhost")

# No test is about the clock. With CI set in the environment, examples are the same every time.
settings.register_profile("here", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("here")

LONGEST = ("tests/cli/", "tests/docs/", "tests/examples/", "tests/model/", "tests/executor/")


def pytest_collection_modifyitems(items):
    """Begin with files of a few long tests, so that none of them is left to one process at the end."""
    items.sort(key=lambda item: not item.nodeid.startswith(LONGEST))


@pytest.fixture(autouse=True, scope="session")
def _no_network():
    """Any connection beyond loopback is a failure of the test that makes it."""
    connect = socket.socket.connect
    connect_ex = socket.socket.connect_ex

    def check(sock, address):
        if sock.family in (socket.AF_INET, socket.AF_INET6):
            host = str(address[0])
            if not host.startswith(LOOPBACK):
                raise AssertionError(f"a test tried to reach {host}")

    def guarded(sock, address):
        check(sock, address)
        return connect(sock, address)

    def guarded_ex(sock, address):
        check(sock, address)
        return connect_ex(sock, address)

    patch = pytest.MonkeyPatch()
    patch.setattr(socket.socket, "connect", guarded)
    patch.setattr(socket.socket, "connect_ex", guarded_ex)
    yield
    patch.undo()


@pytest.fixture(autouse=True, scope="session")
def _no_key():
    """No test can spend money: every variable that could hold a credential is gone."""
    patch = pytest.MonkeyPatch()
    for name in list(os.environ):
        if name.startswith(("ANTHROPIC_", "SCISOLVE_BATCH_")):
            patch.delenv(name)
    # Sessions of runs that tests start find only NumPy loaded: loading SciPy and Matplotlib for
    # each of them would take most of the time.
    patch.setenv("SCISOLVE_BATCH_PRELOAD", "numpy")
    yield
    patch.undo()
