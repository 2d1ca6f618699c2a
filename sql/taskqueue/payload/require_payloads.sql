-- Python's json refuses about a thousand levels, other readers fewer. A text of 500 levels has a thousand brackets at
-- least, so that shorter payloads need no look inside.
create or replace function taskqueue.require_payloads(p_setup text, p_of text, p_ids bigint[], p_payloads jsonb[])
returns void
language plpgsql stable as $$
declare
  v_worst record;
begin
  select format('payload of %s %s', p_of, s.id) as key, s.size, s.is_deep
    into v_worst
    from (select u.id, t.size, t.size >= 1000
                 and u.payload @? 'strict $.**{500} ? (@.type() == "array" || @.type() == "object")' as is_deep
            from unnest(p_ids, p_payloads) u (id, payload)
           cross join lateral (select octet_length(u.payload::text)::bigint as size offset 0) t
           where u.payload is not null) s
   order by s.is_deep desc, s.size desc, s.id
   limit 1;
  if found then
    perform taskqueue.require_within(p_setup, 'payload_size', v_worst.key, v_worst.size);
  end if;
  if v_worst.is_deep then
    raise exception '% is nested more than 500 levels deep', v_worst.key
      using errcode = 'PB001', hint = 'Programs cannot read so many levels; give a text, or fewer levels.';
  end if;
end $$;

comment on function taskqueue.require_payloads(text, text, bigint[], jsonb[]) is
  'Refuses payloads with more bytes than the setting payload_size of the setup allows, or with more than 500 levels of '
  'arrays and objects. p_of: what the ids are of, job or task; nulls are no payloads. Errors: PB001, naming the id of '
  'the worst payload.';
