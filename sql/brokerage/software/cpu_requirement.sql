-- software-check.md, Task architecture: architecture[-vendor[-instructions]], alternatives joined by |. panda2026
-- removes one leading and one trailing parenthesis and cuts at every | and -; documented cuts outside of
-- parentheses, so (x86_64|aarch64)-intel means both architectures.
create or replace function brokerage.cpu_requirement(p_text text, p_base_profile text) returns jsonb
language plpgsql immutable parallel safe as $$
declare
  v_text text := p_text;
  v_alternatives text[];
  v_parts text[];
  v_alternative text;
  v_result jsonb := '[]'::jsonb;
begin
  if p_text is null then
    return null;
  elsif p_base_profile <> 'documented' then
    v_alternatives := string_to_array(regexp_replace(regexp_replace(v_text, '^[(]', ''), '[)]$', ''), '|');
  else
    if v_text like '(%)' and brokerage.split_outside(substr(v_text, 2, length(v_text) - 2), '|') is not null then
      v_text := substr(v_text, 2, length(v_text) - 2);
    end if;
    v_alternatives := coalesce(brokerage.split_outside(v_text, '|'), array[v_text]);
  end if;
  foreach v_alternative in array v_alternatives loop
    v_parts := coalesce(case when p_base_profile = 'documented' then brokerage.split_outside(v_alternative, '-') end,
                        string_to_array(v_alternative, '-'));
    v_result := v_result || jsonb_build_object(
      'arch', coalesce(nullif(v_parts[1], ''), '*'), 'vendor', coalesce(nullif(v_parts[2], ''), '*'), 'instr',
      coalesce(nullif(v_parts[3], ''), '*'));
  end loop;
  return v_result;
end $$;

comment on function brokerage.cpu_requirement(text, text) is
  'The alternatives of a CPU requirement: an array of {arch, vendor, instr}, * if the task has no requirement. Base '
  'profile documented or panda2026.';
