-- GUARD.md, Reading the history. A row of the history has no number, so the transaction that wrote the row (xmin) shows
-- whether the row was counted; subtransactions have numbers of their own. All transactions before the oldest open one
-- have ended. The mark lists the later transactions whose ends are counted.
create or replace function taskqueue.read_ends(
  p_mark taskqueue.guard_mark, p_now timestamptz, p_most int,
  out mark taskqueue.guard_mark, out ends taskqueue.counted_end[]
)
language plpgsql as $$
declare
  v_read record;
begin
  -- one statement, since the rows must be read with this snapshot
  with snapshot as materialized (
    select pg_snapshot_xmin(pg_current_snapshot())::text::bigint as lowest,
           pg_snapshot_xmax(pg_current_snapshot())::text::bigint as top
  ), read as materialized (
    select h.at, h.job_id, h.attempt, coalesce(h.site, '') as site, h.host, h.event, h.error_class, h.definition_id,
           x.made_in
      from taskqueue.history h
     cross join snapshot s
     cross join lateral (
       -- the number of 64 bits that is nearest to top and ends in the 32 bits of xmin
       select s.top + 2147483647 - ((s.top + 2147483647 - h.xmin::text::bigint) & 4294967295) as made_in offset 0) x
     where h.setup = p_mark.setup
       and h.at >= greatest(least(p_mark.since, p_now), p_now - interval '1 hour') - interval '1 minute'
       and h.event in ('finished', 'failed', 'released', 'expired') and h.attempt > 0
       and (h.event <> 'failed' or h.error_class is not null)  -- a job that fails while it waits has no class
       and x.made_in >= p_mark.known_to and (x.made_in < s.lowest or cardinality(p_mark.counted) < 100000)
       and x.made_in not in (select c.made_in from unnest(p_mark.counted) c (made_in))
  ), portion as materialized (
    select r.*, count(*) over (order by r.made_in) - count(*) over (partition by r.made_in) < p_most as is_taken
      from read r
  ), judged as (
    select p.*, k.family, t.matched_at,
           p.event = 'expired'
           or p.event = 'released' and coalesce(t.matched_at >= p.at - interval '10 minutes', false)
           or p.error_class is not distinct from 'lost'
              and not exists (select from taskqueue.history m
                               where m.setup = p_mark.setup and m.job_id = p.job_id and m.attempt = p.attempt
                                 and m.event = 'running' and m.at <= p.at) as never_ran
      from portion p
     cross join lateral (
       select case when p.event <> 'finished' then
                (select max(m.at) from taskqueue.history m
                  where m.setup = p_mark.setup and m.job_id = p.job_id and m.attempt = p.attempt
                    and m.event = 'matched' and m.at <= p.at) end as matched_at offset 0) t
     cross join lateral (
       select coalesce((select 'task ' || j.task_id from workload.job j
                         where j.setup = p_mark.setup and j.job_id = p.job_id),
                       (select d.family::text from taskqueue.definition d
                         where d.setup = p_mark.setup and d.definition_id = p.definition_id),
                       (select taskqueue.family_of(d.requirements)::text from taskqueue.past_definition d
                         where d.setup = p_mark.setup and d.definition_id = p.definition_id), '') as family) k
     where p.is_taken and p.error_class is distinct from 'payload' and octet_length(p.site) <= 800
       and (p.event <> 'failed'
            or not exists (select from taskqueue.history m
                            where m.setup = p_mark.setup and m.job_id = p.job_id and m.attempt = p.attempt
                              and m.event = 'kill asked' and m.at <= p.at))
  )
  select s.lowest, s.top, least(s.lowest, (select min(p.made_in) from portion p where not p.is_taken)) as known_to,
         array(select p.made_in from portion p where p.is_taken) as taken,
         array(select row(j.at, j.job_id, j.attempt, j.site,
                          case when j.never_ran or j.event in ('finished', 'failed') then j.host end, j.family,
                          j.event <> 'finished', not j.never_ran and j.event in ('finished', 'failed'),
                          case when j.never_ran then 'infrastructure' else j.error_class end,
                          j.matched_at)::taskqueue.counted_end
                 from judged j) as ends
    into v_read
    from snapshot s;
  mark := p_mark;
  mark.known_to := v_read.known_to;
  mark.counted := array(select distinct c.made_in from unnest(p_mark.counted || v_read.taken) c (made_in)
                         where c.made_in >= v_read.known_to);
  if v_read.known_to >= mark.next_to then
    mark.since := mark.next_at;
    mark.next_to := v_read.top;
    mark.next_at := p_now;
  end if;
  mark.read_at := p_now;
  ends := v_read.ends;
end $$;

comment on function taskqueue.read_ends(taskqueue.guard_mark, timestamptz, int) is
  'Reads the ends of jobs that were committed since the mark, in whatever order, each once. Returns these ends and the '
  'next mark. p_most: number of ends after which the rest is left to the next call. p_now: time of the setup.';
