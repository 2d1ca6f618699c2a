"""Gather the pages of the repository for the site: `python .ci/site/stage.py FOLDER`, and make its menu.

Pages are where their readers look for them: broker/docs, sql/, and the top of the repository. The site has them in one
tree, so their links to each other are rewritten. A link to a file that is not a page leads to the file in the
repository, by the project URL of pyproject.toml; without a URL, only the words of the link remain.
"""

import os
import re
import shutil
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
# Place in the repository -> place on the site; the longest matching entry counts.
PLACES = {
    "broker/docs": "",
    "broker": "python",
    "sql": "database",
    "sql/reference": "reference/database",
    "migrations": "migrations",
    "benchmarks": "benchmarks",
    "": "",
}
# The menu: title -> beginnings of pages' paths on the site. A page belongs to its longest matching beginning.
MENU = {
    "Home": ["index.md", "contents.md"],
    "Tutorial": ["tutorial/"],
    "How-to": ["how-to/"],
    "Reference": {"Program": ["reference/"], "Database": ["reference/database/"], "Specification": ["database/"]},
    "Explanation": ["explanation/"],
    "Project": ["CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "python/", "migrations/", "benchmarks/", ""],
}
LEFT_OUT = ("tests", "benchmarks/results")
IMAGES = (".svg", ".webp")
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
_FENCE = re.compile(r"(^ *```.*?^ *```[^\n]*$)", re.MULTILINE | re.DOTALL)


def sources() -> list[PurePosixPath]:
    """The pages of the repository that the site has."""
    found = [ROOT.glob("*.md")]
    found += [(ROOT / top).rglob("*.md") for top in ("broker", "sql", "migrations", "benchmarks")]
    paths = sorted(PurePosixPath(path.relative_to(ROOT).as_posix()) for some in found for path in some)
    return [path for path in paths if not any(path.is_relative_to(place) for place in LEFT_OUT)]


def images() -> list[PurePosixPath]:
    """The images of the pages."""
    found = [path for path in (ROOT / "broker" / "docs").rglob("*") if path.suffix in IMAGES]
    return [PurePosixPath(path.relative_to(ROOT).as_posix()) for path in sorted(found)]


def place(path: PurePosixPath) -> PurePosixPath:
    """The place of a page or an image on the site."""
    top = max((top for top in PLACES if path.is_relative_to(top or ".")), key=len)
    inside = path.relative_to(top or ".")
    if path == PurePosixPath("README.md"):
        return PurePosixPath("index.md")
    if path == PurePosixPath("broker/docs/README.md"):
        return PurePosixPath("contents.md")  # a README.md is left out if there is an index.md
    if path.name == "README.md":
        inside = inside.with_name("index.md")
    return PurePosixPath(PLACES[top]) / inside


def rewritten(text: str, page: PurePosixPath, places: dict[PurePosixPath, PurePosixPath], repository: str) -> str:
    """The text of a page with its links rewritten for the site."""

    def link(found: re.Match[str]) -> str:
        mark, words, target = found.groups()
        file, sharp, anchor = target.partition("#")
        if re.match(r"\w+:", target) or not file:
            return found[0]
        meant = PurePosixPath(os.path.normpath(page.parent / file))
        if meant not in places and (meant / "README.md") in places:
            meant = meant / "README.md"
        if meant in places:
            return f"{mark}[{words}]({_relative(places[meant], places[page])}{sharp}{anchor})"
        if not (ROOT / meant).exists():
            return found[0]  # the strict build reports it
        return f"{mark}[{words}]({repository}/blob/main/{meant}{sharp}{anchor})" if repository else words

    parts = _FENCE.split(text)
    return "".join(part if number % 2 else _LINK.sub(link, part) for number, part in enumerate(parts))


def _relative(target: PurePosixPath, page: PurePosixPath) -> str:
    return PurePosixPath(os.path.relpath(target, page.parent)).as_posix()


def stage(folder: Path) -> None:
    """Write all pages below a folder, which is emptied first."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    repository = project.get("urls", {}).get("Repository", "").rstrip("/")
    shutil.rmtree(folder, ignore_errors=True)
    places = {path: place(path) for path in sources()}
    if len(set(places.values())) != len(places):
        raise SystemExit(f"two pages have one place on the site: {sorted(map(str, places.values()))}")
    pictures = {path: place(path) for path in images()}
    for source, target in places.items():
        text = rewritten((ROOT / source).read_text(encoding="utf-8"), source, places | pictures, repository)
        file = folder / target
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    for source, target in pictures.items():
        file = folder / target
        file.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / source, file)


def on_config(config: Any) -> Any:
    """Called by mkdocs: give it the menu."""
    folder = Path(config["docs_dir"])
    pages = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.md"))
    config["nav"] = _menu(MENU, {page: _beginning(page) for page in pages}, folder)
    return config


def _beginning(page: str) -> str:
    """The entry of the menu to which a page belongs."""
    entries = [entry for value in MENU.values() for inner in _entries(value) for entry in inner]
    return max((entry for entry in entries if page.startswith(entry)), key=len)


def _entries(value: Any) -> Iterator[list[str]]:
    yield from value.values() if isinstance(value, dict) else [value]


def _menu(part: dict[str, Any], pages: dict[str, str], folder: Path) -> list[Any]:
    """The menu in the form for mkdocs, without titles that have no pages."""
    found: list[Any] = []
    for title, value in part.items():
        if isinstance(value, dict):
            inner = _menu(value, pages, folder)
        else:
            inner = [
                one for entry in value for one in _tree([p for p, top in pages.items() if top == entry], entry, folder)
            ]
        if inner:
            found.append({title: inner[0] if inner == ["index.md"] else inner})
    return found


def _tree(pages: list[str], top: str, folder: Path) -> list[Any]:
    """Pages by folder: first the index, then in the order in which the index links to them, then by name."""
    index = folder / top / "index.md"
    text = index.read_text(encoding="utf-8") if top.endswith("/") and index.exists() else ""

    def order(page: str) -> tuple[bool, int, str]:
        name = page.removeprefix(top)
        linked = text.find(f"]({name}")
        return name != "index.md", linked if linked >= 0 else len(text), page

    found: list[Any] = []
    below: dict[str, list[str]] = {}
    for page in sorted(pages, key=order):
        inside, slash, _ = page.removeprefix(top).partition("/")
        if slash and top:
            if inside not in below:
                below[inside] = []
                found.append({inside: below[inside]})
            below[inside].append(page)
        else:
            found.append(page)
    return [
        {name: _tree(inner, f"{top}{name}/", folder) for name, inner in one.items()} if isinstance(one, dict) else one
        for one in found
    ]


if __name__ == "__main__":
    stage(Path(sys.argv[1]))
