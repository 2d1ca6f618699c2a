create or replace function brokerage.temporary_rules(p_profile text, p_algorithm text) returns text[]
language sql stable
as $$
  select coalesce(array_agg(coalesce(r.parameters ->> 'as', r.rule)), '{}')
    from brokerage.rule_in_force r where r.profile = p_profile and r.algorithm = p_algorithm and r.enabled and r.temporary
$$;

comment on function brokerage.temporary_rules(text, text) is 'Rules of a profile, as decisions name them, that reject for a problem that passes by itself.';
