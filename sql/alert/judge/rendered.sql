-- The label is filled in last, since its text comes from outside and may have braces.
create or replace function alert.rendered(p_rule alert.rule_in_force, p_labels jsonb, p_value float8) returns text
language sql stable as $$
  select case when p_rule.by_label is null then t.summary
              else replace(t.summary, '{' || p_rule.by_label || '}', p_labels ->> p_rule.by_label) end
    from history.figure f
    left join monitor.reason r on r.reason = (p_rule.labels || p_labels) ->> 'reason'
   cross join lateral (
     select replace(replace(p_rule.summary, '{meaning}', coalesce(r.meaning, '')), '{value}',
                    case when f.unit = 'fraction' or p_rule.per_figure is not null
                         then round(100 * p_value::numeric) || ' %'
                         else trim_scale(round(p_value::numeric, 2))::text end) as summary) t
   where f.figure = p_rule.figure
$$;

comment on function alert.rendered(alert.rule_in_force, jsonb, float8) is
  'The summary of a rule with the value, the label and the meaning of the reason filled in. A quotient or a fraction '
  'is shown in percent.';
