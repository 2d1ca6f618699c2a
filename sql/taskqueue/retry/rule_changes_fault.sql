-- RETRIES.md, Changes: a job that is not tried again is not changed.
create or replace function taskqueue.rule_changes_fault(p_rule jsonb) returns text
language sql stable as $$
  select case when p_rule ->> 'decision' = 'fail'
              then format('%s is %s, but decision is fail', c.key, resource.shown(c.value))
              when c.key = 'elsewhere' then format('elsewhere is %s, not host or site', resource.shown(c.value))
              else format('%s is %s, not within 1 and 10', c.key, resource.shown(c.value)) end
    from jsonb_each(p_rule) c
   where c.key in ('memory_factor', 'time_factor', 'elsewhere', 'less_input') and c.value not in ('null', 'false')
     and (p_rule ->> 'decision' = 'fail' or c.key = 'elsewhere' and c.value not in ('"host"', '"site"')
          or c.key like '%factor' and (p_rule ->> c.key)::numeric not between 1 and 10)
   order by c.key limit 1
$$;

comment on function taskqueue.rule_changes_fault(jsonb) is
  'The reason why a retry rule with these changes is refused, with key and value; null if they are valid.';
