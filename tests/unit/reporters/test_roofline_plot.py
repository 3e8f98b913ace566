from __future__ import annotations

import builtins
import struct
import xml.etree.ElementTree as ET
from typing import Any

import pytest

from grader.perf.devices import device, device_names
from grader.perf.ladder import LADDER, ladder_for
from grader.perf.roofline import Roofline, roofline, submission_point
from grader.reporters import roofline_plot, roofline_text
from grader.reporters.style import Style

H200 = device("h200")
PLAIN = Style(colour=False, width=140, unicode=True)


def drawn(speed: float | None = None) -> Roofline:
    return roofline(H200, LADDER, (4096, 4096, 4096), [submission_point("mine.py", H200, 3.98, speed)])


def texts(svg: bytes) -> str:
    return "\n".join(
        "".join(node.itertext()) for node in ET.fromstring(svg).iter() if node.tag.endswith("}text")
    )


def test_the_text_names_ridge_points_kernels_and_the_submission() -> None:
    assert roofline_text.render(drawn(), PLAIN) == (
        "Roofline of NVIDIA H200 SXM 141 GB\n"
        "\n"
        "  FP32 ALUs, 66.9 TFLOP/s: ridge point 13.9 FLOP/byte\n"
        "  BF16 matrix units, 989 TFLOP/s: ridge point 206 FLOP/byte\n"
        "  HBM: 4,800 GB/s\n"
        "\n"
        "  FLOP/byte   TFLOP/s   kernel (model at M, N, K = 4096, 4096, 4096)\n"
        "       0.25       1.2   Naive                                 bound by HBM\n"
        "       3.98      19.1   mine.py                               "
        "intensity counted by the machine, speed at most this: not timed\n"
        "       7.97      8.11   Shared-memory tiles (32x32)           bound by shared memory\n"
        "       31.5        63   Register blocking (128x128, 8x8)      bound by shared memory\n"
        "       62.1       298   Tensor cores (BF16, 128x128, 64x32)   bound by HBM\n"
    )


class TestDrawing:
    @pytest.fixture(autouse=True)
    def _needs_matplotlib(self) -> None:
        pytest.importorskip("matplotlib", reason="the extra plot is not installed")

    def test_svg_has_axes_with_units_ridge_points_and_every_kernel(self) -> None:
        words = texts(roofline_plot.render(drawn(), "svg"))
        for expected in (
            "arithmetic intensity at HBM (FLOP/byte)",
            "speed (TFLOP/s)",
            "Roofline of NVIDIA H200 SXM 141 GB",
            "ridge point 13.9 FLOP/byte",
            "ridge point 206 FLOP/byte",
            "HBM, 4,800 GB/s",
            "Shared-memory tiles (32x32): shared memory",
            "submission mine.py: 3.98 FLOP/byte measured, at most 19.1 TFLOP/s, not timed",
        ):
            assert expected in words

    def test_a_timed_submission_shows_its_speed(self) -> None:
        words = texts(roofline_plot.render(drawn(7.7e12), "svg"))
        assert "submission mine.py: 3.98 FLOP/byte measured, 7.7 TFLOP/s" in words

    def test_the_same_input_gives_the_same_bytes(self) -> None:
        assert roofline_plot.render(drawn(), "svg") == roofline_plot.render(drawn(), "svg")

    def test_png_has_the_size_asked_for(self) -> None:
        image = roofline_plot.render(drawn(), "png", width=6, height=4)
        assert image[:8] == b"\x89PNG\r\n\x1a\n"
        assert struct.unpack(">II", image[16:24]) == (900, 600)

    @pytest.mark.parametrize("name", device_names())
    def test_every_device_can_be_drawn(self, name: str) -> None:
        found = device(name)
        words = texts(roofline_plot.render(roofline(found, ladder_for(found), (1000, 700, 1000)), "svg"))
        assert f"Roofline of {found.title}" in words

    def test_a_label_with_markup_is_only_text(self) -> None:
        point = submission_point("_<b>&$x^2$\x00.py", H200, 4.0)
        svg = roofline_plot.render(roofline(H200, LADDER, (64, 64, 64), [point]), "svg")
        assert "submission _<b>&$x^2$?.py: 4 FLOP/byte" in texts(svg)


def test_without_matplotlib_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(roofline_plot.PlotError, match=r"pip install '\.\[plot\]' in Tilegrade's checkout"):
        roofline_plot.render(drawn(), "svg")
