"""Citations: the sources that texts of the repository name, and whether a reader can find them.

A citation of ours is `PAGE.md`, `PAGE.md#anchor` or `PAGE.md, Heading`; the page is named by as much of the end of its
path as makes it unique (`MATCHING.md`, `rules/network.md`). A citation of others begins with a line of
public_pages.txt. A comment may end in `Source: CITATION; CITATION.`
"""

import io
import re
import tokenize
from collections.abc import Iterator
from functools import cache

from tests.core.docs import pages as docs
from tests.core.docs.pages import ROOT, Page

_PAGE = r"[\w./-]*\w\.md"
# A heading may continue in the next line; a citation behind it is a separate one.
_OURS = re.compile(rf"(?<![\w/.-])({_PAGE})(?:#([\w-]+)(?!\w)|, (?=([A-Z][^;)\"']{{0,99}}))|(?!\w))")
_SOURCE = re.compile(r"\bSource: (.+?)(?:\.\s|\.?$|\.?'|\.?\"\"\")", re.DOTALL)

# Names and numbers of pages that readers do not have.
FORBIDDEN = re.compile(
    r"""\b[Ss]eeds?\ 0\d\d
      | \b[Ss]ections?\ \d
      | §
      | (?<![\w-])(?:brokerage-(?:rules|doc-profile)|taskqueue-matching|world-format|data-model)(?![\w-])
      | (?<![\w-])instance-scheduling(?![\w-])
      | (?<![\w/-])(?:house|lifecycle|scale|trial)\.md
      | \bD-\d\d\b
      | \bprofile,?\ G\d+\b
    """,
    re.VERBOSE,
)
_TOPS_OF_PYTHON = ("broker", "migrations", "tests", "benchmarks")
_WITH_EXAMPLES = {"tests/core/docs/citations.py", "tests/core/docs/test_citations.py"}


@cache
def texts() -> tuple[tuple[str, str], ...]:
    """Every file that may cite: name and text."""
    kinds = [("sql", "sql"), ("migrations", "sql"), *((top, "py") for top in _TOPS_OF_PYTHON)]
    paths = sorted(path for folder, ending in kinds for path in (ROOT / folder).rglob(f"*.{ending}"))
    named = {path.relative_to(ROOT).as_posix(): path for path in paths}
    return tuple((name, path.read_text(encoding="utf-8")) for name, path in named.items() if name not in _WITH_EXAMPLES)


@cache
def _named(name: str) -> list[Page]:
    """The pages that a name may mean."""
    return [page for page in docs.pages() if f"/{page.name}".endswith("/" + re.sub(r"^(\.\.?/)+", "", name))]


def resolves(name: str, anchor: str | None, heading: str | None, near: str = "") -> bool:
    """Whether a citation of ours leads to one page, or to the one beside the file `near`, and a heading on it."""
    found = _named(name)
    if len(found) > 1:
        beside = [page for page in found if page.path.parent == (ROOT / near).parent]
        found = beside or found
    if len(found) != 1:
        return False
    [page] = found
    if anchor:
        return anchor in page.anchors
    return not heading or any(_begins(heading, title.replace("`", "")) for title in page.headings)


def _begins(text: str, title: str) -> bool:
    words = " ".join(re.sub(r"\n\s*(?:--|#)", " ", text).split())
    return re.match(rf"{re.escape(title)}(?!\w)", words, re.IGNORECASE) is not None


def unresolved(name: str, text: str) -> Iterator[str]:
    """Citations of a text that its reader cannot find, with their lines. In Python, comments and docstrings count."""
    for found in FORBIDDEN.finditer(text):
        yield f"{name}:{_line(text, found.start())}: {found[0]}"
    words = _comments(text) if name.endswith(".py") else text
    for found in _OURS.finditer(words):
        if not FORBIDDEN.search(found[0]) and not resolves(found[1], found[2], found[3], name):
            yield f"{name}:{_line(words, found.start())}: {found[0]}{(found[3] or '').partition(chr(10))[0][:40]}"


def _comments(text: str) -> str:
    """The comments and docstrings of a Python file, on their lines."""
    if ".md" not in text:
        return ""
    lines = [""] * (text.count("\n") + 2)
    starts_a_statement = True
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT or (token.type == tokenize.STRING and starts_a_statement):
            for number, line in enumerate(token.string.split("\n"), token.start[0]):
                lines[number] += line
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            starts_a_statement = token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING)
    return "\n".join(lines[1:])


def unknown_source(source: str) -> bool:
    """Whether a source (of a column, or behind `Source:`) is neither a page of ours nor a public one."""
    if not source.strip() or FORBIDDEN.search(source):
        return True
    parts = [part.strip() for part in source.split(";")]
    public = docs.listed("public_pages.txt")
    for part in parts:
        ours = _OURS.match(part)
        if not (resolves(*ours.groups()) if ours else part.startswith(tuple(public))):
            return True
    return False


def sources(text: str) -> Iterator[tuple[int, str]]:
    """The sources that comments of a text give after `Source:`, with their lines."""
    for found in _SOURCE.finditer(re.sub(r"\n\s*(?:--|#)", "\n  ", text)):
        yield _line(text, found.start()), " ".join(found[1].split())


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1
