"""Names and words of others, made safe for terminals, logs, pages and mails."""

import unicodedata


def visible(text: str, keep: str = "") -> str:
    """A text in which each control or format character is an escape, such as \\x1b or \\u202e, which acts on nothing.

    keep: characters that stay as they are, such as the line end where a text has several lines.
    """
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() or c in keep or unicodedata.category(c) == "Zs" else c.encode("unicode_escape").decode()
        for c in text
    )
