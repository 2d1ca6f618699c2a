-- Regular expressions come from tasks and sites: an expression that PostgreSQL cannot read, or that takes long to
-- compile, is refused before it is used. Measured: '.*' 490 times 3.9 s, ((.*) 20 times){1,50} 6.8 s, and each
-- constraint that matches a place instead of a character (^ $ \y \m \A, look-ahead) doubles the time: '\y' 20 times 3.3
-- s. Back-references are not allowed, since they are matched by search. The function is not parallel safe, since the
-- handler is a subtransaction.
create or replace function resource.pattern_problem(p_pattern text) returns text
language plpgsql stable as $$
declare
  v_repeats numeric;
  v_quantifiers int;
  v_places int;
begin
  if p_pattern is null or p_pattern !~ '[^A-Za-z0-9_.-]' then
    return null;
  end if;
  if length(p_pattern) > 1000 then
    return 'longer than 1000 characters';
  end if;
  if p_pattern ~ E'\\\\[0-9]' then
    return 'written with back-references';
  end if;
  v_quantifiers := length(regexp_replace(p_pattern, '[^*+?{]', '', 'g'));
  select coalesce(exp(sum(ln(greatest(m[1]::numeric, 1)))), 1)
    into v_repeats
    from regexp_matches(p_pattern, '([0-9]{1,4})[0-9]*[}]', 'g') m;
  select count(*) into v_places
    from regexp_matches(replace(p_pattern, '[^', '['), E'\\\\[AZmMyY]|[$^]|[(][?][=!<]|:[<>]:', 'g');
  if v_places > 4 or v_places * v_repeats > 20 or v_quantifiers > 100 or v_repeats > 1000
     or v_quantifiers * v_repeats > 300 or length(p_pattern) * v_repeats > 10000 then
    return 'too complex';
  end if;
  begin
    perform '' ~ p_pattern, '' ~ ('^(?:' || p_pattern || ')$');
  exception when invalid_regular_expression or program_limit_exceeded or statement_too_complex then
    return 'not a regular expression';
  end;
  return null;
end $$;

comment on function resource.pattern_problem(text) is
  'The reason why a regular expression is not used: longer than 1,000 characters, too complex, with a back-reference, '
  'or not valid; null if it is used.';
