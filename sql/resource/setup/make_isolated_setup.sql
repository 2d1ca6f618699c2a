-- World format, Evaluating: a case sees only its world. The setup is made in a transaction that is rolled back.
create or replace function resource.make_isolated_setup(p_setup text) returns void
language plpgsql
security definer set search_path = resource, pg_temp
as $$
begin
  perform resource.identify(p_setup);
  insert into resource.setup (setup, alone) values (p_setup, true) on conflict do nothing;
  if not found then
    raise exception 'setup % is there', p_setup
      using errcode = 'PB001',
            hint = 'A world that is evaluated by itself has a setup of its own: take a name that nobody has.';
  end if;
end $$;

comment on function resource.make_isolated_setup(text) is
  'Makes a setup in which configuration of all setups does not hold: for a world that is evaluated by itself. Errors: '
  'PB001 (it is there), PB002 (not an operator).';
