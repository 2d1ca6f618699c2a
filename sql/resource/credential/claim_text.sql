create or replace function resource.claim_text(p_claims jsonb, p_claim text) returns text
language sql immutable as $$
  select nullif(case when jsonb_typeof(p_claims -> p_claim) = 'string' then p_claims ->> p_claim end, '')
$$;

comment on function resource.claim_text(jsonb, text) is 'The claim of a token that is a text; null: any other.';
