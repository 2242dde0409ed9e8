"""A headless Chromium over the DevTools protocol on pipes: no driver, no library, real key presses."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
KEYS = {"Tab": 9, "Enter": 13, "Escape": 27, "ArrowDown": 40, " ": 32, "Backspace": 8}


class Browser:
    """A tab, with the console output and the network requests of its page."""

    def __init__(self, process: subprocess.Popen[bytes], send: int, receive: int) -> None:
        self._process, self._send, self._receive = process, send, receive
        self._number, self._buffer = 0, b""
        self._session: str | None = None
        self.console: list[str] = []
        self.requests: list[str] = []
        self.loaded = 0

    @classmethod
    @contextmanager
    def started(cls, executable: str | None = None) -> Iterator[Self]:
        """Start a browser with a profile of its own, and end it."""
        program = executable or next(filter(None, map(shutil.which, NAMES)), None)
        if program is None:
            raise SystemExit("There is no Chromium: apt-get install chromium, or name one with --browser.")
        to_browser, to_us = os.pipe(), os.pipe()
        with tempfile.TemporaryDirectory(prefix="aqlgen-browser-", ignore_cleanup_errors=True) as profile:
            options = (
                "--headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run --disable-extensions"
            )
            shell = f'exec "$0" "$@" 3<&{to_browser[0]} 4>&{to_us[1]}'
            process = subprocess.Popen(
                [
                    "bash",
                    "-c",
                    shell,
                    program,
                    *options.split(),
                    "--remote-debugging-pipe",
                    f"--user-data-dir={profile}",
                    "about:blank",
                ],
                pass_fds=(to_browser[0], to_us[1]),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            os.close(to_browser[0])
            os.close(to_us[1])
            browser = cls(process, to_browser[1], to_us[0])
            try:
                browser._attach()
                yield browser
            finally:
                browser._end()

    def _attach(self) -> None:
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call("Performance.enable", timeDomain="threadTicks")

    def _end(self) -> None:
        try:
            self._session = None
            self.call("Browser.close")
            self._process.wait(10)
        except (OSError, EOFError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        os.close(self._send)
        os.close(self._receive)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Call a method of the protocol and return its answer."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._send, data) :]
        while True:
            answer = self._read()
            if answer.get("id") == message["id"]:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                result: dict[str, Any] = answer["result"]
                return result
            self._note(answer)

    def _read(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            more = os.read(self._receive, 1 << 20)
            if not more:
                raise EOFError("the browser ended")
            self._buffer += more
        line, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        return message

    def _note(self, event: dict[str, Any]) -> None:
        about = event.get("params", {})
        match event.get("method"):
            case "Runtime.consoleAPICalled":
                self.console.append(f"{about['type']}: {[argument.get('value') for argument in about['args']]}")
            case "Runtime.exceptionThrown":
                self.console.append(f"exception: {about['exceptionDetails']}")
            case "Log.entryAdded":
                self.console.append(f"{about['entry']['level']}: {about['entry']['text']}")
            case "Network.requestWillBeSent":
                self.requests.append(about["request"]["url"])
            case "Page.loadEventFired":
                self.loaded += 1

    def open(self, page: Path, fragment: str = "") -> None:
        """Load a file and wait until it is loaded."""
        self.call("Page.navigate", url="about:blank")
        before = self.loaded
        self.call("Page.navigate", url=page.resolve().as_uri() + fragment)
        deadline = time.monotonic() + 30
        while self.run("document.readyState") != "complete" or self.loaded == before:
            if time.monotonic() > deadline:
                raise TimeoutError(f"{page} did not load")
            time.sleep(0.02)

    def run(self, expression: str) -> Any:
        """Evaluate an expression in the page, promises awaited, and return its value."""
        result = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression[:200]}: {result['exceptionDetails']['exception'].get('description')}")
        return result["result"].get("value")

    def main_thread(self) -> float:
        """Return the processor time of the page's main thread in ms, which other programs do not affect."""
        metrics = self.call("Performance.getMetrics")["metrics"]
        return 1000 * next(float(metric["value"]) for metric in metrics if metric["name"] == "TaskDuration")

    def press(self, key: str, *, shift: bool = False) -> None:
        """Press and release a key as a person does."""
        code = KEYS.get(key, ord(key.upper()[0]))
        text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
        about = {"key": key, "windowsVirtualKeyCode": code, "modifiers": 8 if shift else 0}
        self.call("Input.dispatchKeyEvent", type="keyDown", **about, **({"text": text} if text else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", **about)

    def type(self, text: str) -> None:
        """Type a text, key by key."""
        for character in text:
            self.press(character)

    def size(self, width: int, height: int, *, dark: bool = False, script: bool = True) -> None:
        """Set the size of the window, the system's theme, and whether scripts run."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", media="", features=[scheme])
        self.call("Emulation.setScriptExecutionDisabled", value=not script)

    def picture(self, file: Path) -> None:
        """Save what is in the window as PNG."""
        file.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def printed(self, file: Path) -> None:
        """Save the page as it prints, as PDF."""
        file.write_bytes(base64.b64decode(self.call("Page.printToPDF", printBackground=False)["data"]))
