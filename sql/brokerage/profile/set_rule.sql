-- The whole profile is composed before the row is kept, so a rule that does not fit never gets into a run.
create or replace function brokerage.set_rule(
  p_profile text, p_rule text, p_changes jsonb, p_algorithm text default 'production_job'
) returns void
language plpgsql security definer set search_path = brokerage, pg_temp as $$
declare
  v_constraint text;
  v_unknown text;
  v_rule brokerage.profile_rule;
begin
  perform brokerage.require_profile(brokerage.profile_name(p_profile), coalesce(p_algorithm, ''));
  if exists (select from brokerage.shipped_profile s where s.profile = brokerage.profile_name(p_profile)) then
    raise exception 'profile % comes with the program', p_profile
      using errcode = 'PB001',
            hint = format('Make a profile of your own based on it: select brokerage.set_profile(%L, %L); '
                          'then select brokerage.set_settings(setup, %L).', 'acme', p_profile, '{"profile": "acme"}');
  end if;
  perform brokerage.require_own_profile(p_profile);
  -- two callers change different columns of one rule
  perform pg_advisory_xact_lock(hashtext('brokerage.set_rule'), hashtext(p_profile));
  if jsonb_typeof(p_changes) is distinct from 'object' then
    raise exception 'changes of rule % are %', left(p_rule, 100), coalesce(resource.shown(p_changes), 'null')
      using errcode = 'PB001',
            hint = 'Give an object: {"kind": "row rule", "function": "acme.rule_x", "position": 225}.';
  end if;
  select k.key into v_unknown from jsonb_object_keys(p_changes) k(key)
   where k.key not in ('kind', 'position', 'function', 'criteria', 'temporary', 'enabled', 'parameters', 'source')
   limit 1;
  if found then
    raise exception 'rule %: key % is not known', left(p_rule, 100), left(v_unknown, 100)
      using errcode = 'PB001',
            hint = 'Keys are kind, position, function, criteria, temporary, enabled, parameters, source.';
  end if;
  perform resource.check_rows('brokerage.profile_rule',
                              jsonb_build_array(p_changes || jsonb_build_object('rule', p_rule)));
  if not exists (select from brokerage.rule_in_force r
                  where r.profile = p_profile and r.algorithm = p_algorithm and r.rule = p_rule)
     and not p_changes ? 'kind' then
    raise exception 'profile % has no rule % of %', p_profile, coalesce(quote_literal(p_rule), 'null'), p_algorithm
      using errcode = 'PB001', hint = brokerage.nearest_rule(p_profile, p_algorithm, p_rule);
  end if;
  select r.*
    into v_rule
    from brokerage.profile_rule r
   where r.profile = p_profile and r.algorithm = p_algorithm and r.rule = p_rule;
  v_rule := jsonb_populate_record(
    v_rule, p_changes || jsonb_build_object('profile', p_profile, 'algorithm', p_algorithm, 'rule', p_rule));
  insert into brokerage.profile_rule as r select v_rule.*
  on conflict (profile, algorithm, rule) do update
     set kind = excluded.kind, position = excluded.position, function = excluded.function, criteria = excluded.criteria,
         temporary = excluded.temporary,
         enabled = excluded.enabled, parameters = excluded.parameters, source = excluded.source;
  perform brokerage.require_composable(p_profile, p_algorithm);
  perform brokerage.compile_profiles(p_profile);
exception
  when check_violation or not_null_violation or invalid_text_representation or invalid_parameter_value
       or numeric_value_out_of_range then
    get stacked diagnostics v_constraint = constraint_name;
    raise exception 'rule % of profile %: %', coalesce(p_rule, 'null'), p_profile,
      coalesce((resource.refusal('brokerage.profile_rule', v_constraint, null, to_jsonb(v_rule) || p_changes)).reason,
               sqlerrm)
      using errcode = 'PB001', hint = E'See the comments on brokerage.profile_rule: \\d+ brokerage.profile_rule.';
end $$;

comment on function brokerage.set_rule(text, text, jsonb, text) is
  'Adds a rule to a profile, or changes columns of a rule that it has (an object of columns of brokerage.profile_rule; '
  'null means the value of the profile on which it is based). The profile is composed to check that the rule fits. '
  'Errors: PB001 (no such algorithm, an unknown key, a value or function that does not fit), PB002 (the owner of the '
  'function is not trusted; through the service: another setup decides by the profile).';
