-- Section 4, condition 4: "any", in any case, surrounding punctuation ignored ("ANY", "'any'", "[any]").
create or replace function taskqueue.says_any(p_texts text[]) returns boolean
language sql immutable
as $$
  select exists (select from unnest(p_texts) t where t ilike '%any%' and t ~* '^[[:punct:][:space:]]*any[[:punct:][:space:]]*$')
$$;

comment on function taskqueue.says_any(text[]) is 'Whether one of the texts is "any".';
