"""Pages of shares, of figures over time, and of the installation's health."""

from asyncio import gather
from collections.abc import Mapping, Sequence
from typing import Any, LiteralString

from broker.service.endpoint import Call
from broker.service.pages.alerts import Event, events, limit, limits
from broker.service.pages.charts import Chart, Limit, chart
from broker.service.pages.frame import POINTS, SPANS, over, span_of, table
from broker.service.pages.words import label
from broker.service.problems import Problem

_TREE: LiteralString = """
    select s.gshare, s.depth, s.is_leaf, s.target_of_whole as target, s.usage_of_whole as use, s.distance, s.running,
           s.queued, s.behind, s.problem
      from monitor.share_tree s where s.setup = %s order by s.path collate "C"
"""
_GROUPS: LiteralString = """
    select u.owner_group, u.share, u.target, u.use, u.waiting, u.matched, u.running
      from monitor.group_share u where u.setup = %s order by u.use - u.target desc, u.owner_group collate "C"
"""
_FIGURES: LiteralString = "select figure, labels, unit, fold, meaning, title from history.figure order by figure"
_HEALTH: LiteralString = """
    select h.verdict, h.area, h.object, h.value, h.cost, h.remedy from monitor.health h
     order by array_position('{problem,advice,ok}', h.verdict), h.area, h.object
"""
_LOOPS: LiteralString = """
    select l.name, l.state, l.held_by, l.renewed_at, l.period, l.began_at, l.ended_at, l.error, l.needed
      from monitor.loop l where l.setup is null or l.setup = %s order by l.needed desc, l.name
"""
_TARGETS = {"group_use": "group_target", "share_use": "share_target"}
"""Figures that have a target, which is drawn if one line is drawn."""
_FIRST = "owner_group"  # the first subject of the page of all figures
_POINTS_OF_MANY = 48  # maximal number of spans of a chart on a page with charts of many figures


async def shares(call: Call) -> tuple[str, dict[str, Any]]:
    """Global shares and owner groups: the target and the use of each, also over time."""
    since = span_of(call, "1d")
    figures = [("group_use", "owner_group"), ("share_use", "gshare")]
    tree, groups, (use, share_use), rules, happened = await gather(
        table(call, _TREE, call.setup), table(call, _GROUPS, call.setup), over(call, since, figures), limits(call),
        events(call, "owner_group"),
    )  # fmt: skip
    worst = _furthest(groups, "owner_group")
    share = _furthest([row for row in tree if row["is_leaf"]], "gshare")
    threshold = limit(rules, "group_use", "owner_group", per="group_target", times=(worst and worst["target"]) or 0)
    of_worst, of_share = await gather(
        _against(call, since, "group_use", "owner_group", worst, threshold=threshold, happened=happened),
        _against(call, since, "share_use", "gshare", share),
    )
    return "shares", {
        "since": since, "spans": list(SPANS), "tree": tree, "groups": groups, "below": _below(groups),
        "use": chart("Use of owner groups", "%", use, percent=True),
        "worst": of_worst,
        "charts": [chart("Use of global shares", "%", share_use, percent=True), of_share],
    }  # fmt: skip


def _off(row: Mapping[str, Any]) -> float:
    """How far the use is above the target."""
    return float((row["use"] or 0) - (row["target"] or 0))


def _furthest(rows: Sequence[Mapping[str, Any]], name: str) -> Mapping[str, Any] | None:
    """The row that is furthest from its target; None without rows."""
    return max(rows, key=lambda row: (abs(_off(row)), row[name]), default=None)


def _below(groups: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The group that is furthest below its target; None if none is."""
    last = min(groups, key=_off, default=None)
    return last if last and _off(last) < 0 else None


async def _against(
    call: Call, since: str, figure: str, by: str, of: Mapping[str, Any] | None, *,
    threshold: Limit | None = None, happened: Mapping[tuple[str, str], Sequence[Event]] | None = None,
) -> Chart | None:  # fmt: skip
    """The chart of one group or share against its target. It is read alone, since a chart of many has no line of a
    small one."""
    if of is None:
        return None
    use, target = await over(call, since, [(figure, by), (_TARGETS[figure], by)], {by: of[by]})
    return chart(
        f"{of[by]} against its target", "%", use, percent=True, target=target, limit=threshold,
        events=(happened or {}).get((of[by], figure), ()),
    )  # fmt: skip


async def history(call: Call) -> tuple[str, dict[str, Any]]:
    """Figures over time: one, by a label, or all of them."""
    query, since = call.request.query_params, span_of(call)
    figures = {row["figure"]: row for row in await table(call, _FIGURES)}
    wanted, by, only = query.get("figure") or None, query.get("by") or None, query.get("only", "").strip()
    subjects = sorted({row["labels"][0] for row in figures.values()}, key=lambda one: (one != _FIRST, one))
    about = query.get("about") or subjects[0]
    if about not in subjects:
        raise Problem(
            422, f"there is no figure about {about[:100]!r}", code="PB001", key="about",
            hint=f"Use {', '.join(subjects)}.",
        )  # fmt: skip
    if wanted is not None and wanted not in figures:
        raise Problem(422, f"there is no figure {wanted[:100]!r}", code="PB001", key="figure")
    names = [wanted] if wanted else [name for name, of in figures.items() if of["labels"][0] == about]
    by_label = {name: by if wanted and by else figures[name]["labels"][0] for name in names}
    labels = {by_label[wanted]: only} if wanted and only else {}
    wanted_figures = list(by_label.items())
    if labels and wanted in _TARGETS:
        wanted_figures.append((_TARGETS[wanted], by_label[wanted]))
    sampled, rules, happened = await gather(
        over(call, since, wanted_figures, labels, POINTS if wanted else _POINTS_OF_MANY), limits(call),
        events(call, by_label[names[0]], only or None),
    )  # fmt: skip
    target = sampled[len(names)] if len(sampled) > len(names) else None
    charts = []
    for name, found in zip(names, sampled, strict=False):
        of = figures[name]
        title, way = f"{of['title']}, by {label(by_label[name])}", by_label[name]
        of_parts = of["unit"] == "fraction"
        threshold = limit(rules, name, way, unit="%" if of_parts else of["unit"]) if wanted else None
        charts.append((name, chart(
            title, of["unit"], found, of_parts, by=way, stacked=way == "reason", limit=threshold, target=target,
            events=happened.get((only, name), ()),
        )))  # fmt: skip
    return "history", {
        "since": since, "spans": list(SPANS), "figures": figures, "wanted": wanted, "by": by, "only": only,
        "subjects": subjects, "about": about,
        "charts": [(name, drawn) for name, drawn in charts if drawn],
    }  # fmt: skip


async def health(call: Call) -> tuple[str, dict[str, Any]]:
    """The findings of broker doctor, and the loops of broker run."""
    findings, known = await gather(table(call, _HEALTH), table(call, _LOOPS, call.setup))
    return "health", {"findings": findings, "loops": known}
