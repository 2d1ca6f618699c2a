create or replace function brokerage.is_usable(p_state text) returns boolean
language sql immutable parallel safe as $$
  select coalesce(p_state, '') not in ('OFF', 'TEST')
$$;

comment on function brokerage.is_usable(text) is
  'Whether a state of a storage (read_lan, ...) lets it be used: not OFF and not TEST; null does.';
