"""Drives a headless Chromium over its debugging pipe, with nothing but the standard library.

Every message of the page's console, every exception and every request is kept, so that a test can say
that there were none. It waits for what the browser says, never for a time.
"""

from __future__ import annotations

import base64
import itertools
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Self

PATIENCE_S = (
    120.0  # a browser on a loaded machine is slow to start; silence longer than this is a hang
)

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-default-apps",
    "--disable-extensions", "--disable-dev-shm-usage", "--hide-scrollbars", "--mute-audio",
    "--remote-debugging-pipe",
)  # fmt: skip

# The browser reads commands on descriptor 3 and answers on 4.
LAUNCH = """
import fcntl, os, sys
high = [fcntl.fcntl(int(end), fcntl.F_DUPFD, 10) for end in sys.argv[1:3]]
for place, end in zip((3, 4), high):
    os.dup2(end, place)
os.execv(sys.argv[3], sys.argv[3:])
"""


def find_chromium() -> str | None:
    """The browser's program, or none."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        found = shutil.which(name)
        if found:
            return found
    return None


class BrowserError(Exception):
    """The browser refused a command, ended or fell silent."""


class Chromium:
    """One browser with one page; a context manager.

    Attributes:
        console: what the page wrote to the console, and what the browser complained about.
        requests: every address the page asked for.
    """

    def __init__(self) -> None:
        program = find_chromium()
        assert program is not None
        self.console: list[str] = []
        self.requests: list[str] = []
        self._numbers = itertools.count(1)
        self._buffer = b""
        self._events: list[dict[str, Any]] = []
        self._session: str | None = None
        self._profile = tempfile.TemporaryDirectory(prefix="chromium-", ignore_cleanup_errors=True)
        to_browser, self._write = os.pipe()
        self._read, from_browser = os.pipe()
        arguments = [program, *FLAGS, f"--user-data-dir={self._profile.name}", "about:blank"]
        self._process = subprocess.Popen(
            [sys.executable, "-c", LAUNCH, str(to_browser), str(from_browser), *arguments],
            pass_fds=(to_browser, from_browser),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)

    def __enter__(self) -> Self:
        try:
            self._attach()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _attach(self) -> None:
        targets = self._call("Target.getTargets")["targetInfos"]
        page = next(target["targetId"] for target in targets if target["type"] == "page")
        attached = self._call("Target.attachToTarget", targetId=page, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._call(f"{domain}.enable")

    def __exit__(self, *_: object) -> None:
        try:
            self._session = None
            self._send("Browser.close")
            self._process.wait(30)
        except (OSError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        finally:
            os.close(self._write)
            os.close(self._read)
            self._profile.cleanup()

    # -- what a test does --

    def open(self, page: Path | str) -> float:
        """Open a page, wait until it is loaded; seconds from the navigation to its `load` event."""
        address = page if isinstance(page, str) else page.resolve().as_uri()
        self._events.clear()
        self._call("Page.navigate", url=address)
        self._wait_for("Page.loadEventFired")
        took = self.run("performance.getEntriesByType('navigation')[0].loadEventStart")
        return float(took) / 1000

    def run(self, expression: str) -> Any:
        """The value of a JavaScript expression in the page."""
        found = self._call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in found:
            raise BrowserError(json.dumps(found["exceptionDetails"])[:500])
        return found["result"].get("value")

    def click(self, selector: str) -> None:
        """Press and release the mouse in the middle of an element, scrolled into view."""
        place = self.run(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
            " e.scrollIntoView({block: 'center', behavior: 'instant'});"
            " const r = e.getBoundingClientRect();"
            " return [r.x + r.width / 2, r.y + r.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self._call(
                "Input.dispatchMouseEvent",
                type=kind, x=place[0], y=place[1], button="left", clickCount=1,
            )  # fmt: skip

    def press(self, key: str) -> None:
        """Press a key: `Enter`, `Escape`, `Tab`, or a character."""
        codes = {"Enter": 13, "Escape": 27, "Tab": 9}
        text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
        code = codes.get(key, ord(key.upper()) if len(key) == 1 else 0)
        about = {"key": key, "windowsVirtualKeyCode": code}
        self._call(
            "Input.dispatchKeyEvent", type="keyDown", **about, **({"text": text} if text else {})
        )
        self._call("Input.dispatchKeyEvent", type="keyUp", **about)

    def type(self, text: str) -> None:
        """Write text into what has the focus."""
        self._call("Input.insertText", text=text)

    def look(
        self, *, width: int = 1200, height: int = 900, dark: bool = False, media: str = ""
    ) -> None:
        """Set the size of the window, the colour scheme, and `print` or the screen."""
        self._call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=width < 600,
        )  # fmt: skip
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._call("Emulation.setEmulatedMedia", media=media, features=[scheme])

    def screenshot(self, file: Path, *, whole: bool = True) -> None:
        """Save a picture of the page, or of the window alone."""
        found = self._call("Page.captureScreenshot", captureBeyondViewport=whole)
        file.write_bytes(base64.b64decode(found["data"]))

    # -- the wire --

    def _send(self, method: str, **parameters: Any) -> int:
        message: dict[str, Any] = {
            "id": next(self._numbers),
            "method": method,
            "params": parameters,
        }
        if self._session is not None:
            message["sessionId"] = self._session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._write, data) :]
        return int(message["id"])

    def _call(self, method: str, **parameters: Any) -> dict[str, Any]:
        number = self._send(method, **parameters)
        while True:
            message = self._receive()
            if message.get("id") == number:
                if "error" in message:
                    raise BrowserError(f"{method}: {message['error']}")
                result: dict[str, Any] = message["result"]
                return result

    def _wait_for(self, event: str) -> None:
        while not any(seen["method"] == event for seen in self._events):
            self._receive()

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._read], [], [], PATIENCE_S)
            data = os.read(self._read, 1 << 20) if ready else b""
            if not data:
                raise BrowserError(f"no word from the browser (exit code {self._process.poll()})")
            self._buffer += data
        line, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        if "method" in message:
            self._note(message)
        return message

    def _note(self, event: dict[str, Any]) -> None:
        self._events.append(event)
        about = event.get("params", {})
        match event["method"]:
            case "Runtime.consoleAPICalled":
                said = " ".join(str(part.get("value", part)) for part in about["args"])
                self.console.append(f"{about['type']}: {said}")
            case "Runtime.exceptionThrown":
                details = about["exceptionDetails"]
                self.console.append(f"exception: {details.get('exception', details)}")
            case "Log.entryAdded":
                self.console.append(f"{about['entry']['level']}: {about['entry']['text']}")
            case "Network.requestWillBeSent":
                self.requests.append(about["request"]["url"])
