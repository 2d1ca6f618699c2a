create or replace function taskqueue.part_until(p_end timestamptz, p_parts int) returns timestamptz
language sql volatile as $$
  select clock_timestamp() + greatest(p_end - clock_timestamp(), interval '0') / p_parts
$$;

comment on function taskqueue.part_until(timestamptz, int) is
  'The end of a step that may take one of p_parts parts of the time until p_end, by the clock of the server.';
