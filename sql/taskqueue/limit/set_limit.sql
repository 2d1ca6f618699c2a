-- LEASES.md, Limits. No other call works in the setup while a limit is set, so the leases counted are all that exist;
-- lowering a limit evicts nobody.
create or replace function taskqueue.set_limit(
  p_setup text, p_kind text, p_site text, p_ce text, p_attribute text, p_value text, p_limit numeric,
  p_burst int default 1
) returns bigint
language plpgsql security definer set search_path = taskqueue, pg_temp as $$
declare
  v_key text := taskqueue.attribute_key(p_attribute);
  v_is_new boolean;  -- whether no limit has the value yet
  v_id bigint;
begin
  perform resource.identify(p_setup);
  perform taskqueue.require_limit_kind(p_kind);
  if p_site is null or p_site = '' or p_ce = '' or p_value is null or p_value = '' then
    raise exception 'invalid site %, CE % or value %', coalesce(quote_literal(p_site), 'null'),
      coalesce(quote_literal(p_ce), 'null'), coalesce(quote_literal(p_value), 'null')
      using errcode = 'PB001', hint = 'Name a site and a value; a null CE means the whole site.';
  elsif p_limit is null or p_limit not between 0 and 100000 or p_kind = 'running' and p_limit <> trunc(p_limit) then
    raise exception 'limit is %, which is not % within 0..100000', coalesce(p_limit::text, 'null'),
          case p_kind when 'running' then 'an integer' else 'a number of seconds' end
      using errcode = 'PB001', hint = 'A running limit is jobs at a time, a delay is seconds between two matches.';
  elsif p_burst is null or p_burst not between 1 and 100000 then
    raise exception 'burst is %, which is not within 1..100000', coalesce(p_burst::text, 'null')
      using errcode = 'PB001', hint = 'A burst is the number of matches that may come at once after a pause.';
  end if;
  perform resource.require_short('site', p_site, 800);
  perform resource.require_short('CE', p_ce, 800);
  perform resource.require_short('value', p_value, 800);
  p_limit := round(p_limit, 6);  -- the resolution of an interval
  perform taskqueue.reconfigure(p_setup);
  perform taskqueue.require_setup(p_setup);
  perform taskqueue.require_limit_value(p_setup, v_key, p_value);
  perform taskqueue.forget_descriptions(p_setup);
  v_is_new := not exists (select from taskqueue.site_limit l
                           where l.setup = p_setup and l.attribute = v_key and l.value = p_value);
  insert into taskqueue.site_limit as l (setup, kind, site, grid_ce, attribute, value, ceiling, delay, burst)
  values (p_setup, p_kind, p_site, p_ce, v_key, p_value, case p_kind when 'running' then p_limit::int end,
          case p_kind when 'delay' then make_interval(secs => p_limit::float8) end,
          case p_kind when 'delay' then p_burst end)
  on conflict on constraint site_limit_once do update
     set ceiling = excluded.ceiling, delay = excluded.delay, burst = excluded.burst,
         -- the last match was one delay before the clock, and the new delay counts from it; no clock: no match yet
         next_at = case when l.next_at is not null
                        then least(l.next_at - l.delay + excluded.delay,
                                   resource.clock(p_setup) + excluded.burst * excluded.delay) end
  returning l.limit_id into v_id;
  if v_is_new then
    perform taskqueue.mark_limited(p_setup, v_key, p_value);
  end if;
  if p_kind = 'running' then
    perform taskqueue.set_slots(p_setup, v_id);
  end if;
  return v_id;
end $$;

comment on function taskqueue.set_limit(text, text, text, text, text, text, numeric, int) is
  'Limits the jobs with a value of an attribute at a site or CE: how many may be matched or running there (kind '
  'running; 0 blocks), or the seconds between two matches (kind delay, with p_burst matches at once after a pause). '
  'Existing leases count; lowering a limit evicts nobody. Returns the limit. Errors: PB001, PB002 (setup not granted), '
  'PB006 (busy).';
