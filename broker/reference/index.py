"""The list of the pages about the database."""

from collections.abc import Iterator, Sequence

from broker.reference.markdown import Page, bullets, page


def pages(listed: Sequence[Page]) -> Iterator[Page]:
    """The page that lists the others, one line each."""
    lead = (
        "These pages list the content of the database. Their texts are the comments of its objects; psql shows the "
        "same: "
        "`\\df+ taskqueue.*`, `\\dv+ monitor.*`. Tables are in the README of each schema, such as "
        "[taskqueue](../taskqueue/README.md#tables), their columns in "
        "[migrations/baseline](../../migrations/baseline/)."
    )
    yield page(
        "README.md", "Reference of the database", lead, [bullets(f"[{one.title}]({one.name})" for one in listed)]
    )
