"""Judge failed ends of the history by other retry rules (taskqueue.judge_again). Nothing is stored."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, LiteralString

from broker.json_text import json_text

if TYPE_CHECKING:
    from broker.database import Connection

Row = dict[str, Any]

MOST_ENDS = 20_000
"""Largest number of failed ends that are judged; the newest ones are taken."""
SAMPLE = 20

# A life of a job begins with its failure number 1: an insertion and a retry by an operator begin a new life. If the
# proposed rules end the job at a failure, the later runs of this life would not have taken place (spared).
_JUDGED: LiteralString = """
with judged as materialized (
  select j.*, coalesce(bool_or(j.proposed_delay is null)
                         over (partition by j.job_id, j.life order by j.at, j.attempt_number
                               rows between unbounded preceding and 1 preceding), false) as spared
    from (select j.*, count(*) filter (where j.failures = 1)
                        over (partition by j.job_id order by j.at, j.attempt_number) as life
            from taskqueue.judge_again(%(setup)s, %(rules)s::jsonb, %(since)s, null, %(most)s) j) j
), votes as (
  select v.side, split_part(v.rule, ': ', 1) as name, count(*) as ends
    from judged j
   cross join lateral (values ('present', j.present), ('present noted', j.present_passive), ('proposed', j.proposed),
                              ('proposed noted', j.proposed_passive)) v (side, rule)
   where v.rule is not null group by 1, 2
), named as (
  select r.name, r.position as present, null::int as proposed from monitor.retry_rule r where r.setup = %(setup)s
   union all
  select e ->> 'name', null, (e ->> 'position')::numeric::int from jsonb_array_elements(%(rules)s::jsonb) e
), rules as (
  select n.name, max(n.present) as present_position, max(n.proposed) as proposed_position, v.*
    from named n
   cross join lateral (
          select coalesce(sum(v.ends) filter (where v.side = 'present'), 0) as present,
                 coalesce(sum(v.ends) filter (where v.side = 'proposed'), 0) as proposed,
                 coalesce(sum(v.ends) filter (where v.side = 'present noted'), 0) as present_noted,
                 coalesce(sum(v.ends) filter (where v.side = 'proposed noted'), 0) as proposed_noted
            from votes v where v.name = n.name) v
   group by n.name, v.present, v.proposed, v.present_noted, v.proposed_noted
), transitions as (
  select j.present, extract(epoch from j.present_delay) as present_delay, j.proposed,
         extract(epoch from j.proposed_delay) as proposed_delay, count(*) as ends, sum(j.cpu_used) as cpu_used,
         sum(j.wall_used) as wall_used
    from judged j group by j.present, j.present_delay, j.proposed, j.proposed_delay
), runs as (
  select k.kind, count(j.job_id) as ends, coalesce(sum(j.cpu_used), 0) as cpu_used,
         coalesce(sum(j.wall_used), 0) as wall_used, k.n
    from (values (1, 'by_both'), (2, 'by_present_only'), (3, 'by_proposed_only'), (4, 'by_neither'), (5, 'not_run')
         ) k (n, kind)
    left join judged j on case k.kind
           when 'not_run' then j.spared
           when 'by_both' then j.present_delay is not null and j.proposed_delay is not null
           when 'by_present_only' then j.present_delay is not null and j.proposed_delay is null
           when 'by_proposed_only' then j.present_delay is null and j.proposed_delay is not null
           else j.present_delay is null and j.proposed_delay is null end
   group by k.n, k.kind
), sample as (
  select j.at, j.job_id, j.attempt_number, j.site, j.host, j.error_class, j.failures, j.decided, j.present,
         j.present_passive, extract(epoch from j.present_delay) as present_delay, j.proposed, j.proposed_passive,
         extract(epoch from j.proposed_delay) as proposed_delay,
         (select jsonb_agg(e order by e.position nulls first)
            from taskqueue.explain_retry(%(setup)s, j.job_id, null, j.attempt_number) e) as present_rules,
         (select jsonb_agg(e order by e.position nulls first)
            from taskqueue.explain_retry(%(setup)s, j.job_id, %(rules)s::jsonb, j.attempt_number) e) as proposed_rules
    from (select j.*, row_number() over (partition by j.present, j.present_delay, j.proposed, j.proposed_delay
                                         order by j.at desc, j.job_id) as n
            from judged j
           where (j.present, j.present_delay) is distinct from (j.proposed, j.proposed_delay)
           order by n, j.at desc, j.job_id limit %(sample)s) j
   order by j.n, j.at desc, j.job_id
)
select count(*) as ends, case when count(*) >= %(most)s then min(j.at) end as looked_since,
       count(*) filter (where (j.present, j.present_delay) is distinct from (j.proposed, j.proposed_delay)) as changed,
       count(*) filter (where j.decided is distinct from j.present) as changed_since,
       (select jsonb_agg(to_jsonb(r) order by r.proposed_position, r.present_position) from rules r) as rules,
       (select jsonb_agg(to_jsonb(t) order by t.ends desc, t.present, t.proposed) from transitions t) as transitions,
       (select jsonb_agg(to_jsonb(r) - 'n' order by r.n) from runs r) as runs,
       (select jsonb_agg(to_jsonb(s)) from sample s) as sample
  from judged j
"""


@dataclass
class JudgedAgain:
    """Failed ends, judged by the present retry rules and by proposed ones.

    ends: number of judged ends; looked_since: time of the first one, if older ends may be left out. changed: number of
    ends on which the two lists decide differently. changed_since: number of ends on which the present rules decide
    differently from the rules at the time of the end. rules: name, and the numbers of ends that the rule decides or is
    noted for. transitions: ends by both verdicts, with CPU and wall time (s). runs: failed runs by the lists that try
    the job again, and runs that would not have taken place. sample: ends on which the lists decide differently, with
    the verdict of each rule (rows of taskqueue.explain_retry).
    """

    since: datetime
    ends: int
    looked_since: datetime | None
    changed: int
    changed_since: int
    rules: list[Row]
    transitions: list[Row]
    runs: list[Row]
    sample: list[Row]


def judge_again(
    connection: "Connection", setup: str, rules: Sequence[Any], since: datetime, most: int = MOST_ENDS
) -> JudgedAgain:
    """Judge the failed ends since a time by other rules, given as taskqueue.set_retry_rules takes them. Read only."""
    from psycopg.rows import dict_row

    given = {"setup": setup, "rules": json_text(rules), "since": since, "most": most, "sample": SAMPLE}
    with connection.cursor(row_factory=dict_row) as cursor:
        [row] = cursor.execute(_JUDGED, given).fetchall()
    lists = ("rules", "transitions", "runs", "sample")
    return JudgedAgain(since=since, **row | {name: row[name] or [] for name in lists})
