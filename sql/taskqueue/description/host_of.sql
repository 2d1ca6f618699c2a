-- ENDS.md, Facts of ends. Inlined: a match calls this before it reads anything.
create or replace function taskqueue.host_of(p_resource jsonb) returns text
language sql immutable as $$
  select case when jsonb_typeof(p_resource -> 'HostName') = 'string'
                   and length(p_resource ->> 'HostName') between 1 and 255
                   and not resource.unprintable(p_resource ->> 'HostName')
              then p_resource ->> 'HostName' end
$$;

comment on function taskqueue.host_of(jsonb) is
  'HostName of a resource description; null if the key is missing or its value is refused (taskqueue.offer_of).';
