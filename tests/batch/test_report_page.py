"""report.html in a real browser: no console messages, nothing runs, keys work, legible on two widths."""

from __future__ import annotations

import base64
import json
import os
import shutil
import socket
import struct
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from classes import FILES, hand_in, text

from grader.batch.run import Settings, run
from grader.gpu.compile import compile_reason
from grader.gpu.sandbox import find_sandbox

pytestmark = pytest.mark.browser
EVIL = 'eve"><script>document.title="owned"<img src=x onerror=document.title="owned">'


class Page:
    """The DevTools protocol over a web socket, as much of it as these tests need."""

    def __init__(self, address: str) -> None:
        host, _, path = address.removeprefix("ws://").partition("/")
        name, port = host.split(":")
        self.socket = socket.create_connection((name, int(port)), 30)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(
            f"GET /{path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        answer = b""
        while b"\r\n\r\n" not in answer:
            answer += self.socket.recv(1)
        self.events: list[dict[str, Any]] = []
        self.count = 0

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self.count += 1
        self._send(json.dumps({"id": self.count, "method": method, "params": parameters}).encode())
        while (message := json.loads(self._receive())).get("id") != self.count:
            self.events.append(message)
        assert "error" not in message, message
        return dict(message["result"])

    def value(self, expression: str) -> Any:
        return self.call("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")

    def press(self, key: str, code: int) -> None:
        for kind in ("keyDown", "keyUp"):
            shown = {"text": "\r"} if key == "Enter" and kind == "keyDown" else {}
            self.call(
                "Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, **shown
            )

    def _send(self, data: bytes) -> None:
        size = len(data)
        head = (
            bytes([0x81, 0x80 | size])
            if size < 126
            else b"\x81" + bytes([0x80 | 126]) + struct.pack(">H", size)
        )
        mask = os.urandom(4)
        self.socket.sendall(head + mask + bytes(byte ^ mask[i % 4] for i, byte in enumerate(data)))

    def _receive(self) -> bytes:
        data = b""
        while True:
            first, second = self._exactly(2)
            size = second & 127
            if size > 125:
                size = int.from_bytes(self._exactly(2 if size == 126 else 8), "big")
            data += self._exactly(size)
            if first & 0x80:
                return data

    def _exactly(self, count: int) -> bytes:
        out = b""
        while len(out) < count:
            chunk = self.socket.recv(count - len(out))
            assert chunk, "the browser went away"
            out += chunk
        return out


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("page")
    hand_in(root / "in", "ada", FILES[1], text("solutions", FILES[1]))
    hand_in(root / "in", EVIL, FILES[1], f"# {EVIL}\n{text('exercises', FILES[1])}")
    hand_in(
        root / "in",
        "a-student-with-quite-a-long-name-that-has-to-wrap",
        FILES[0],
        text("exercises", FILES[0]),
    )
    # The section on the compiler too, where there is one.
    compiles = not compile_reason() and find_sandbox() is not None
    run(Settings(root / "in", root / "out", archs=("sm_75", "sm_90") if compiles else (), quiet=True))
    return root / "out" / "report.html"


@pytest.fixture(scope="module")
def browser() -> Iterator[str]:
    program = next(filter(None, map(shutil.which, ("chromium", "google-chrome", "chrome"))))
    with tempfile.TemporaryDirectory() as profile:
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
                 "--disable-background-networking", "--disable-component-update", "--disable-sync",
                 "--remote-debugging-port=0", f"--user-data-dir={profile}"]  # fmt: skip
        process = subprocess.Popen(
            [program, *flags, "about:blank"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            port_file = Path(profile) / "DevToolsActivePort"
            deadline = time.monotonic() + 60
            while not (port_file.exists() and "\n" in port_file.read_text()) and time.monotonic() < deadline:
                time.sleep(0.1)
            yield port_file.read_text().splitlines()[0]
        finally:
            process.kill()
            process.wait()


@pytest.fixture
def page(browser: str, report: Path) -> Iterator[Page]:
    with urllib.request.urlopen(f"http://127.0.0.1:{browser}/json", timeout=30) as answer:
        target = next(one for one in json.load(answer) if one["type"] == "page")
    page = Page(target["webSocketDebuggerUrl"])
    for domain in ("Log", "Runtime", "Page", "Network"):
        page.call(f"{domain}.enable")
    page.call("Page.navigate", url=report.as_uri())
    deadline = time.monotonic() + 30
    while (
        page.value("document.readyState + location.protocol") != "completefile:"
        and time.monotonic() < deadline
    ):
        time.sleep(0.05)
    yield page
    page.socket.close()


def test_nothing_is_said_run_or_fetched(page: Page, report: Path) -> None:
    page.call("Runtime.evaluate", expression="1")
    said = [
        one
        for one in page.events
        if one["method"] in ("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown")
    ]
    assert said == []
    fetched = {
        one["params"]["request"]["url"] for one in page.events if one["method"] == "Network.requestWillBeSent"
    }
    assert {url for url in fetched if not url.startswith("data:")} <= {report.as_uri()}
    assert page.value("document.title") == "Assignment: the class"
    assert page.value("document.scripts.length") == 0
    assert page.value("document.querySelectorAll('img').length") == 0


@pytest.mark.parametrize("width", [1280, 400])
def test_it_is_legible(page: Page, width: int) -> None:
    page.call(
        "Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=1, mobile=False
    )
    assert page.value("document.documentElement.scrollWidth") <= width
    sizes = page.value(
        "[...document.querySelectorAll('p, td, th, pre, summary')]"
        ".map(element => parseFloat(getComputedStyle(element).fontSize))"
    )
    assert min(sizes) >= 13
    shot = os.environ.get("TILEGRADE_SHOTS")
    if shot:
        page.value("document.querySelectorAll('details').forEach(d => d.open = true)")
        data = page.call("Page.captureScreenshot", captureBeyondViewport=True)["data"]
        (Path(shot) / f"report-{width}.png").write_bytes(base64.b64decode(data))


def test_keys_reach_and_open_everything(page: Page) -> None:
    page.press("Tab", 9)
    assert page.value("document.activeElement.className") == "skip"
    seen = []
    for _ in range(60):
        page.press("Tab", 9)
        tag = page.value("document.activeElement.tagName")
        seen.append(tag)
        if tag == "SUMMARY":
            break
    assert seen[0] == "A"
    assert seen[-1] == "SUMMARY"
    assert page.value("document.querySelector('details').open") is False
    assert page.value("getComputedStyle(document.activeElement).outlineStyle") != "none"
    page.press("Enter", 13)
    assert page.value("document.querySelector('details').open") is True
    assert page.value("[...document.querySelectorAll('th')].every(e => e.scope === 'col')") is True
    assert page.value("document.querySelectorAll('main h1').length") == 1
