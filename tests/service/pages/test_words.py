"""The words that people read in place of short words of the data, moments and sentences."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from broker import words as every
from broker.listed import LISTS, REASONS
from broker.service.pages import words
from tests.service.conftest import Db


def test_each_reason_of_the_database_has_its_words(db: Db) -> None:
    reasons = {word for (word,) in db.execute("select reason from monitor.reason").fetchall()}
    assert every.REASONS.keys() == reasons
    assert len(set(every.REASONS.values())) == len(reasons)
    assert "_" not in "".join(every.REASONS.values())


def test_each_word_of_a_status_or_reason_has_one_badge(db: Db) -> None:
    listed = [word for words in every._OF_BADGE.values() for word in words.split()]
    assert set(every._OF_BADGE) == {"ok", "run", "idle", "warn", "bad", "hold"}
    assert sorted(listed) == sorted(set(listed)) == sorted(every.BADGES)
    filters = {
        word
        for of in LISTS.values() if of.command
        for name, one in of.command.filters.items() if name in ("status", "state", "reason")
        for word in one.values
    }  # fmt: skip
    checked = db.execute(
        """select distinct w.words[1]
             from pg_constraint c
             join pg_attribute a on a.attrelid = c.conrelid and c.conkey = array[a.attnum]
            cross join lateral regexp_matches(pg_get_constraintdef(c.oid), '''([a-z_]+)''', 'g') as w (words)
            where c.contype = 'c' and a.attname = any ('{status,state,outcome,severity}')
              and c.connamespace = any ('{workload,taskqueue,instance,alert,brokerage}'::regnamespace[])"""
    ).fetchall()
    assert len(checked) > 40
    assert {word for (word,) in checked} | filters | set(every.REASONS) | set(every.SITES) <= every.BADGES.keys()


@pytest.mark.parametrize(
    ("word", "of", "shown"),
    [
        ("failed", None, '<span class="badge bad">failed</span>'),
        ("limited", "at a limit", '<span class="badge warn" title="limited">at a limit</span>'),
        ("waiting", None, '<span class="badge idle">waiting</span>'),
        ("limited", "at its limit", '<span class="badge warn" title="limited">at its limit</span>'),
        ("online", "works", '<span class="badge ok" title="online">works</span>'),
        ("unheard of", None, '<span class="badge">unheard of</span>'),
        ("<b>\x07", None, '<span class="badge" title="&lt;b&gt;\\x07">&lt;b&gt;\\x07</span>'),
        ("", None, ""), (None, None, ""),
    ],
)  # fmt: skip
def test_a_badge_has_the_word_of_the_data_as_its_title(word: str | None, of: str | None, shown: str) -> None:
    assert words.badge(word, of) == shown


def test_a_moment_is_short_and_has_the_whole_moment_as_its_title() -> None:
    now = datetime.now(UTC).replace(microsecond=0)
    assert words.when(None) == ""
    today = now.replace(hour=23, minute=4, second=5)
    whole = f"{today:%Y-%m-%d} 23:04:05"
    shown = f'<time datetime="{whole.replace(" ", "T")}Z" title="{whole} UTC">23:04</time>'
    if datetime.now(UTC).date() == today.date():  # not at midnight
        assert words.when(today) == shown
        assert words.when(today.astimezone(timezone(timedelta(hours=-11)))) == shown
    assert words.when(now.replace(year=now.year - 1, month=3, day=2, hour=1, minute=0)).endswith(
        f">2 Mar {now.year - 1} 01:00</time>"
    )
    other = now.replace(month=1 if now.month > 6 else 12, day=9, hour=14, minute=10)
    assert words.when(other).endswith(f">9 {other:%b} 14:10</time>")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("no queue fits", "No queue fits."), ("Is it?", "Is it?"), (" done. ", "Done."), ("stop!", "Stop!"),
        ("", ""), ("é", "É."),
    ],
)  # fmt: skip
def test_a_sentence_has_a_capital_letter_and_an_end(text: str, shown: str) -> None:
    assert words.sentence(text) == shown


def test_a_name_of_the_data_keeps_its_letters_at_the_beginning_of_a_sentence() -> None:
    assert words.sentence("job_id is 0", "job_id") == "job_id is 0."
    assert words.sentence("job_ids are 0", "job_id") == "Job_ids are 0."


def test_a_long_name_at_the_end_of_a_line_is_cut() -> None:
    assert [words.at_end(name) for name in ("limited", "a" * 17, "a" * 18)] == ["limited", "a" * 17, "a" * 16 + "…"]
    of_jobs = [every.REASONS[word] for word in REASONS]  # charts have these
    assert [words.at_end(shown) for shown in of_jobs] == of_jobs
    assert [words.label(name) for name in ("owner_group", "site", "grid_ce")] == ["group", "site", "CE"]
