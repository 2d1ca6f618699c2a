-- GUARD.md. The questions have the form of those of taskqueue.setups_due. A job that was matched and given back between
-- two rounds leaves neither a lease nor an ended job. Its end is counted within a minute.
create or replace function taskqueue.guard_due() returns setof text
language plpgsql security definer set search_path = taskqueue, pg_temp set jit = off set enable_seqscan = off
set enable_material = off as $$
begin
  perform resource.require_primary();  -- a standby does not have the known descriptions
  return query
    select t.setup
      from resource.setup_time t
      join taskqueue.setting s on s.setup = t.setup
      left join taskqueue.guard_mark m on m.setup = t.setup
     where (t.setup = (select resource.bound_setup())) is not false
       and ((select true from taskqueue.quarantine q where q.setup = t.setup limit 1)
            or case s.guard
                 when 'off' then m.setup is not null
                      or (select true from taskqueue.parsed_description k where k.setup = t.setup and k.guarded limit 1)
                 else (m.read_at between t.now - interval '1 minute' and t.now) is not true
                      or (select true from taskqueue.lease l where l.setup = t.setup limit 1)
                      or (select true from taskqueue.ended e
                           where e.setup = t.setup and e.ended_at >= m.read_at - interval '1 minute' limit 1) end)
     order by random();
end $$;

comment on function taskqueue.guard_due() is
  'Setups in which the guard may have work, in random order. A scheduler calls taskqueue.guard and '
  'taskqueue.mark_guarded for each of them.';
