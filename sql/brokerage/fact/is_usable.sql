create or replace function brokerage.is_usable(p_state text) returns boolean
language sql immutable parallel safe as $$
  select coalesce(p_state, '') not in ('OFF', 'TEST')
$$;

comment on function brokerage.is_usable(text) is
  'Whether a storage can be used in this state (of read_lan and so on): true for null and any state but OFF and TEST.';
