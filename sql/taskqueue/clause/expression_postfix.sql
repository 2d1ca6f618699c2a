-- CLAUSES.md, Tag expressions. One regular expression cuts the text into tokens in linear time. A stack of operators
-- orders them, and negations move to the tags on the way: below ~( an & is an |.
create or replace function taskqueue.expression_postfix(p_key text, p_text text) returns text[]
language plpgsql immutable as $$
declare
  v_token text;
  v_first text;
  v_at int := 1;  -- place of the token: its first character
  v_last int := 0;  -- place of the last token before it
  v_out text[] := '{}'::text[];
  v_stack text[] := '{}'::text[];  -- operators and brackets that are open
  v_places int[] := '{}'::int[];  -- places of the open brackets
  v_outer boolean[] := '{}'::boolean[];  -- whether the text around an open bracket is negated
  v_negated boolean := false;  -- whether the text within the innermost open bracket is negated
  v_not boolean := false;  -- whether the next tag or bracket is negated
  v_complete boolean := false;  -- whether a tag or bracket has just ended
  v_fault text;
begin
  for v_token in
    select m[1] from regexp_matches(p_text, E'"(?:[^"\\\\]|\\\\.)*"?|\\s+|[^][&|~()"!,;<>{}\\^\\\\\\s]+|.', 'g') m
  loop
    v_first := left(v_token, 1);
    if v_first ~ E'\\s' then
      v_at := v_at + length(v_token);
      continue;
    elsif v_first in ('&', '|', ')') then
      v_fault := case when not v_complete then format('%s at character %s has no tag before it', v_first, v_at) end;
      exit when v_fault is not null;
      while cardinality(v_stack) > 0 and v_stack[cardinality(v_stack)] <> '('
            and (v_first <> '&' or v_stack[cardinality(v_stack)] = '&') loop
        v_out := v_out || translate(v_stack[cardinality(v_stack)], case when v_negated then '&|' else '' end, '|&');
        v_stack := trim_array(v_stack, 1);
      end loop;
      if v_first = ')' then
        v_fault := case when v_stack = '{}' then format(') at character %s has no bracket before it', v_at) end;
        exit when v_fault is not null;
        v_negated := v_outer[cardinality(v_outer)];
        v_stack := trim_array(v_stack, 1);
        v_places := trim_array(v_places, 1);
        v_outer := trim_array(v_outer, 1);
      else
        v_stack := v_stack || v_first;
        v_complete := false;
      end if;
    elsif v_first ~ E'[][!,;<>{}\\^\\\\]' then
      v_fault := format('%s at character %s is neither an operator nor part of a tag', v_first, v_at);
    elsif v_complete then
      v_fault := format('%s at character %s has no & or | before it', left(v_token, 40), v_at);
    elsif v_first = '~' then
      v_not := not v_not;
    elsif v_first = '(' then
      if cardinality(v_places) = 100 then
        v_fault := format('( at character %s is the 101st open bracket, at most 100 may be open', v_at);
      end if;
      v_stack := v_stack || v_first;
      v_places := v_places || v_at;
      v_outer := v_outer || v_negated;
      v_negated := v_negated <> v_not;
      v_not := false;
    else
      if v_first = '"' then
        if v_token !~ E'^"(?:[^"\\\\]|\\\\.)*"$' then
          v_fault := format('" at character %s is not closed', v_at);
        elsif v_token = '""' then
          v_fault := format('the tag at character %s is empty', v_at);
        end if;
      end if;
      v_out := v_out || (case when v_negated <> v_not then '-' else '+' end
                         || case v_first when '"' then regexp_replace(substr(v_token, 2, length(v_token) - 2),
                                                                      E'\\\\(.)', E'\\1', 'g') else v_token end);
      v_not := false;
      v_complete := true;
    end if;
    exit when v_fault is not null;
    v_last := v_at;
    v_at := v_at + length(v_token);
  end loop;
  if v_fault is null and not v_complete and v_last > 0 then
    v_at := v_last;
    v_fault := format('no tag follows %s at character %s', substr(p_text, v_last, 1), v_last);
  elsif v_fault is null and cardinality(v_places) > 0 then
    v_at := v_places[cardinality(v_places)];
    v_fault := format('( at character %s is not closed', v_at);
  end if;
  if v_fault is not null then
    raise exception '%: %', p_key, v_fault
      using errcode = 'PB001', detail = p_text,
            hint = format('Near: %s. Join tags by &, |, ~ (not) and brackets; quote other tags, such as "a b".',
                          regexp_replace(substr(p_text, greatest(v_at - 20, 1), 40), E'\\s', ' ', 'g'));
  end if;
  perform resource.require_short(p_key, substr(t, 2)) from (select distinct t from unnest(v_out) t) u;
  for i in reverse cardinality(v_stack)..1 loop
    v_out := v_out || v_stack[i];
  end loop;
  return v_out;
end $$;

comment on function taskqueue.expression_postfix(text, text) is
  'A tag expression in postfix order: +tag (offered), -tag (not offered), & and |, which join the two before them; no '
  'element for a text without a tag. p_key names it in errors. Errors: PB001, with the place, and p_text as detail.';
