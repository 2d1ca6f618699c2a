-- A profile that was valid when it was set can become invalid: a function was dropped, was replaced by one of another
-- type or owner, or may no longer be called. `broker db check` examines the shipped profiles.
create or replace function brokerage.profile_faults()
returns table (profile text, algorithm text, setups text[], fault text, hint text)
language plpgsql security definer set search_path = brokerage, pg_temp as $$
#variable_conflict use_column
begin
  for profile, algorithm in
    select distinct l.profile, r.algorithm
      from brokerage.profile_line l
      join brokerage.profile_rule r on r.profile = l.of_profile
     order by 1, 2
  loop
    begin
      perform brokerage.require_composable(profile, algorithm);
    exception when others then
      fault := sqlerrm;
      get stacked diagnostics hint = pg_exception_hint;
      setups := array(select s.setup from brokerage.setting_in_force s where s.profile = profile_faults.profile
                      union
                      select t.setup from brokerage.trial t
                       where t.profile = profile_faults.profile and t.ended_at is null
                         and (t.setup = resource.bound_setup()) is not false
                       order by 1);
      return next;
    end;
  end loop;
end $$;

comment on function brokerage.profile_faults() is
  'Profiles of your own that can no longer be composed, each with the reason and the setups that use the profile. '
  'There is no row if all are valid. The call composes and plans each profile, which takes some tens of milliseconds.';
