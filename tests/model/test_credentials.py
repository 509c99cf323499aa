from __future__ import annotations

import pickle

import pytest

from scisolve_batch.errors import UsageError
from scisolve_batch.model import Credentials, require_credentials
from scisolve_batch.model.credentials import hide, holds_secret

KEY = "sk-ant-unit-test-0123456789"


def test_no_key_says_what_to_set() -> None:
    with pytest.raises(UsageError, match=r"set ANTHROPIC_API_KEY \(or ANTHROPIC_AUTH_TOKEN\)"):
        require_credentials({})


@pytest.mark.parametrize("blank", ["", "  ", "\n"])
def test_a_blank_key_is_no_key(blank: str) -> None:
    with pytest.raises(UsageError, match="no key"):
        require_credentials({"ANTHROPIC_API_KEY": blank})


def test_the_key_goes_before_the_token() -> None:
    both = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_AUTH_TOKEN": "token"}
    assert require_credentials(both) == Credentials(api_key=KEY)
    assert require_credentials({"ANTHROPIC_AUTH_TOKEN": "token"}) == Credentials(auth_token="token")


def test_white_space_around_a_key_is_dropped() -> None:
    assert require_credentials({"ANTHROPIC_API_KEY": f" {KEY}\n"}).api_key == KEY


@pytest.mark.parametrize("inside", ["sk-ant-secret\nkey", "sk-ant-secret\x00", "sk-ant-secret…"])
def test_a_key_that_no_header_can_carry_is_refused_unseen(inside: str) -> None:
    with pytest.raises(UsageError, match="ANTHROPIC_API_KEY holds characters") as caught:
        Credentials(api_key=inside)
    assert "secret" not in str(caught.value)


def test_a_server_on_this_machine_needs_no_key() -> None:
    found = require_credentials({}, base_url="http://127.0.0.1:8080")
    assert found
    assert found.secrets == ()
    with pytest.raises(UsageError, match="no key"):
        require_credentials({}, base_url="https://example.org")


def test_the_base_url_of_the_environment_is_read() -> None:
    environ = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": "https://gateway.example"}
    assert require_credentials(environ).base_url == "https://gateway.example"
    other = require_credentials(environ, base_url="http://localhost:1")
    assert other.base_url == "http://localhost:1"


@pytest.mark.parametrize("url", ["gateway", "ftp://x", "http://", "http://[::1", "127.0.0.1:8080"])
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(UsageError, match="no address of a server"):
        require_credentials({"ANTHROPIC_API_KEY": KEY}, base_url=url)


def test_nothing_shows_the_key_but_another_process_gets_it() -> None:
    found = Credentials(api_key=KEY, base_url="https://user:passw0rd@example.org")
    for shown in (repr(found), str(found), f"{found}", f"{[found]}"):
        assert KEY not in shown
        assert "passw0rd" not in shown
    assert pickle.loads(pickle.dumps(found)) == found


def test_secrets_are_found_and_hidden_in_texts() -> None:
    text = f"environ({{'ANTHROPIC_API_KEY': '{KEY}'}})"
    assert holds_secret(text, secrets=())
    assert KEY not in hide(text, secrets=())
    assert holds_secret("a token-1 b", secrets=("token-1",))
    assert hide("a token-1 b", secrets=("token-1",)) == "a [hidden] b"
    assert not holds_secret("the prefix sk-ant- alone is no key", secrets=("other",))
