"""The output of commands that change something."""

from broker.cli.shared import output


def report(text: str, *, as_json: bool, **values: object) -> None:
    """Print a line about what was done, or its values as JSON."""
    if as_json:
        output.json_out(values)
    else:
        output.say(text)
