"""The options of the program itself, which all commands share."""

from dataclasses import dataclass


@dataclass
class Options:
    """The global options of this run of the program."""

    dsn: str | None = None
    prepare: bool | None = None
    as_json: bool = False
    wide: bool = False
    setup: str | None = None


options = Options()
