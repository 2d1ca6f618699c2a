-- A JSON value that is one text or a list of texts, as a set: sorted, without duplicates (MATCHING.md, Requirements).
create or replace function taskqueue.text_set(p_key text, p_value jsonb, p_skip_empty boolean default false)
returns text[]
language plpgsql immutable as $$
declare
  v_texts text[];
  v_all text;
begin
  case coalesce(jsonb_typeof(p_value), 'null')
    when 'null' then
      return '{}'::text[];
    when 'string' then
      v_texts := array[p_value #>> '{}'];
    when 'array' then
      if jsonb_array_length(p_value) = 0 then
        return '{}'::text[];
      end if;
      if p_value @? 'strict $[*] ? (@.type() != "string")' then  -- the lax mode would unwrap lists within the list
        raise exception '% holds %, which is not a text', p_key,
          resource.shown(jsonb_path_query_first(p_value, 'strict $[*] ? (@.type() != "string")'))
          using errcode = 'PB001', hint = format('Give %s one text or a list of texts.', p_key);
      end if;
      select array_agg(distinct t order by t) into v_texts from jsonb_array_elements_text(p_value) t;
    else
      raise exception '% is %, which is not a text or a list of texts', p_key, resource.shown(p_value)
        using errcode = 'PB001', hint = format('Give %s one text or a list of texts.', p_key);
  end case;
  v_all := array_to_string(v_texts, '');
  if octet_length(v_all) > 1000
     and exists (select from unnest(v_texts) t where octet_length(t) > 1000) then
    raise exception '% holds a text of % bytes', p_key, (select max(octet_length(t)) from unnest(v_texts) t)
      using errcode = 'PB001', hint = 'A text may have 1,000 bytes.';
  elsif resource.unprintable(v_all) then
    raise exception '% holds a control or format character: %', p_key, resource.shown(p_value)
      using errcode = 'PB001', hint = 'A name has none: no line end, tab, escape, or character without width.';
  end if;
  if p_skip_empty then
    v_texts := array_remove(v_texts, '');
  elsif '' = any (v_texts) then
    raise exception '% holds an empty text: %', p_key, resource.shown(p_value)
      using errcode = 'PB001', hint = format('Omit %s to ask for nothing.', p_key);
  end if;
  return v_texts;
end $$;

comment on function taskqueue.text_set(text, jsonb, boolean) is
  'The texts of a JSON value, sorted and without duplicates: one text or a list; null, [] and an absent value give '
  'none. An empty text is skipped (p_skip_empty), or refused. Errors: PB001, naming the key.';
