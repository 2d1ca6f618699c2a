-- The function cuts a CPU requirement into alternatives and parts. Its architecture may be a regular expression such as
-- (x86_64|aarch64).
create or replace function brokerage.split_outside(p_text text, p_separator text) returns text[]
language plpgsql immutable parallel safe as $$
declare
  v_parts text[] := '{}'::text[];
  v_part text := '';
  v_letter text;
  v_depth int := 0;
begin
  foreach v_letter in array string_to_array(p_text, null) loop
    v_depth := v_depth + case when v_letter in ('(', '[') then 1 when v_letter in (')', ']') then -1 else 0 end;
    if v_depth < 0 then
      return null;
    elsif v_depth = 0 and v_letter = p_separator then
      v_parts := v_parts || v_part;
      v_part := '';
    else
      v_part := v_part || v_letter;
    end if;
  end loop;
  return v_parts || v_part;
end $$;

comment on function brokerage.split_outside(text, text) is
  'A text, cut at each occurrence of a character outside of parentheses and brackets; null if more of these are closed '
  'than opened.';
