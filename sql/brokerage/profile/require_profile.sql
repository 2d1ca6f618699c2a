-- A profile without rules for an algorithm would accept every queue, so it is refused like a missing profile.
create or replace function brokerage.require_profile(p_profile text, p_algorithm text default null) returns void
language plpgsql stable as $$
begin
  if brokerage.base_profile(p_profile) is null then
    raise exception 'profile % does not exist', coalesce(quote_literal(p_profile), 'null')
      using errcode = 'PB001',
            hint = (select format('%sProfiles are %s; brokerage.set_profile makes your own.',
                                  'The nearest is ' || resource.nearest_name(p_profile, array_agg(l.profile)) || '. ',
                                  string_agg(distinct l.profile, ', '))
                      from brokerage.profile_line l);
  elsif p_algorithm is not null
        and not exists (select from brokerage.rule_in_force r
                         where r.profile = p_profile and r.algorithm = p_algorithm) then
    raise exception 'algorithm is %, for which profile % has no rules', quote_literal(p_algorithm), p_profile
      using errcode = 'PB001',
            hint = format('Algorithms are %s; brokerage.rule_in_force has all rules.',
                          (select string_agg(distinct r.algorithm, ', ')
                             from brokerage.rule_in_force r
                            where r.profile = p_profile));
  end if;
end $$;

comment on function brokerage.require_profile(text, text) is
  'Refuses a profile that does not exist, or that has no rules for an algorithm. Errors: PB001.';
