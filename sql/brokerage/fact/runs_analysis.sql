create or replace function brokerage.runs_analysis(p_type text, p_attributes jsonb) returns boolean
language sql immutable parallel safe as $$
  select coalesce(p_type in ('analysis', 'unified'), false) or coalesce(p_attributes ? 'grandly_unified', false)
$$;

comment on function brokerage.runs_analysis(text, jsonb) is
  'Whether a queue of this type and with these attributes runs analysis jobs (PanDA server, SiteSpec).';
