"""A model file of the user's, served on this machine by llama.cpp (extra `local`).

The server speaks the Messages API on loopback and is asked like the live one. No weights come with
this package. Loading happens at the first request; each process that asks holds its own copy, so
with several workers start one server and use --base-url instead.
"""

from __future__ import annotations

import mmap
import secrets
import socket
import struct
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from scisolve_batch.errors import ModelError, UsageError
from scisolve_batch.model.base import Reply, Request
from scisolve_batch.model.credentials import require_credentials
from scisolve_batch.model.live import LiveModel

CONTEXT_TOKENS = 16_384
OUTPUT_TOKENS = 2048
"""Most of one reply: a model that does not come to an end writes ten to fifty tokens a second."""
TEMPLATE = Path(__file__).with_name("chat.jinja")
"""How tools and calls are written for models whose own template leaves them out."""
_TEMPLATE_KEY = b"tokenizer.chat_template"
_HEAD_BYTES = 256 << 20  # names and vocabulary stand before the weights
_TEXT = 8  # the type of a text in GGUF
READ_S = 600.0  # a small machine reads 50 to 100 tokens a second before its first word


def check_local(path: Path | str) -> Path:
    """The model file, if it can be served.

    Raises:
        UsageError: there is no such file, it is no GGUF, its chat template has no place for tools
            and is not in the ChatML form, or the extra is not installed.
    """
    file = Path(path)
    try:
        with file.open("rb") as stream:
            magic = stream.read(4)
    except OSError as error:
        raise UsageError(f"{file}: cannot be read: {error.strerror or error}") from error
    if magic != b"GGUF":
        raise UsageError(f"{file}: is no GGUF file, the form in which llama.cpp reads models")
    if find_spec("xllamacpp") is None:
        raise UsageError(
            "local: needs the package xllamacpp; install it with "
            "`pip install 'scisolve-batch[local]'`"
        )
    choose_template(file)
    return file


def choose_template(file: Path) -> str:
    """The chat template to serve a file with; empty for its own.

    Its own is taken when it says how tools are written, ours when it is in the ChatML form.

    Raises:
        UsageError: neither fits, so that the model could never be told of its tools.
    """
    own = read_template(file)
    if "tools" in own:
        return ""
    if own and "<|im_start|>" not in own:
        raise UsageError(
            f"{file}: its chat template has no place for tools and is not in the ChatML form; "
            "take a model that was trained to call tools"
        )
    return TEMPLATE.read_text("utf-8")


def read_template(file: Path) -> str:
    """The chat template in the head of a GGUF file; empty when it has none."""
    with file.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
        place = data.find(_TEMPLATE_KEY, 0, _HEAD_BYTES)
        begin = place + len(_TEMPLATE_KEY)
        if place < 0 or begin + 12 > len(data):
            return ""
        kind, length = struct.unpack_from("<IQ", data, begin)
        return (
            data[begin + 12 : begin + 12 + length].decode("utf-8", "replace")
            if kind == _TEXT
            else ""
        )


class LocalModel:
    """A GGUF file as a model.

    Args:
        path: the file.
        context_tokens: room for prompt and reply.
        threads: threads of the server; on a busy machine one is fastest.
        live: further arguments of `LiveModel`.

    Raises:
        UsageError: as `check_local`.
    """

    def __init__(
        self,
        path: Path | str,
        *,
        context_tokens: int = CONTEXT_TOKENS,
        threads: int = 1,
        **live: Any,
    ) -> None:
        self._file = check_local(path)
        self.name = f"local:{self._file.stem}"
        self._context_tokens, self._threads, self._live = context_tokens, threads, live
        self._server: Any = None
        self._model: LiveModel | None = None

    def reply(self, request: Request) -> Reply:
        """Ask, after loading the file the first time.

        Raises:
            ModelError: the file cannot be loaded, or no whole reply could be had.
        """
        if self._model is None:
            key = secrets.token_hex(16)  # nobody else on this machine may ask
            self._server, url = self._serve(key)
            options = {"read_s": READ_S, "attempt_s": 2 * READ_S, **self._live}
            credentials = require_credentials({"ANTHROPIC_API_KEY": key}, base_url=url)
            self._model = LiveModel(self.name, credentials=credentials, **options)
        shorter = min(request.max_tokens, OUTPUT_TOKENS)
        return self._model.reply(replace(request, max_tokens=shorter))

    def close(self) -> None:
        """End the server and free its memory."""
        if self._model is not None:
            self._model.close()
        self._model = self._server = None

    def _serve(self, key: str) -> tuple[Any, str]:
        import xllamacpp  # noqa: PLC0415 - an extra

        params = xllamacpp.CommonParams()
        params.model.path = str(self._file)
        params.model_alias = {self.name}
        params.hostnames = ["127.0.0.1"]
        params.port = _free_port()
        params.n_ctx = self._context_tokens
        params.n_parallel = 1
        for cpu in (params.cpuparams, params.cpuparams_batch):
            cpu.n_threads = self._threads
            cpu.poll = 0  # waiting threads must not spin: cells run beside them
        params.use_jinja = True
        params.chat_template = choose_template(self._file)
        params.api_keys = [key]
        params.verbosity = 1  # errors
        params.sampling.temp = 0.0
        params.sampling.seed = 1
        params.ui = False
        try:
            server = xllamacpp.Server(params)
        except (RuntimeError, ValueError, OSError) as error:
            raise ModelError(f"{self._file}: cannot be loaded: {error}", kind="invalid") from error
        return server, str(server.listening_address)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
