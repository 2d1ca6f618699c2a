"""The exports that `broker load` takes, from the table that the program reads itself."""

from collections.abc import Iterator

from broker.known_exports import EXPORTS
from broker.reference.markdown import Page, bullets, code, escaped, page, section, wrapped


def pages() -> Iterator[Page]:
    """The page of exports: the description, the sources and the accepted formats of each."""
    entries = [
        section(
            2,
            export.name,
            wrapped(escaped(f"`broker load {export.option}`: {export.what}. {export.shapes}")),
            "It is had from",
            bullets(code(source) for source in export.sources),
        )
        for export in EXPORTS.values()
    ]
    lead = (
        "This page lists the exports of other systems that load as these systems write them, in the order of loading. "
        "A file is JSON, lines of JSON, or (rows) a table, .csv or .tsv, with the columns in the first line. "
        "[Import](../how-to/import.md) shows them at work."
    )
    yield page("exports.md", "Exports", lead, entries)
