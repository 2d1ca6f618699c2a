create or replace function alert.rendered(p_rule alert.rule_in_force, p_labels jsonb, p_value float8) returns text
language sql stable as $$
  select replace(
           case when p_rule.by_label is null then p_rule.summary
                else replace(p_rule.summary, '{' || p_rule.by_label || '}', p_labels ->> p_rule.by_label) end,
           '{value}',
           case when f.unit = 'fraction' or p_rule.per_figure is not null then round(100 * p_value::numeric) || ' %'
                else trim_scale(round(p_value::numeric, 2))::text end)
    from history.figure f
   where f.figure = p_rule.figure
$$;

comment on function alert.rendered(alert.rule_in_force, jsonb, float8) is
  'The summary of a rule with the value and the label filled in. A quotient or a fraction is shown in percent.';
