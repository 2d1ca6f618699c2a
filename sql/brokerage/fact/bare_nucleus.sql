create or replace function brokerage.bare_nucleus(p_said text, p_attributes jsonb) returns text
language sql immutable parallel safe as $$
  select coalesce(p_said,
                  case when p_attributes ->> 'bareNucleus' in ('only', 'allow') then p_attributes ->> 'bareNucleus' end)
$$;

comment on function brokerage.bare_nucleus(text, jsonb) is
  'Mode of a bare nucleus, only or allow; null if there is none: the value in the table of nuclei, else in the '
  'attributes (catchall, params) of the queue that represents it.';
