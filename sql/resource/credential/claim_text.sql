create or replace function resource.claim_text(p_claims jsonb, p_claim text) returns text
language sql immutable as $$
  select nullif(case when jsonb_typeof(p_claims -> p_claim) = 'string' then p_claims ->> p_claim end, '')
$$;

comment on function resource.claim_text(jsonb, text) is
  'The value of a claim of a token if it is a text; otherwise null.';
