"""Lines over time: gaps, scales, too many lines, areas, names at the ends of lines, and sparks."""

import re
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

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


def drawn_from(values: dict[str, dict[int, float]], unit: str = "jobs", **how: Any) -> charts.Chart:
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
    assert drawn.steps[0].left == 0
    assert drawn.gaps == []


def test_the_pointer_shows_the_values_of_each_span_that_was_sampled() -> None:
    drawn = drawn_from({"a": {0: 1, 1: 2000, 4: 3}, "b": {0: 0, 1: 0.5}})
    assert [step.words for step in drawn.steps] == [
        "2026-03-28 12:00 to 12:01 UTC\na: 1\nb: 0", "2026-03-28 12:01 to 12:02 UTC\na: 2,000\nb: 0.5",
        "2026-03-28 12:04 to 12:05 UTC\na: 3\nb: 0",
    ]  # fmt: skip
    wide = charts.WIDTH / 5
    assert [step.left for step in drawn.steps] == pytest.approx([0, wide, 4 * wide], abs=0.1)
    assert [step.width for step in drawn.steps] == pytest.approx([wide] * 3, abs=0.1)


@pytest.mark.parametrize(("spans", "steps", "together"), [(60, 60, 1), (61, 31, 2), (160, 54, 3), (201, 51, 4)])
def test_many_spans_are_shown_together(spans: int, steps: int, together: int) -> None:
    drawn = drawn_from({"a": {n: float(n) for n in range(spans)}})
    assert len(drawn.steps) == steps
    assert drawn.steps[0].words.endswith(f"to 12:0{together} UTC\na: {words.number(sum(range(together)) / together)}")
    assert drawn.steps[-1].left + drawn.steps[-1].width == pytest.approx(charts.WIDTH, abs=0.1)


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
    assert drawn.levels == levels


@pytest.mark.parametrize("minutes", [1, 3, 60, 360, 1440, 10_080, 43_200, 525_600, 5_256_000])
def test_the_times_of_the_axis_are_within_the_frame(minutes: int) -> None:
    drawn = drawn_from({"a": {0: 1, minutes - 1: 1}})
    assert len(drawn.times) <= 6
    assert minutes < 3 or drawn.times
    assert all(0 <= place <= 100 for place, *_ in drawn.times)
    at_edge = {side: [place for place, _, of in drawn.times if of == side] for side in ("first", "", "last")}
    assert all(place < 6 for place in at_edge["first"]) and all(place > 94 for place in at_edge["last"])
    assert all(6 <= place <= 94 for place in at_edge[""])


def numbers(path: str) -> list[list[tuple[float, float]]]:
    """The points of each part of a path."""
    return [[(float(x), float(y)) for x, y in re.findall(r"([\d.-]+) ([\d.-]+)", part)] for part in path.split("M")[1:]]


def test_a_gap_is_drawn_where_nothing_was_sampled_and_is_never_bridged() -> None:
    drawn = drawn_from({"a": {0: 1, 1: 2, 5: 3, 9: 1}, "b": {1: 1}})
    assert [(gap.left, gap.width) for gap in drawn.gaps] == [(200, 300), (600, 300)]
    assert {gap.words for gap in drawn.gaps} == {"nothing was sampled"}
    inside = [x for line in drawn.lines for part in numbers(line.path) for x, _ in part]
    assert not [x for x in inside for gap in drawn.gaps if gap.left < x < gap.left + gap.width]


def test_names_at_the_ends_of_lines_are_apart_and_in_the_order_of_the_lines() -> None:
    for values in ([5.0] * 8, [100.0, 1, 1, 1, 1, 1, 0, 0], [8.0, 7, 6, 5, 4, 3, 2, 1], [0.0, 0], [3.0]):
        drawn = drawn_from({f"g{n}": {0: value, 1: value} for n, value in enumerate(values)})
        ends = sorted(line.end for line in drawn.lines)
        least = 100 * charts._APART / charts._HIGH
        assert all(after - before > least - 0.2 for before, after in pairwise(ends)), ends
        assert ends[-1] <= 100 and (len(values) > 7 or ends[0] >= 0)
        by_value = sorted(drawn.lines, key=lambda line: -line.last)
        for above, below in pairwise(by_value):
            assert above.last == below.last or above.end < below.end


def test_parts_of_a_whole_are_stacked() -> None:
    """The upper side of each area is the lower side of the next one, and the highest is the sum."""
    values = {"a": {0: 4.0, 1: 2}, "b": {0: 3.0, 1: 1}, "c": {0: 1.0, 1: 1}}
    drawn = drawn_from(values, stacked=True)
    assert drawn.is_stacked and drawn.levels[-1] == "8"
    floor = [(250.0, 100.0), (750.0, 100.0)]
    for line in drawn.lines:
        [area] = numbers(line.area)
        [path] = numbers(line.path)
        assert area[:2] == path and area[2:] == floor[::-1]
        floor = path
    assert [y for _, y in floor] == [0, 50]
    assert [(line.label, line.first, line.last) for line in drawn.lines] == [("a", 4, 2), ("b", 3, 1), ("c", 1, 1)]
    assert drawn.steps[0].words.endswith("a: 4\nb: 3\nc: 1")
    assert [bool(line.area) for line in drawn_from(values).lines] == [False] * 3
    assert drawn_from({"a": {0: 1, 1: 2}}).lines[0].area


