-- See worlds.md, Evaluating. The caller rolls back the transaction that makes the setup.
create or replace function resource.make_isolated_setup(p_setup text) returns void
language plpgsql security definer set search_path = resource, pg_temp as $$
begin
  perform resource.identify(p_setup);
  insert into resource.setup (setup, alone) values (p_setup, true) on conflict do nothing;
  if not found then
    raise exception 'setup % exists already', p_setup
      using errcode = 'PB001',
            hint = 'A world that is evaluated by itself needs a setup of its own: choose an unused name.';
  end if;
end $$;

comment on function resource.make_isolated_setup(text) is
  'Makes a setup for a world that is evaluated by itself: values of configuration for all setups do not hold there. '
  'Errors: PB001 (the setup exists), PB002 (not an operator).';
