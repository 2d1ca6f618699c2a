create or replace function history.require_grouping(
  p_since timestamptz, p_now timestamptz, p_by text[], p_only jsonb
) returns void
language plpgsql stable as $$
declare
  c_by constant text[] := array['site', 'host', 'class', 'error', 'task', 'job'];
  v_wrong text;
begin
  if p_since < '1900-01-01' or p_since >= p_now then
    raise exception 'p_since is %, which is not between 1900 and %', p_since, p_now
      using errcode = 'PB001', hint = 'Give a time in the past, or omit p_since.';
  end if;
  v_wrong := (select coalesce(u.by, 'null') from unnest(p_by) u (by) where (u.by = any (c_by)) is not true limit 1);
  if v_wrong is not null or p_by is null then
    raise exception 'p_by has %', coalesce(resource.shown(to_jsonb(v_wrong)), 'null')
      using errcode = 'PB001', hint = format('Failures are counted by %s.', array_to_string(c_by, ', '));
  end if;
  if jsonb_typeof(p_only) is distinct from 'object' then
    raise exception 'p_only is %, which is not an object', coalesce(resource.shown(p_only), 'null')
      using errcode = 'PB001', hint = 'For example {"site": "CERN", "class": "memory"}.';
  end if;
  v_wrong := (select format('%s is %s', o.key, resource.shown(o.value)) from jsonb_each(p_only) o
               where case o.key
                       when 'task' then case jsonb_typeof(o.value)
                                          when 'number' then o.value::numeric not between 0 and 9223372036854775807
                                                             or o.value::numeric % 1 <> 0
                                          else true end
                       else o.key <> all ('{site,host,class}') or jsonb_typeof(o.value) <> 'string' end
               limit 1);
  if v_wrong is not null then
    raise exception 'in p_only, %', v_wrong
      using errcode = 'PB001', hint = 'Keys are site, host and class with a text, and task with a number.';
  end if;
end $$;

comment on function history.require_grouping(timestamptz, timestamptz, text[], jsonb) is
  'Refuses arguments of history.failures that are wrong. Errors: PB001, naming the key and the value.';
