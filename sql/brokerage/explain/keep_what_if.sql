-- The answers of `broker what-if` and of the service's /what-if are kept so that they can be shown to others.
create or replace function brokerage.keep_what_if(p_setup text, p_change jsonb, p_difference jsonb) returns bigint
language plpgsql security definer set search_path = brokerage, pg_temp as $$
declare
  v_kept bigint;
begin
  perform resource.identify(p_setup);
  if jsonb_typeof(p_change) is distinct from 'object' or jsonb_typeof(p_difference) is distinct from 'object' then
    raise exception 'change is % and difference is %, not JSON objects', coalesce(resource.shown(p_change), 'null'),
      coalesce(resource.shown(p_difference), 'null')
      using errcode = 'PB001', hint = 'Give the change that was asked about, and the answer.';
  end if;
  if pg_column_size(p_change) + pg_column_size(p_difference) > 67108864 then
    raise exception 'change and difference have % bytes, at most 67108864',
      pg_column_size(p_change) + pg_column_size(p_difference)
      using errcode = 'PB001', hint = 'Ask about fewer tasks.';
  end if;
  -- waits for a transaction that removes the setup
  perform from resource.setup s where s.setup = p_setup for key share;
  perform resource.require_known_setup(p_setup);
  insert into brokerage.what_if (setup, asked_at, asked_by, change, difference)
  values (p_setup, resource.clock(p_setup), coalesce((resource.subject()).name, resource.caller()), p_change,
          p_difference)
  returning what_if_id into v_kept;
  delete from brokerage.what_if w where w.ctid = any (array(
    select i.ctid from brokerage.what_if i
     where i.setup = p_setup
       and i.what_if_id <= coalesce((select o.what_if_id from brokerage.what_if o where o.setup = p_setup
                                      order by o.what_if_id desc offset 100 limit 1), 0)
       for update skip locked));
  return v_kept;
end $$;

comment on function brokerage.keep_what_if(text, jsonb, jsonb) is
  'Keeps the effect of a change (monitor.what_if), and returns its number; the last 100 of a setup are kept. p_change: '
  'the change that was asked about; p_difference: the answer. Errors: PB001 (no JSON objects, more than 64 MiB, no '
  'such setup), PB002 (setup not granted).';
