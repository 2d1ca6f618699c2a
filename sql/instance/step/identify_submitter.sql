create or replace function instance.identify_submitter(p_setup text) returns void
language plpgsql as $$
begin
  if (resource.identify(p_setup)).private then
    raise exception 'role % acts for one owner in setup %, and steps have no owner', resource.caller(), p_setup
      using errcode = 'PB002', hint = 'Log in with a role that is not private in this setup (resource.set_identity).';
  end if;
end $$;

comment on function instance.identify_submitter(text) is
  'Refuses a login that may not add or change steps: steps have no owner, so a login that acts for one owner is '
  'refused. Errors: PB002 (setup not granted, or only for one owner).';
