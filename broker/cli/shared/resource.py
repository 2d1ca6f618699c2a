"""The options that describe a resource, for every command that takes one."""

import functools
import inspect
import math
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

Resource = dict[str, Any]
"""A resource description, as a JobAgent sends it; empty when no option was given."""

_EXAMPLE = """for example '{"CPUTime": 86400}', or @FILE"""


def _describe(
    *,
    resource: Annotated[
        str | None,
        typer.Option(
            metavar="JSON|@FILE",
            help="A resource description, or a node of DiracX, as JSON or in a file; the other options add to it.",
        ),
    ] = None,
    site: Annotated[list[str] | None, typer.Option(help="Site; repeat it for several.")] = None,
    platform: Annotated[list[str] | None, typer.Option(help="Platform; repeat it for several.")] = None,
    cpu_time: Annotated[float | None, typer.Option(help="CPU time offered, in seconds (CPUTime).")] = None,
    ce: Annotated[list[str] | None, typer.Option(help="Computing element (GridCE).")] = None,
    tag: Annotated[list[str] | None, typer.Option(help="Tag; repeat it for several.")] = None,
    attribute: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="Attribute, such as gpu.count=1; repeat it for several."),
    ] = None,
    processors: Annotated[int | None, typer.Option(help="Number of processors (NumberOfProcessors).")] = None,
    max_ram: Annotated[float | None, typer.Option(help="Memory in MB (MaxRAM).")] = None,
    host: Annotated[str | None, typer.Option(help="Name of the worker node (HostName).")] = None,
    owner_group: Annotated[list[str] | None, typer.Option(help="Owner group of a private pilot (OwnerGroup).")] = None,
    owner: Annotated[str | None, typer.Option(help="Owner of a private pilot (OwnerDN).")] = None,
) -> Resource:
    """The description that the options give. Raises BadRequest when --resource is not a JSON object."""
    from broker.cli.shared.files import reading
    from broker.errors import BadRequest
    from broker.json_text import Written, parse
    from broker.translate import translated_description

    text, named = resource, "--resource"
    if resource and resource.startswith("@"):
        named = f"--resource {resource}"
        with reading(Path(resource[1:])) as stream:
            text = stream.read()
    try:
        described = translated_description(parse(text, Written)) if text else {}
    except ValueError as error:
        raise BadRequest(f"{named} is not JSON: {error}", _EXAMPLE) from None
    except BadRequest as error:
        raise BadRequest(f"{named}: {error.message}", error.hint) from None
    if not isinstance(described, dict):
        raise BadRequest(f"{named} is not a JSON object: {str(text)[:100]}", _EXAMPLE)
    options: dict[str, object] = {
        "Site": site, "Platform": platform, "CPUTime": cpu_time, "GridCE": ce, "Tag": tag,
        "NumberOfProcessors": processors, "MaxRAM": max_ram, "HostName": host, "OwnerGroup": owner_group,
        "OwnerDN": owner,
    }  # fmt: skip
    for option, number in {"--cpu-time": cpu_time, "--max-ram": max_ram}.items():
        if number is not None and not math.isfinite(number):
            raise typer.BadParameter(f"{number} is not a finite number", param_hint=option)
    for key, value in options.items():
        if value is not None and value != []:
            described[key] = value[0] if isinstance(value, list) and len(value) == 1 else value
    if attribute:
        given = described.get("Attributes") or {}
        if not isinstance(given, dict):
            raise BadRequest(f"Attributes of --resource is {str(given)[:100]}, which is not an object", _EXAMPLE)
        described["Attributes"] = {**given, **_attributes(attribute)}
    return described


def _attributes(given: list[str]) -> dict[str, object]:
    """The values by name; a name that comes twice has a list of texts. The database converts the texts."""
    values: dict[str, list[str]] = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not (name and equals and value):
            raise typer.BadParameter(f"{text} is not NAME=VALUE, such as gpu.count=1", param_hint="--attribute")
        values.setdefault(name, []).append(value)
    return {name: several[0] if len(several) == 1 else several for name, several in values.items()}


def takes_resource(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of `_describe`; its parameter `described` receives the description."""
    options = inspect.signature(_describe).parameters
    own = [p for p in inspect.signature(command).parameters.values() if p.name != "described"]

    @functools.wraps(command)
    def with_options(**values: Any) -> None:
        import psycopg

        from broker.database_errors import from_database
        from broker.errors import BadRequest

        described = _describe(**{name: values.pop(name) for name in options})
        try:
            command(described=described, **values)
        except Exception as error:
            found = from_database(error) if isinstance(error, psycopg.Error) else error
            if not (isinstance(found, BadRequest) and found.message.startswith("CPUTime is missing")):
                raise
            found.hint = f"{found.hint} For example --cpu-time 86400."
            raise found from error

    parameters = [p.replace(kind=p.KEYWORD_ONLY) for p in (*own, *options.values())]
    with_options.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # Typer reads the signature
    with_options.__annotations__ = {p.name: p.annotation for p in parameters}
    return with_options
