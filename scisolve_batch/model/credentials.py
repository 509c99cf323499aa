"""The key of the model's service: where it comes from, and where it must not go.

A key can be handed to another process, but is never shown: not by repr, not in a message, not in
a file. Only keys and tokens are known here; profiles on disk are not read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self
from urllib.parse import urlsplit

from scisolve_batch.errors import UsageError

HIDDEN = "[hidden]"
_PLACEHOLDER = "none-needed"  # sent to servers on this machine, which ask for no key
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_LIKE_A_KEY = re.compile(r"sk-ant-[\w-]{8,}")  # every key of the service begins like this


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """A key or a token, and the address it is meant for.

    Attributes:
        api_key: value of ANTHROPIC_API_KEY.
        auth_token: value of ANTHROPIC_AUTH_TOKEN, used when there is no key.
        base_url: address of the service; None means the official one.

    Raises:
        UsageError: a value that no HTTP header can carry, or an address that is none.
    """

    api_key: str | None = None
    auth_token: str | None = None
    base_url: str | None = None

    def __post_init__(self) -> None:
        for name, value in (
            ("ANTHROPIC_API_KEY", self.api_key),
            ("ANTHROPIC_AUTH_TOKEN", self.auth_token),
        ):
            if value is not None and not (value.isascii() and value.isprintable()):
                raise UsageError(f"{name} holds characters that no key has; copy the key again")
        if self.base_url is not None:
            _check_url(self.base_url)

    @classmethod
    def from_environ(cls, environ: Mapping[str, str], *, base_url: str | None = None) -> Self:
        """What the environment holds. Values that are empty or blank count as not set.

        Args:
            environ: usually `os.environ`.
            base_url: overrides ANTHROPIC_BASE_URL.

        Raises:
            UsageError: as the class does.
        """
        url = base_url or environ.get("ANTHROPIC_BASE_URL", "").strip() or None
        key = _read(environ, "ANTHROPIC_API_KEY")
        token = None if key else _read(environ, "ANTHROPIC_AUTH_TOKEN")
        found = cls(api_key=key, auth_token=token, base_url=url)
        if key is None and token is None and found.is_local:
            return cls(api_key=_PLACEHOLDER, base_url=url)
        return found

    @property
    def is_local(self) -> bool:
        """The address is on this machine."""
        return self.base_url is not None and urlsplit(self.base_url).hostname in _LOOPBACK

    @property
    def secrets(self) -> tuple[str, ...]:
        """Every text that must not be shown. One of less than 6 characters is no secret."""
        held = [self.api_key, self.auth_token]
        if self.base_url is not None:
            held.append(urlsplit(self.base_url).password)
        return tuple(text for text in held if text and len(text) >= 6 and text != _PLACEHOLDER)

    def __bool__(self) -> bool:
        """There is something to identify with."""
        return bool(self.api_key or self.auth_token)

    def __repr__(self) -> str:
        def shown(value: str | None) -> str:
            return "None" if value is None else HIDDEN

        return (
            f"Credentials(api_key={shown(self.api_key)}, auth_token={shown(self.auth_token)}, "
            f"base_url={hide(repr(self.base_url), secrets=self.secrets)})"
        )


def _read(environ: Mapping[str, str], name: str) -> str | None:
    return environ.get(name, "").strip() or None


def _check_url(url: str) -> None:
    try:
        parts = urlsplit(url)
        fits = parts.scheme in {"http", "https"} and bool(parts.hostname)
    except ValueError:
        fits = False
    if not fits:
        raise UsageError(f"{url!r} is no address of a server; write it like http://127.0.0.1:8080")


def require_credentials(
    environ: Mapping[str, str] = os.environ, *, base_url: str | None = None
) -> Credentials:
    """The credentials of the environment. Loads nothing and sends nothing.

    Raises:
        UsageError: there are none, and the service is not on this machine.
    """
    found = Credentials.from_environ(environ, base_url=base_url)
    if not found:
        raise UsageError(
            "no key for the model's service: set ANTHROPIC_API_KEY (or ANTHROPIC_AUTH_TOKEN), "
            "or choose a model that needs none, like `--model scripted`"
        )
    return found


def hide(text: str, *, secrets: tuple[str, ...]) -> str:
    """The text with each secret, and each text like a key, replaced by `[hidden]`."""
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    return _LIKE_A_KEY.sub(HIDDEN, text)


def holds_secret(text: str, *, secrets: tuple[str, ...]) -> bool:
    """Whether the text holds a secret, or anything that looks like a key of the service."""
    return _LIKE_A_KEY.search(text) is not None or any(secret in text for secret in secrets)
