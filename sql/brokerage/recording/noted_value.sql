create or replace function brokerage.noted_value(p_setup text, p_at timestamptz, p_digest text) returns jsonb
language sql stable as $$
  select v.value
    from brokerage.recorded_value v
   where v.setup = p_setup and v.noted_at = date_trunc('day', p_at, 'utc') and v.digest = p_digest
   limit 1
$$;

comment on function brokerage.noted_value(text, timestamptz, text) is
  'A value that brokerage.keep_facts stored on that day (UTC).';
