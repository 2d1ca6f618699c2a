create or replace function brokerage.filled(p_template text, p_holes jsonb) returns text
language plpgsql stable as $$
declare
  v_pieces text[] := string_to_array(p_template, '{');
  v_filled text := v_pieces[1];
  v_hole text;
begin
  for i in 2 .. cardinality(v_pieces) loop
    v_hole := split_part(v_pieces[i], '}', 1);
    if p_holes ->> v_hole is null then
      raise exception 'no text for {%} of a query', v_hole using errcode = 'XX000', hint = 'A bug, please report it.';
    end if;
    v_filled := v_filled || (p_holes ->> v_hole) || substr(v_pieces[i], length(v_hole) + 2);
  end loop;
  return v_filled;
end $$;

comment on function brokerage.filled(text, jsonb) is
  'A template with its named holes filled: {name} becomes the text of that name. Braces in these texts are kept. The '
  'call fails if a text is missing.';
