-- GUARD.md, Quarantines.
create or replace function taskqueue.drop_quarantines(p_setup text, p_now timestamptz, p_all boolean)
returns table (kind text, site text, name text, why text)
language sql as $$
  select d.*
    from (select q.kind, q.site, q.name
            from taskqueue.quarantine q
           where q.setup = p_setup and (q.kind = 'host' or p_all) and q.is_automatic
             and (p_all
                  or q.locks and q.next_probe_at < p_now - interval '1 day'
                  or not q.locks
                     and not exists (select from taskqueue.health h
                                      where h.setup = p_setup and h.kind = 'host' and h.site = q.site
                                        and h.name = q.name and h.score > 0))
           order by q.kind, q.site, q.name
             for update skip locked) o
   cross join lateral taskqueue.drop_quarantine(p_setup, o.kind, o.site, o.name) d
$$;

comment on function taskqueue.drop_quarantines(text, timestamptz, boolean) is
  'Lifts the quarantines of the guard that are over: no request got a job for a day after a probe was due, or a '
  'watched worker node has a score of 0 again or no row in taskqueue.health. p_all: lifts all quarantines of the '
  'guard, those of sites too.';
