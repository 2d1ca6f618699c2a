"""Names act on no reader of a page or of the service's log."""

import io
import logging
import logging.config

from broker.service import pages, run
from broker.service.pages import tables

NAME = "\x1b[2J\x07\x9b2J\u202egnp\u200b"
SHOWN = r"\x1b[2J\x07\x9b2J\u202egnp\u200b"


def test_a_page_shows_the_characters_of_a_name() -> None:
    template = pages._environment().from_string("<b title='{{ name }}'>{{ name }}{{ lines }}</b>{{ cell }}")
    cell = tables.cell(NAME, "sites/{}", "/setups/x/") + tables.cell({"a": [NAME]}, None, "")
    text = template.render(name=NAME, lines="a\n\tb", cell=cell)
    link = "/setups/x/sites/%1B%5B2J%07%C2%9B2J%E2%80%AEgnp%E2%80%8B"
    assert text == f"<b title='{SHOWN}'>{SHOWN}a\n\tb</b><a href=\"{link}\">{SHOWN}</a>a: {SHOWN}"
    assert SHOWN in tables.marks(["r"], {"r": NAME}, None) and NAME not in tables.marks(["r"], {"r": NAME}, None)


def test_the_log_of_the_service_shows_the_characters_of_a_name() -> None:
    configured = run._logging("text")
    stream = io.StringIO()
    configured["handlers"]["default"] |= {"stream": stream}
    configured["loggers"] = {"tried": {"handlers": ["default"], "level": "INFO", "propagate": False}}
    configured["disable_existing_loggers"] = False
    logging.config.dictConfig(configured)
    log = logging.getLogger("tried")
    log.warning("no keys of %s: %s", "issuer", NAME + "\nERROR: forged")
    try:
        raise ValueError(NAME)
    except ValueError as error:
        log.error("failed", exc_info=error)
    first, *rest = stream.getvalue().splitlines()
    assert first.endswith(f"no keys of issuer: {SHOWN}\\nERROR: forged")
    assert rest[-1] == f"ValueError: {SHOWN}"
    assert NAME not in stream.getvalue()


def test_an_address_in_a_head_has_no_character_that_ends_the_head() -> None:
    answer = pages.redirect("/setups/a\r\nSet-Cookie: x=東/what-if/1?to=%2F")
    assert answer.headers["Location"] == "/setups/a%0D%0ASet-Cookie:%20x=%E6%9D%B1/what-if/1?to=%2F"
