"""Options of the form NAME=VALUE, where the value is JSON or any other text."""


def pair(option: str, text: str, example: str) -> tuple[str, object]:
    """The name and the value. Raises BadRequest, which names the option, where there is no value."""
    from broker.errors import BadRequest
    from broker.json_text import parse_or_text

    name, equals, value = text.partition("=")
    if not equals:
        raise BadRequest(f"{option} {text} has no value", f"for example {option} {example}")
    return name, parse_or_text(value)
