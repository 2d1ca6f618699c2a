"""The commands of the page about logging in are run as written; a person logs in between them."""

from pathlib import Path

from psycopg.types.json import Jsonb

from tests.cookies import digest
from tests.service.conftest import Db
from tests.service.test_page import blocks, run_blocks

PERSON = {"iss": "https://issuer.example.org", "sub": "3f2a77", "wlcg.groups": ["/atlas/production"]}


def test_the_commands_of_the_page_about_logins_work(db: Db, dsn: str, tmp_path: Path, warm: Path) -> None:
    started, credentials, served, sessions = blocks("broker/docs/how-to/log-in.md")
    assert "broker serve --open" in started and "serve --behind-proxy" in served
    run_blocks([credentials], "", dsn, tmp_path, warm)
    for number, person in enumerate((PERSON, {**PERSON, "sub": "other"})):
        db.execute("select resource.open_session(%s, %s, %s)", [f"0{number}", Jsonb(person), digest(str(number))])
    shown = run_blocks([sessions], "", dsn, tmp_path, warm)
    assert "https://issuer.example.org 3f2a77" in shown and "operator" in shown and "viewer" in shown
    left = db.execute("select subject, kind from monitor.browser_session").fetchall()
    assert left == [("https://issuer.example.org other", "viewer")]
