-- Jobs of instances have no owner, so nobody who acts for one owner alone may touch them.
create or replace function instance.identify_submitter(p_setup text) returns void
language plpgsql
as $$
begin
  if (resource.identify(p_setup)).private then
    raise exception 'role % acts for one owner in setup %, and jobs of instances have none', resource.caller(), p_setup
      using errcode = 'PB002', hint = 'Log in with a role that is not private in this setup (resource.set_identity).';
  end if;
end $$;

comment on function instance.identify_submitter(text) is
  'Refuses who may not add jobs of instances, or change them. Errors: PB002 (setup not granted, '
  'or for one owner alone).';
