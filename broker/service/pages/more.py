"""Pages of shares, of figures over time, and of the installation's health."""

from asyncio import gather
from typing import Any, LiteralString

from broker.service.endpoint import Call
from broker.service.pages.charts import chart
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
      from monitor.group_use u where u.setup = %s order by u.use - u.target desc, u.owner_group collate "C"
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
_CHARTS = (
    ("Use of owner groups", "group_use", "owner_group"),
    ("Targets of owner groups", "group_target", "owner_group"),
    ("Use of global shares", "share_use", "gshare"),
    ("Targets of global shares", "share_target", "gshare"),
)
"""Titles, and figures by labels."""
_FIRST = "owner_group"  # the first subject of the page of all figures
_POINTS_OF_MANY = 48  # maximal number of spans of a chart on a page with charts of many figures


async def shares(call: Call) -> tuple[str, dict[str, Any]]:
    """Global shares and owner groups: the target and the use of each, also over time."""
    since = span_of(call, "1d")
    over_time = over(call, since, [(figure, by) for _, figure, by in _CHARTS])
    shares, groups, sampled = await gather(table(call, _TREE, call.setup), table(call, _GROUPS, call.setup), over_time)
    return "shares", {
        "since": since, "spans": list(SPANS), "tree": shares, "groups": groups,
        "charts": [chart(title, "%", found, percent=True) for (title, *_), found in zip(_CHARTS, sampled, strict=True)],
    }  # fmt: skip


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
    sampled = await over(call, since, list(by_label.items()), labels, POINTS if wanted else _POINTS_OF_MANY)
    charts = []
    for name, found in zip(names, sampled, strict=True):
        of = figures[name]
        title, way = f"{of['title']}, by {label(by_label[name])}", by_label[name]
        of_parts = of["unit"] == "fraction"
        charts.append((name, chart(title, of["unit"], found, of_parts, by=way, stacked=way == "reason")))
    return "history", {
        "since": since, "spans": list(SPANS), "figures": figures, "wanted": wanted, "by": by, "only": only,
        "subjects": subjects, "about": about,
        "charts": [(name, drawn) for name, drawn in charts if drawn],
    }  # fmt: skip


async def health(call: Call) -> tuple[str, dict[str, Any]]:
    """The findings of broker doctor, and the loops of broker run."""
    findings, known = await gather(table(call, _HEALTH), table(call, _LOOPS, call.setup))
    return "health", {"findings": findings, "loops": known}
