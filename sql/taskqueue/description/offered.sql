-- MATCHING.md, Conditions: a key that is absent, empty or "any" (any case, punctuation ignored) sets no condition; a
-- key that is absent or empty and listed in strict_keys offers nothing.
create or replace function taskqueue.offered(p_key text, p_value jsonb, p_strict_keys text[]) returns text[]
language plpgsql immutable as $$
declare
  v_texts text[] := taskqueue.text_set(p_key, p_value, true);
begin
  if cardinality(v_texts) = 0 then
    return case when p_key = any (p_strict_keys) then '{}'::text[] end;
  end if;
  if taskqueue.includes_any(v_texts) then
    return null;
  end if;
  return v_texts;
end $$;

comment on function taskqueue.offered(text, jsonb, text[]) is
  'The values that a resource offers under a key. Null means no condition; an empty array means that it offers '
  'nothing. Errors: PB001.';
