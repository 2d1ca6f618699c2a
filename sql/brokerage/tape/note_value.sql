-- Not unique: two runs at once would wait for each other, and a value twice does no harm.
create or replace function brokerage.note_value(p_setup text, p_at timestamptz, p_digest text, p_value jsonb)
returns void
language sql as $$
  insert into brokerage.tape_value (setup, noted_at, digest, value)
  select p_setup, date_trunc('day', p_at, 'utc'), p_digest, p_value
   where not exists (select from brokerage.tape_value v
                      where v.setup = p_setup and v.noted_at = date_trunc('day', p_at, 'utc') and v.digest = p_digest)
$$;

comment on function brokerage.note_value(text, timestamptz, text, jsonb) is
  'Notes a value under its digest for the day (UTC), unless it is there.';
