create or replace function brokerage.require_decided_by(
  p_setup text, p_since interval, p_until interval, p_run_id bigint, p_profile text, p_rules text[]
) returns void
language plpgsql stable as $$
declare
  v_known text[];
  v_wanted text;
begin
  if p_profile is null then
    v_known := array(
      select distinct e.value ->> 'rule'
        from (select distinct date_trunc('day', t.decided_at, 'utc') as day, t.rules
                from brokerage.recorded(p_setup, p_since, p_until, p_run_id) t) t
       cross join lateral jsonb_array_elements(brokerage.noted_value(p_setup, t.day, t.rules)) e);
  else
    v_known := array(select r.rule from unnest(brokerage.rules_of(p_profile)) r);
  end if;
  select x.rule into v_wanted
    from unnest(p_rules) x(rule)
   where x.rule <> all (v_known) and cardinality(v_known) > 0
   limit 1;
  if found then
    raise exception 'rule % is not among the rules of these decisions', quote_literal(v_wanted)
      using errcode = 'PB001', hint = 'brokerage.rule_in_force lists the rules of a profile.';
  end if;
end $$;

comment on function brokerage.require_decided_by(text, interval, interval, bigint, text, text[]) is
  'Refuses rules by which the replayed decisions were not made (the other arguments are those of brokerage.replay). '
  'Errors: PB001.';
