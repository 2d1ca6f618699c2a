"""Every page (Markdown file) of the repository, parsed once: lines, headings, links and blocks."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from broker.reference import HEAD

ROOT = Path(__file__).parents[3]

_FENCE = re.compile(r"^( *)(```+)(\w*)[^\n]*\n(.*?)^ *\2[ ]*$", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"<!--\s*(.*?)\s*-->", re.DOTALL)
_ID = re.compile(r'<a id="([\w-]+)"></a>')
_HEADING = re.compile(r"^(#{1,6}) +(.+?)(?: +#+)?$", re.MULTILINE)
_LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\(<?([^)\s>]+)>?(?: \"[^\"]*\")?\)")
_BARE_LINK = re.compile(r"https?://[^\s<>)\"'`]+[^\s<>)\"'`.,;:]")
_DIRECTIVE = re.compile(r"(with|world|run by|not run|not compared): (.+)", re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, and why it is not run or compared, where a comment before it gives a
    reason."""

    kind: str
    text: str
    not_run: str | None


@dataclass(frozen=True, repr=False)
class Page:
    """A page. `prose` is its text without fenced blocks, which keep their number of lines."""

    path: Path
    text: str
    prose: str
    headings: tuple[str, ...]
    blocks: tuple[Block, ...]

    def __repr__(self) -> str:
        return self.name

    @property
    def name(self) -> str:
        """The path from the top of the repository."""
        return self.path.relative_to(ROOT).as_posix()

    @property
    def is_generated(self) -> bool:
        """Whether `python -m broker.reference` wrote it."""
        return self.text.startswith(HEAD)

    @property
    def anchors(self) -> set[str]:
        """The names that a link may have after #: headings as GitHub and the site name them, and ids."""
        counted = Counter([*(anchor(heading) for heading in self.headings), *_ID.findall(self.prose)])
        return {name for name, times in counted.items() if times == 1}

    def links(self) -> Iterator[str]:
        """Targets of links that are not on the web."""
        for target in _LINK.findall(_without_code(self.prose)):
            if not re.match(r"\w+:", target):
                yield target

    def external_links(self) -> set[str]:
        """Links to the web, also bare ones; links in code do not count."""
        return set(_BARE_LINK.findall(_without_code(self.prose)))

    @property
    def words(self) -> str:
        """The prose without links and comments."""
        return _COMMENT.sub("", _BARE_LINK.sub("", _LINK.sub("", self.prose)))

    def directives(self, name: str) -> list[str]:
        """The declarations in comments `<!-- NAME: VALUE -->`."""
        found = [_DIRECTIVE.fullmatch(comment) for comment in _COMMENT.findall(self.prose)]
        return [one[2].strip() for one in found if one and one[1] == name]


def anchor(heading: str) -> str:
    """The anchor of a heading: GitHub's, which the site uses, too."""
    words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").strip().lower()
    return re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", words))


def _without_code(text: str) -> str:
    return re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", "", text)


def parsed(path: Path) -> Page:
    """A page from its file."""
    text = path.read_text(encoding="utf-8")
    blocks, prose, end = [], [], 0
    for found in _FENCE.finditer(text):
        before = text[end : found.start()]
        prose += [before, "\n" * found[0].count("\n")]
        end = found.end()
        comments = _COMMENT.findall(before) if re.search(r"-->\s*\Z", before) else []
        directive = _DIRECTIVE.fullmatch(comments[-1]) if comments else None
        reason = " ".join(directive[2].split()) if directive and directive[1] in ("not run", "not compared") else None
        indent = found[1]
        blocks.append(Block(found[3], re.sub(rf"^{indent}", "", found[4], flags=re.MULTILINE), reason))
    prose.append(text[end:])
    whole = "".join(prose)
    headings = tuple(title for _, title in _HEADING.findall(_COMMENT.sub("", whole)))
    return Page(path, text, whole, headings, tuple(blocks))


@cache
def pages() -> tuple[Page, ...]:
    """All pages, by path: those at the top of the repository, and those below its visible folders."""
    tops = [path for path in ROOT.iterdir() if path.is_dir() and not path.name.startswith(".")]
    found = [
        *ROOT.glob("*.md"),
        *(path for top in tops if top.name not in ("build", "dist") for path in top.rglob("*.md")),
    ]
    return tuple(parsed(path) for path in sorted(found))


@cache
def by_name() -> dict[str, Page]:
    """The pages by their paths from the top of the repository."""
    return {page.name: page for page in pages()}


def listed(name: str) -> list[str]:
    """The lines of a committed list beside this file, without comments."""
    lines = (Path(__file__).parent / name).read_text(encoding="utf-8").splitlines()
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]
