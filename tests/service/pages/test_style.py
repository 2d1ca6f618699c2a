"""The style sheet: contrast of its colours in both themes, its size, and templates without styles of their own."""

import re
from pathlib import Path

import pytest

from broker.service import pages

FOLDER = Path(pages.__file__).parent
CSS = (FOLDER / "style.css").read_text(encoding="utf-8")
TOKENS = {
    name: (light, dark)
    for name, light, dark in re.findall(r"--([\w-]+):\s*light-dark\((#[0-9a-f]{6}),\s*(#[0-9a-f]{6})\)", CSS)
}
MEANINGS = ("accent", "ok", "warn", "bad", "hold")
GROUNDS = ("surface", "ground", "sunk")
TEXTS = (
    *((text, ground) for text in ("text", "quiet", *MEANINGS) for ground in GROUNDS),
    *((text, f"{of}-soft") for of in MEANINGS for text in ("text", of)),
    ("on-accent", "accent"), ("on-bad", "bad"), ("quiet", "accent-soft"), ("quiet", "bad-soft"),
)  # fmt: skip
LINES = (
    *((line, ground) for line in ("edge", "focus") for ground in ("surface", "ground")),
    *((f"c{number}", "surface") for number in range(1, 9)),
)


def light_of(colour: str) -> float:
    """The relative luminance of WCAG 2."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((light_of(one), light_of(other)))
    return (high + 0.05) / (low + 0.05)


def test_the_contrast_of_black_and_white_is_the_known_one() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)


@pytest.mark.parametrize(("pairs", "least"), [(TEXTS, 4.5), (LINES, 3)])
@pytest.mark.parametrize("theme", pages.THEMES)
def test_colours_are_told_from_their_ground(pairs: tuple[tuple[str, str], ...], least: float, theme: str) -> None:
    at = pages.THEMES.index(theme)
    weak = {
        f"{front} on {ground}": round(of, 2)
        for front, ground in pairs
        if (of := contrast(TOKENS[front][at], TOKENS[ground][at])) < least
    }
    assert weak == {}


def test_colours_are_written_once() -> None:
    """Elsewhere the style sheet names them, so that the check of contrast has all of them."""
    rules = CSS.partition("}")[2]
    assert {one for one in re.findall(r"#[0-9a-f]{3,8}\b", rules) if one != "#0008"} == set()


def test_each_class_of_a_badge_and_of_a_line_has_its_colour() -> None:
    for name in ("ok", "run", "warn", "bad", "hold", "idle"):
        assert f".badge.{name}" in CSS
    for number in range(1, 9):
        assert f".c{number} {{ stroke: var(--c{number});" in CSS


def test_the_files_of_pages_are_small() -> None:
    assert len(CSS.encode()) < 40_000
    assert sum((FOLDER / name).stat().st_size for name in ("app.js", "live.js")) < 10_000


def test_no_template_has_a_style_or_a_script_of_its_own() -> None:
    """The Content-Security-Policy would not allow them."""
    templates = sorted((FOLDER / "templates").rglob("*.html"))
    assert len(templates) > 30
    for path in templates:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"\sstyle=|<style|javascript:|\son[a-z]+=\"", text), path.name
        assert not re.search(r"<script(?! src=\"/pages/\w+\.js\" defer></script>)", text), path.name
        assert not re.search(r"(src|href)=\"(https?:|//|data:)", text), path.name
