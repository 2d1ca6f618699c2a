-- The first job or configuration of a setup creates the setup.
create or replace function resource.require_setup(p_setup text) returns void
language plpgsql as $$
begin
  if exists (select from resource.setup_move m where m.setup = p_setup) then
    perform resource.require_here(p_setup);
  end if;
  loop
    perform from resource.setup s where s.setup = p_setup for key share;  -- waits while another session removes it
    exit when found;
    if p_setup is null or p_setup = '' then
      raise exception 'setup is %', coalesce(quote_literal(p_setup), 'null')
        using errcode = 'PB001', hint = 'Name the setup, for example default.';
    end if;
    perform resource.require_short('setup', p_setup, 100);
    if p_setup ~ E'^\\s|\\s$' then
      raise exception 'setup is %, with a blank at its beginning or end', quote_literal(p_setup)
        using errcode = 'PB001', hint = 'Give the name without the blank.';
    end if;
    insert into resource.setup (setup) values (p_setup) on conflict do nothing;
    exit when found;  -- else another session has just made it, and it is not locked
  end loop;
end $$;

comment on function resource.require_setup(text) is
  'Makes a setup if it does not exist, and prevents its removal until the transaction ends. Errors: PB001, PB006 (the '
  'setup moves to another shard).';
