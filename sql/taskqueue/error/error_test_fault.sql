-- ENDS.md, Classes of errors. A counted repetition of a group is refused before it is compiled:
-- resource.pattern_problem allows forms of it that take seconds.
create or replace function taskqueue.error_test_fault(p_source text, p_code_from int, p_code_to int, p_pattern text)
returns text
language sql as $$
  select case
    when p_source !~ '^[a-z0-9_.-]{1,32}$'
    then format('source is %s, not 1 to 32 of a-z, 0-9, _, . and -', resource.shown(to_jsonb(p_source)))
    when p_code_from > p_code_to then format('code_from is %s, more than code_to %s', p_code_from, p_code_to)
    when p_pattern is not null then
      format('pattern is %s, ', resource.shown(to_jsonb(p_pattern)))
      || case when p_pattern = '' then 'not a pattern'
              when length(p_pattern) > 200 then 'longer than 200 characters'
              when resource.unprintable(p_pattern) then 'with a control or format character'
              when p_pattern ~ '[)][[:space:]]*[{]' then 'with a counted repetition of a group'
              else coalesce(resource.pattern_problem(p_pattern),
                            (select format('which takes %s ms', round(t.ms))
                               from taskqueue.pattern_time(p_pattern) t(ms) where t.ms > 10)) end
    end
$$;

comment on function taskqueue.error_test_fault(text, int, int, text) is
  'The reason why a class of errors or a retry rule with this source, these bounds of the code and this pattern is '
  'refused, with key and value; null if it is valid.';
