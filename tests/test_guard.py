"""The guards of the test suite themselves."""

import os
import socket

import pytest


def test_a_connection_beyond_loopback_is_refused_before_it_is_tried():
    with (
        socket.socket() as sock,
        pytest.raises(AssertionError, match=r"tried to reach 192\.0\.2\.1"),
    ):
        sock.connect(("192.0.2.1", 80))


def test_loopback_is_allowed():
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket() as client:
        client.connect(server.getsockname())


def test_no_credential_is_in_the_environment():
    assert not [name for name in os.environ if name.startswith("ANTHROPIC_")]
