"""The exports that `broker load` takes, from the table that the program reads itself."""

from collections.abc import Iterator

from broker.known_exports import EXPORTS
from broker.reference.markdown import Page, bullets, code, escaped, page, section, wrapped


def pages() -> Iterator[Page]:
    """The page of exports: the description, the sources and the accepted formats of each."""
    entries = []
    for export in EXPORTS.values():
        text = wrapped(escaped(f"`broker load {export.option}`: {export.what}. {export.shapes}"))
        entries.append(section(2, export.name, text, "It is had from", bullets(map(code, export.sources))))
    lead = (
        "This page lists the exports of other systems that load in their original form, in the order of loading. "
        "A file is JSON, lines of JSON, or (rows) a table, .csv or .tsv, with the columns in the first line. "
        "[Import](../how-to/import.md) shows them at work."
    )
    yield page("exports.md", "Exports", lead, entries)
