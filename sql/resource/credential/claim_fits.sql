create or replace function resource.claim_fits(p_claims jsonb, p_claim text, p_value text) returns boolean
language sql immutable as $$
  select coalesce(bool_or(h.value = p_value or starts_with(h.value, rtrim(p_value, '/') || '/')), false)
    from (select e.value
            from jsonb_array_elements_text(case jsonb_typeof(p_claims -> p_claim)
                                             when 'array' then p_claims -> p_claim else '[]' end) e(value)
          union all
          select w.value
            from string_to_table(case when jsonb_typeof(p_claims -> p_claim) = 'string' then p_claims ->> p_claim end,
                                 case p_claim when 'scope' then ' ' end) w(value)
           where p_claim = 'scope'
          union all
          select p_claims ->> p_claim where jsonb_typeof(p_claims -> p_claim) = 'string' and p_claim <> 'scope') h
$$;

comment on function resource.claim_fits(jsonb, text, text) is
  'Whether a claim of a token, a text or a list of texts, equals the value or is a path below it. Each word of the '
  'claim scope is compared by itself.';
