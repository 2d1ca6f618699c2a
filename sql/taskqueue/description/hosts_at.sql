-- RETRIES.md, Another host: the lease has one of the sites that are offered.
create or replace function taskqueue.hosts_at(p_host text, p_sites text[]) returns text[]
language sql immutable as $$
  select case when p_host is not null
              then array(select taskqueue.host_at(p_host, s)
                           from unnest(case when p_sites <> '{}' then p_sites else '{null}' end) s) end
$$;

comment on function taskqueue.hosts_at(text, text[]) is
  'A host at each of the given sites (taskqueue.host_at); null if no host is given.';
