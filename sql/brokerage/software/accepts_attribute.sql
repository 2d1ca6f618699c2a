-- software-check.md, Hardware: in documented, an empty value in a list accepts any value, and excl is not a value.
create or replace function brokerage.accepts_attribute(
  p_list jsonb, p_value text, p_is_pattern boolean, p_base_profile text
) returns boolean
language plpgsql stable as $$
begin
  if p_value = '*' then
    return not coalesce(p_list ? 'excl', false);
  elsif p_list is null then
    return false;
  elsif p_list ? 'any' or p_base_profile = 'documented' and p_list ? ''
        or p_list ? p_value and not (p_base_profile = 'documented' and p_value = 'excl') then
    return true;
  elsif not p_is_pattern or p_value !~ '[^A-Za-z0-9_-]' or resource.pattern_problem(p_value) is not null then
    return false;
  end if;
  return exists (select from jsonb_array_elements_text(p_list) e(value)
                  where e.value ~ ('^(?:' || p_value || ')$')
                    and not (p_base_profile = 'documented' and e.value = 'excl'));
end $$;

comment on function brokerage.accepts_attribute(jsonb, text, boolean, text) is
  'Whether a published list of an attribute contains the value that a task asks for (* = none; a regular expression or '
  'not). Base profile documented or panda2026.';
