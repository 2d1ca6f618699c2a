"""The help and the last line of commands that change something."""

from collections.abc import Callable
from typing import Any, TypeVar

from broker.acts import Act
from broker.cli.shared import output

_Command = TypeVar("_Command", bound=Callable[..., Any])


def tells(act: Act) -> Callable[[_Command], _Command]:
    """Add the effect of an act to the first paragraph of a command's help."""

    def described(command: _Command) -> _Command:
        first, blank, rest = (command.__doc__ or "").partition("\n\n")
        command.__doc__ = f"{first} {act.effect}{blank}{rest}"
        return command

    return described


def report(text: str, *, as_json: bool, **values: object) -> None:
    """Print a line about what was done, or its values as JSON."""
    if as_json:
        output.json_out(values)
    else:
        output.say(text)
