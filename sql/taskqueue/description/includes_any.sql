-- MATCHING.md, Conditions: "any" in any case, surrounding punctuation ignored ("ANY", "'any'", "[any]").
create or replace function taskqueue.includes_any(p_texts text[]) returns boolean
language plpgsql immutable as $$
begin
  return array_to_string(p_texts, ' ') ilike '%any%'
         and exists (select from unnest(p_texts) t where t ~* '^[[:punct:][:space:]]*any[[:punct:][:space:]]*$');
end $$;

comment on function taskqueue.includes_any(text[]) is 'Whether one of the texts is "any".';
