-- An alert begins in the minute whose mean is beyond the rule, or in which it is judged first. Its cause began before:
-- with the first minute that was beyond the rule itself, of those whose mean was beyond it first. Long because one pass
-- over the minutes of a day finds it for all alerts of a rule, whose number may be that of the sites.
create or replace function alert.beginnings(p_setup text, p_at timestamptz)
returns table (alert_id bigint, began_at timestamptz, usual float8)
language plpgsql stable as $$
#variable_conflict use_column
declare
  v_rule alert.rule_in_force;
  v_ids bigint[];
  v_labels text[];
begin
  for v_rule in
    select r.* from alert.rule_in_force r
     where r.setup = p_setup
       and exists (select from alert.alert a
                    where a.setup = r.setup and a.rule = r.rule and a.fired_at = p_at and a.ended_at is null)
  loop
    select array_agg(a.alert_id), array_agg(coalesce(a.labels ->> v_rule.by_label, ''))
      into v_ids, v_labels
      from alert.alert a
     where a.setup = p_setup and a.rule = v_rule.rule and a.fired_at = p_at and a.ended_at is null;
    return query
      with value as (  -- before: the sums of all minutes before, of which the sums over a rule's time are differences
        select v.label, v.at, v.part, v.whole, sum(v.part) over up - v.part as part_before,
               sum(v.whole) over up - v.whole as whole_before, row_number() over up as number
          from (select u.label, u.at, coalesce(sum(u.part), 0) as part, sum(u.whole) as whole
                  from (select p.label, p.at, p.value as part, case when v_rule.per_figure is null then 1 end as whole
                          from alert.minute_values(p_setup, p_at, v_rule.figure, v_rule.labels, v_rule.by_label,
                                                   interval '1 day' + v_rule.over, v_labels) p
                         union all
                        select w.label, w.at, null, w.value
                          from alert.minute_values(p_setup, p_at, v_rule.per_figure, v_rule.per_labels, v_rule.by_label,
                                                   interval '1 day' + v_rule.over, v_labels) w
                         where v_rule.per_figure is not null) u
                 group by u.label, u.at having sum(u.whole) is not null) v
        window up as (partition by v.label order by v.at)
      ), mean as (
        select v.*, count(*) over m as minutes,
               (v.part_before + v.part - first_value(v.part_before) over m) / count(*) over m as mean_part,
               (v.whole_before + v.whole - first_value(v.whole_before) over m) / count(*) over m as mean_whole
          from value v
        window m as (partition by v.label order by v.at
                     range between v_rule.over - interval '1 microsecond' preceding and current row)
      ), free as (  -- until: the last minute in which the condition did not hold, or was not judged
        select m.*, max(m.at) filter (where m.at > p_at - interval '1 day'
                                         and (m.minutes * interval '2 minutes' < v_rule.over
                                              or not alert.is_beyond(v_rule, m.mean_part, m.mean_whole)))
                      over (partition by m.label) as until
          from mean m
      ), held as (
        select f.*, min(f.at) filter (where f.at > f.until) over (partition by f.label) as since from free f
      ), began as (
        select distinct on (h.label) h.label, h.at, h.part_before, h.whole_before, h.number
          from held h
         where h.at > h.since - v_rule.over and alert.is_beyond(v_rule, h.part, h.whole)
         order by h.label, h.at
      )
      select n.alert_id, b.at, b.part_before / nullif(b.whole_before, 0)
        from unnest(v_ids, v_labels) n (alert_id, label)
        join began b on b.label = n.label
       where b.number > 1;
  end loop;
end $$;

comment on function alert.beginnings(text, timestamptz) is
  'When the cause of each alert that fires with a minute began, and the value of its rule before, by the minutes that '
  'were sampled within a day. An alert has no row if its condition held in all of them, or if none was sampled before.';
