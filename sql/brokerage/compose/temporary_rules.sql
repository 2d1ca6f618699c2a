-- Two rules may have one name, of which one is temporary and one is not (parameter as): they differ by the tag.
create or replace function brokerage.temporary_rules(p_profile text, p_algorithm text) returns text[]
language sql stable as $$
  select coalesce(
    array_agg(case when r.parameters ? 'as' then (r.parameters ->> 'as') || E'\t' || coalesce(r.criteria || ': ', '')
                   else r.rule || E'\t' end), '{}')
    from brokerage.rule_in_force r
   where r.profile = p_profile and r.algorithm = p_algorithm and r.enabled and r.temporary
$$;

comment on function brokerage.temporary_rules(text, text) is
  'Beginnings (rule, tab, reason) of decisions that reject for a problem that may pass by itself.';
