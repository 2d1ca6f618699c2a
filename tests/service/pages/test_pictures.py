"""The pictures in the documentation: pages of an invented day, drawn by a browser.

BROKER_TEST_WRITE=1 writes them. Otherwise the pages are drawn again, and their words are compared with the words that
were stored with the picture. Pixels are not compared, since fonts differ between machines.
"""

import base64
import hashlib
import os
import re
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path
from typing import Any

from tests.core.docs import pages
from tests.service.conftest import Db
from tests.service.pages import day
from tests.service.pages.conftest import BASE, Tab

IMAGES = pages.ROOT / "broker" / "docs" / "images"
WORDS = Path(__file__).parent / "pictures"
WIDTH = 1280
MOST_BYTES = 150_000
AGAIN = "BROKER_TEST_WRITE=1 .venv/bin/pytest -n 0 tests/service/pages/test_pictures.py"

# Leaves out the content after the last element that is shown, and hidden content.
_CUT = """([last, without]) => {
  document.querySelectorAll(without).forEach((one) => one.remove());
  for (let end = document.querySelector(last); end.id !== "main"; end = end.parentElement)
    while (end.nextSibling) end.nextSibling.remove();
}"""


@dataclass(frozen=True)
class Picture:
    """A picture: the address of its page, the last element of it that is shown, and the elements left out before.

    The address may contain `{}`, which is replaced by a number from a query.
    """

    path: str
    last: str
    without: str = ".live"
    query: str = ""


_FAILS = "select labels ->> 'site' from alert.alert_now where rule = 'site_fails_jobs'"
_TASK = """select min(task_id) from brokerage.task_reason where setup = 'default' and reason = 'no_queue_accepts'"""
_RUN = "select run_id from monitor.run where setup = 'default' and algorithm = 'production_job'"
PICTURES = {
    # a test's server has its own findings
    "overview": Picture("", "main > .grid", ".tiles li:has([href$='/health'])"),
    "task": Picture(
        "/tasks/{}?now=1",
        ".scroll:has(.matrix)",
        ".matrix tfoot, .matrix tbody tr:nth-child(n+8), .helps li:nth-child(n+4)",
        _TASK,
    ),
    "site": Picture("/sites/{}", "[aria-label='Its queues']", query=_FAILS),
    "shares": Picture("/shares", ".grid", ".grid > :nth-child(n+4)"),
    "replay": Picture(
        "/replay?run={}&parameters=top-10.best%3D2",
        "[aria-label='Where jobs go']",
        "form p.note, tbody tr:nth-child(n+7), .card:has([aria-label='Status of tasks that are decided otherwise'])",
        _RUN,
    ),
    "alerts": Picture("/alerts", "[aria-label='Rules of alerts']", "[aria-label='Rules of alerts'] tr:nth-child(n+5)"),
}


def test_the_pictures_of_the_documentation_show_the_current_pages(db: Db, tab: Tab) -> None:
    day.fill(db)
    wrong = []
    page = tab(WIDTH, scripts=False, kind="viewer")
    for name, picture in PICTURES.items():
        [of] = db.execute(picture.query.encode() or b"select ''").fetchone() or [""]
        assert page.goto(BASE + picture.path.format(of)).status == 200
        page.evaluate(_CUT, [picture.last, picture.without])
        part = "body" if name == "overview" else "main"  # the frame is the same on all pages
        words = re.sub(r"\s*\n\s*", "\n", page.inner_text(part)).strip() + "\n"
        words = re.sub(r"\b1000\d{3}\b", "JOB", words)  # a JobAgent draws its job
        words = words.replace(" Mar 2026 ", " Mar ")  # the year is shown if it is not the present one
        image, text = IMAGES / f"{name}.webp", WORDS / f"{name}.txt"
        if os.environ.get("BROKER_TEST_WRITE"):
            image.parent.mkdir(exist_ok=True)
            text.parent.mkdir(exist_ok=True)
            image.write_bytes(_drawn(page))
            text.write_text(f"{_digest(image)}\n{words}", encoding="utf-8")
        written = text.read_text(encoding="utf-8") if text.exists() else "\n"
        digest, _, then = written.partition("\n")
        wrong += list(unified_diff(then.splitlines(), words.splitlines(), f"{name}.webp", "the page", lineterm="", n=0))
        if not image.exists() or digest != _digest(image):
            wrong.append(f"{name}.webp is not the picture that was written with {name}.txt")
    assert not wrong, "\n".join([*wrong, f"write them again: {AGAIN}"])


def test_pictures_are_small_and_used_with_a_text_alternative() -> None:
    for image in IMAGES.iterdir():
        data = image.read_bytes()
        assert data[8:16] == b"WEBPVP8X"
        assert int.from_bytes(data[24:27], "little") < WIDTH
        assert len(data) <= MOST_BYTES, image.name
    shown = {
        (page.path.parent / target).resolve(): words
        for page in pages.pages()
        for words, target in re.findall(r"!\[([^\]]*)\]\(([^)\s]+)\)", page.prose)
    }
    assert {IMAGES / f"{name}.webp" for name in PICTURES} == set(IMAGES.iterdir()) == {*shown}
    assert {target for target, words in shown.items() if len(words.split()) < 5} == set()


def _drawn(page: Any) -> bytes:
    """The page as WebP, a third of the size of PNG, the only format without loss that Playwright itself offers."""
    size = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.scrollHeight]")
    clip = {"x": 0, "y": 0, "width": size[0], "height": size[1], "scale": 1}
    found = page.context.new_cdp_session(page).send(
        "Page.captureScreenshot", {"format": "webp", "quality": 85, "clip": clip, "captureBeyondViewport": True}
    )
    return base64.b64decode(found["data"])


def _digest(image: Path) -> str:
    return hashlib.sha256(image.read_bytes()).hexdigest()
