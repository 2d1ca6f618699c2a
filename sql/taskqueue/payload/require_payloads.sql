-- Python's json refuses about a thousand levels, other readers fewer. A text of 500 levels has a thousand brackets at
-- least, so that shorter payloads need no look inside.
create or replace function taskqueue.require_payloads(p_setup text, p_of text, p_ids bigint[], p_payloads jsonb[])
returns void
language plpgsql stable as $$
declare
  v_worst record;
  v_key text;
begin
  select s.id, t.size, t.size >= 1000
         and s.payload @? 'strict $.**{500} ? (@.type() == "array" || @.type() == "object")' as is_deep
    into v_worst
    from unnest(p_ids, p_payloads) s (id, payload)
   cross join lateral (select octet_length(s.payload::text)::bigint as size offset 0) t
   where s.payload is not null
   order by is_deep desc, t.size desc, s.id
   limit 1;
  if not found then
    return;
  end if;
  v_key := format('payload of %s %s', p_of, v_worst.id);
  perform taskqueue.require_within(p_setup, 'payload_size', v_key, v_worst.size);
  if v_worst.is_deep then
    raise exception '% is nested more than 500 levels deep', v_key
      using errcode = 'PB001',
            hint = 'Most programs cannot read so many levels. Give the payload as a text, or with fewer levels.';
  end if;
end $$;

comment on function taskqueue.require_payloads(text, text, bigint[], jsonb[]) is
  'Refuses payloads with more bytes than the setting payload_size of the setup allows, or with more than 500 levels of '
  'arrays and objects. p_of: the kind of the ids, job or task; nulls are no payloads. Errors: PB001, naming the id of '
  'the worst payload.';