def test_a_spark_is_the_sum_of_all_lines() -> None:
    one = charts.spark(sampled({"a": {0: 1, 1: 2, 4: 3}, "b": {0: 1, 1: 0, 4: 1}}), 3)
    assert one is not None
    assert (one.number, one.first, one.last, one.mean, one.most) == (3, 2, 4, 8 / 3, 4)
    assert [len(part) for part in numbers(one.path)] == [2, 1]
    points = [point for part in numbers(one.path) for point in part]
    assert [x for x, _ in points] == [0, 25, 100]
    assert all(0 <= y <= 30 for _, y in points) and points[2][1] < points[0][1] == points[1][1]
    flat = charts.spark(sampled({"a": {0: 1000, 1: 1001}}))
    assert flat is not None and numbers(flat.path)[0][0][1] < 28  # a small change is not drawn from top to bottom
    assert charts.spark(None) is None
    assert charts.spark(sampled({"a": {0: 1}})) is None


def test_reasons_are_shown_in_words_and_other_labels_of_the_same_name_are_not() -> None:
    values = {"waiting": {0: 2.0}, "limited": {0: 1.0}}
    assert [line.label for line in drawn_from(values, by="reason").lines] == ["its turn", "at a limit"]
    assert [line.label for line in drawn_from(values, by="stage").lines] == ["waiting", "limited"]
    shown = drawn_from(values, by="reason")
    assert shown.steps[0].words.endswith("its turn: 2\nat a limit: 1") and shown.words.startswith("its turn 2 at")


def test_a_chart_says_in_words_what_it_draws() -> None:
    drawn = drawn_from({"a": {0: 0.5, 1: 0.25}, "b": {0: 0, 1: 0.1}}, "fraction", percent=True)
    assert drawn.words == "a 25 % at the end, 150 % at most; b 10 % at the end, 110 % at most"


def test_a_threshold_a_target_and_events_are_drawn_at_their_places_with_words() -> None:
    events = [
        (NOON + 8 * MINUTE, "alert"), (NOON + 5 * MINUTE, "failures begin"), (NOON - MINUTE, "before"),
        (NOON + 11 * MINUTE, "after"),
    ]  # fmt: skip
    drawn = drawn_from(
        {"a": dict.fromkeys(range(10), 0.2)}, "fraction", percent=True, events=events,
        limit=charts.Limit(0.5, "50 %: an alert"), target=sampled({"a": dict.fromkeys(range(10), 0.25)}),
    )  # fmt: skip
    assert drawn.levels[-1] == "60"
    kinds = [(mark.kind, mark.words) for mark in drawn.marks]
    assert kinds == [
        ("event", "12:05 failures begin"), ("event", "12:08 alert"), ("target", "target"), ("limit", "50 %: an alert"),
    ]  # fmt: skip
    begin, alert, target, limit = drawn.marks
    assert (begin.path, alert.path, limit.path) == ("M500.0 0V100", "M800.0 0V100", "M0 16.7H1000")
    assert {y for _, y in numbers(target.path)[0]} == {58.33} and target.number == drawn.lines[0].number
    assert drawn_from({"a": {0: 1}}).marks == []


def test_events_of_a_day_before_have_their_date_and_only_the_newest_are_drawn() -> None:
    events = [(NOON + n * timedelta(hours=2), str(n)) for n in range(9)]
    drawn = drawn_from({"a": {0: 1, 24 * 60: 1}}, events=events)
    assert [mark.words for mark in drawn.marks] == [
        "28 Mar 18:00 3", "28 Mar 20:00 4", "28 Mar 22:00 5", "00:00 6", "02:00 7", "04:00 8",
    ]  # fmt: skip


def test_a_part_of_the_sum_has_no_value_where_the_sum_is_zero() -> None:
    values = {"failed": {0: 1.0, 1: 0, 2: 3}, "finished": {0: 3.0, 1: 0, 2: 0}}
    part = charts.part_of(sampled(values), "failed")
    assert part is not None
    assert (part.spans, part.series[0].values) == ([0, 2], [0.25, 1])
    values = {"failed": {0: 0.0, 1: 1, 2: 0, 3: 1, 4: 0}}
    drawn = charts.chart("x", "%", charts.part_of(sampled(values), "failed"), percent=True)
    assert drawn is not None and (drawn.begin, drawn.end) == (NOON, NOON + 5 * MINUTE)
    assert [(gap.left, gap.width, gap.words) for gap in drawn.gaps] == [(400, 200, "no job ended")]
    none = charts.part_of(sampled({"finished": {0: 1.0}}), "failed")
    assert none is not None and none.series[0].values == [0]
    assert charts.part_of(sampled({"finished": {0: 0.0}}), "failed") is None
    assert charts.part_of(None, "failed") is None


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
