"""`broker kit`: the files that run pgbroker in production, written into a folder."""

from pathlib import Path
from typing import Annotated

import typer

from broker.cli.shared import output
from broker.cli.shared.common import Json
from broker.words import counted

app = typer.Typer()

KIT = Path(__file__).parents[1] / "kit"


@app.command(rich_help_panel="Server")
def kit(
    directory: Annotated[Path, typer.Argument(help="A folder that is empty or does not exist yet.")],
    *,
    as_json: Json = False,
) -> None:
    """Write the production kit. It has files for systemd, containers, nginx, Prometheus, Grafana and the database.

    Nothing is overwritten. The how-to page "A grid in production" uses the files one after the other.
    """
    from broker.errors import BrokerError

    names = sorted(path.relative_to(KIT).as_posix() for path in KIT.rglob("*") if path.is_file())
    try:
        there = sorted(path.name for path in directory.iterdir()) if directory.exists() else []
        if there:
            raise BrokerError(f"{directory} is not empty: {there[0]} is there", "name a new folder")
        for name in names:
            target = directory / name
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("xb") as file:
                file.write((KIT / name).read_bytes())
    except OSError as error:
        raise BrokerError(
            f"cannot write {error.filename or directory}: {error.strerror}", "name a folder that you may write"
        ) from None
    if as_json:
        output.json_out({"directory": directory.absolute(), "files": names})
        return
    for name in names:
        output.say(f"{directory / name}")
    output.note(f"{counted(len(names), 'file')}; put your own host names in place of those of example.org")
