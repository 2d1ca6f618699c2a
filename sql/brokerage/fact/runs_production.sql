create or replace function brokerage.runs_production(p_type text, p_attributes jsonb) returns boolean
language sql immutable parallel safe as $$
  select coalesce(p_type in ('production', 'unified'), false) or coalesce(p_attributes ? 'grandly_unified', false)
$$;

comment on function brokerage.runs_production(text, jsonb) is
  'Whether a queue of this type and with these attributes runs production jobs (PanDA server, SiteSpec).';
