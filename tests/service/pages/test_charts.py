"""Lines over time: gaps, scales, and too many lines."""

from datetime import UTC, datetime, timedelta

import pytest

from broker.service.pages import charts, words

NOON = datetime(2026, 3, 28, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def sampled(values: dict[str, dict[int, float]]) -> charts.Sampled:
    """The minutes from noon on, by line. Each line has the minutes of all lines, and 0 where it has no value."""
    spans = sorted({minute for of in values.values() for minute in of})
    series = [
        charts.Series(label, [of.get(minute, 0.0) for minute in spans], max(of.values()) + 1)
        for label, of in values.items()
    ]
    return charts.Sampled(NOON, MINUTE, spans, [1] * len(spans), series)


def drawn_from(values: dict[str, dict[int, float]], unit: str = "jobs", **how: bool) -> charts.Chart:
    """The chart of these values."""
    drawn = charts.chart("x", unit, sampled(values), **how)
    assert drawn is not None
    return drawn


def test_a_gap_interrupts_the_line_and_a_lone_span_is_seen() -> None:
    drawn = drawn_from({"a": {0: 1, 1: 2, 5: 3, 7: 1, 8: 1}})
    [line] = drawn.lines
    parts = line.path.split("M")[1:]
    assert [part.count("L") for part in parts] == [1, 0, 1]
    assert ["h" in part for part in parts] == [False, True, False]
    assert (line.first, line.last, line.mean, line.most) == (1, 1, 1.6, 4)
    assert (drawn.begin, drawn.end) == (NOON, NOON + 9 * MINUTE)


def test_a_chart_begins_with_the_first_span_that_was_sampled() -> None:
    drawn = drawn_from({"a": {3: 1, 4: 2}})
    assert (drawn.begin, drawn.end) == (NOON + 3 * MINUTE, NOON + 5 * MINUTE)
    assert drawn.lines[0].path.startswith("M")
    assert drawn.steps[0].left == drawn.frame[0]


def test_the_pointer_shows_the_values_of_each_span_that_was_sampled() -> None:
    drawn = drawn_from({"a": {0: 1, 1: 2000, 4: 3}, "b": {0: 0, 1: 0.5}})
    assert [step.words for step in drawn.steps] == [
        "2026-03-28 12:00 to 12:01 UTC\na: 1\nb: 0", "2026-03-28 12:01 to 12:02 UTC\na: 2,000\nb: 0.5",
        "2026-03-28 12:04 to 12:05 UTC\na: 3\nb: 0",
    ]  # fmt: skip
    left, _, right, _ = drawn.frame
    wide = (right - left) / 5
    assert [step.left for step in drawn.steps] == pytest.approx([left, left + wide, left + 4 * wide], abs=0.1)
    assert [step.width for step in drawn.steps] == pytest.approx([wide] * 3, abs=0.1)


@pytest.mark.parametrize(("spans", "steps", "together"), [(100, 100, 1), (101, 51, 2), (160, 80, 2), (201, 67, 3)])
def test_many_spans_are_shown_together(spans: int, steps: int, together: int) -> None:
    drawn = drawn_from({"a": {n: float(n) for n in range(spans)}})
    assert len(drawn.steps) == steps
    assert drawn.steps[0].words.endswith(f"to 12:0{together} UTC\na: {words.number(sum(range(together)) / together)}")
    assert drawn.steps[-1].left + drawn.steps[-1].width == pytest.approx(drawn.frame[2], abs=0.1)


def test_long_names_under_the_pointer_keep_their_begin_and_their_end() -> None:
    names = [f"SITE.{'long-' * 8}{n}" for n in (1, 2)] + [f"group {n} {'of a long name ' * 6}" for n in (3, 4)]
    drawn = drawn_from({name: {0: 1} for name in names})
    [step] = drawn.steps
    shown = [line.removesuffix(": 1") for line in step.words.splitlines()[1:]]
    assert len(set(shown)) == 4
    assert {len(name) for name in shown} == {24}


def test_a_chart_without_samples_is_left_out() -> None:
    assert charts.chart("x", "jobs", None) is None


def test_lines_of_a_chart_beyond_the_largest_are_added_up() -> None:
    drawn = drawn_from({f"g{n}": {0: n, 1: n} for n in range(1, 12)})
    assert [line.label for line in drawn.lines] == ["g11", "g10", "g9", "g8", "g7", "g6", "g5", "other"]
    assert drawn.lines[-1].last == 1 + 2 + 3 + 4
    assert sorted(line.number for line in drawn.lines) == list(range(1, 9))
    assert drawn.lines[-1].number == 8


def test_a_name_keeps_its_colour_when_its_size_changes() -> None:
    def colours(values: dict[str, dict[int, float]]) -> dict[str, int]:
        return {line.label: line.number for line in drawn_from(values).lines}

    assert colours({"finished": {0: 9}, "failed": {0: 1}}) == colours({"finished": {0: 1}, "failed": {0: 9}})
    assert colours({"a": {0: 9}, "b": {0: 1}}) == colours({"a": {0: 1}, "b": {0: 9}})
    names = {f"g{n}": {0: float(n + 1)} for n in range(7)} | {"failed": {0: 20.0}}
    assert colours(names)["failed"] == charts.FIXED["failed"]


def test_fractions_are_shown_in_percent() -> None:
    drawn = drawn_from({"a": {0: 0.25}}, "fraction", percent=True)
    assert (drawn.unit, drawn.lines[0].last) == ("%", 25)


@pytest.mark.parametrize(
    ("largest", "levels"),
    [
        (0, ["0", "1", "2", "3", "4"]), (4, ["0", "1", "2", "3", "4"]), (4.1, ["0", "1.5", "3", "4.5", "6"]),
        (9, ["0", "2.5", "5", "7.5", "10"]), (18_900, ["0", "5k", "10k", "15k", "20k"]),
        (0.3, ["0", "0.1", "0.2", "0.3", "0.4"]), (7.9e6, ["0", "2M", "4M", "6M", "8M"]),
    ],
)  # fmt: skip
def test_the_scale_has_round_numbers(largest: float, levels: list[str]) -> None:
    drawn = drawn_from({"a": {0: largest}})
    assert [text for _, text in drawn.levels] == levels
    assert drawn.levels[-1][0] == drawn.frame[1]


@pytest.mark.parametrize("minutes", [1, 3, 60, 360, 1440, 10_080, 43_200, 525_600, 5_256_000])
def test_the_times_of_the_axis_are_within_the_frame(minutes: int) -> None:
    drawn = drawn_from({"a": {0: 1, minutes - 1: 1}})
    assert len(drawn.times) <= 6
    assert minutes < 3 or drawn.times
    assert all(drawn.frame[0] <= x <= drawn.frame[2] for x, _ in drawn.times)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""), (True, "yes"), (0, "0"), (12_345, "12,345"), (0.12345, "0.123"), (1234.5, "1,234"),
        (999.7, "1,000"),
        (NOON, "2026-03-28 12:00:00"), (timedelta(seconds=90), "90 s"), (timedelta(minutes=119), "119 min"),
        (timedelta(hours=47), "47 h"), (timedelta(days=400), "400 d"), ({"Sites": ["A", "B"]}, "Sites: A, B"),
        ("<b>", "<b>"),
    ],
)  # fmt: skip
def test_values_are_shown_with_units_and_separators(value: object, text: str) -> None:
    assert words.shown(value) == text
