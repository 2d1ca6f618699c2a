-- The steps of taskqueue.maintain_setup, as questions: a setup for which all answers are no needs no call. Questions
-- are cheap, and some are wider than their step: a definition without a TaskQueue may still have leases. Each is an
-- index scan in the setup that ends at the first row. Without `enable_seqscan = off` it would read the rows of other
-- setups: the planner believes that each setup holds the whole table (baseline). New clauses come with a TaskQueue, so
-- its mark is asked for; once a minute a setup with clauses is always due. The order is random, so that no setup is
-- always the last.
create or replace function taskqueue.setups_due(p_often boolean default false) returns setof text
language plpgsql security definer set search_path = taskqueue, pg_temp set jit = off set enable_seqscan = off
set enable_material = off as $$
begin
  perform resource.require_primary();  -- a standby does not have the resources seen
  return query
    select t.setup
      from resource.setup_time t
      join taskqueue.setting s on s.setup = t.setup
     where (t.setup = (select resource.bound_setup())) is not false
       and (
         (select true from taskqueue.job_count_change c where c.setup = t.setup limit 1)
         or (select true from taskqueue.share_mark m
              where m.setup = t.setup and m.marked_at <= t.now - s.share_delay / 2 limit 1)
         or (select true from taskqueue.job j where j.setup = t.setup and j.not_before <= t.now limit 1)
         or (select true from taskqueue.unposted u where u.setup = t.setup limit 1)
         or (select true from taskqueue.resource_seen r
              where r.setup = t.setup and r.seen_at < t.now - interval '10 seconds' limit 1)
         or t.setup in (select d.setup from taskqueue.definition d where d.clauses is null)
         or p_often is not true and (
           taskqueue.counts_of_another_server(t.setup)
           or (select true from taskqueue.task_queue q
                where q.setup = t.setup
                  and (select true from taskqueue.job j
                        where j.setup = q.setup and j.task_queue_id = q.task_queue_id limit 1) is null
                limit 1)
           or (select true from taskqueue.hand h
                where h.setup = t.setup
                  and (select true from taskqueue.task_queue q
                        where q.setup = h.setup and q.task_queue_id = h.task_queue_id limit 1) is null
                limit 1)
           or (select true from taskqueue.posting_list l
                where l.setup = t.setup
                  and (select true from taskqueue.posting p
                        where p.setup = l.setup and p.list_id = l.list_id limit 1) is null
                limit 1)
           or (select true from taskqueue.sparse_classes(t.setup) limit 1)
           or (select true from taskqueue.definition d
                where d.setup = t.setup and d.created_at < t.now - interval '1 hour'
                  and (select true from taskqueue.task_queue q
                        where q.setup = d.setup and q.definition_id = d.definition_id limit 1) is null
                limit 1)
           or (select true from taskqueue.past_definition p
                where p.setup = t.setup
                  and p.moved_at < t.now - (select taskqueue.history_kept()) - interval '1 day' limit 1)
           or (select true from taskqueue.pending_change p
                where p.setup = t.setup
                  and (select true from taskqueue.job j
                        where j.setup = p.setup and j.job_id = p.job_id and j.entry_id = p.entry_id limit 1) is null
                limit 1)
           or (select true from resource.pilot_request p
                where p.setup = t.setup and p.since < t.now - interval '1 day' limit 1)
           or (select true from resource.pilot_gpu p
                where p.setup = t.setup and p.last_seen < t.now - interval '1 day' limit 1)
           or (select true from taskqueue.request r
                where r.setup = t.setup and r.made_at < t.now - interval '10 minutes' limit 1)
           or (select true from taskqueue.site_limit l
                where l.setup = t.setup and l.kind = 'delay'
                  and l.next_at > t.now + l.burst * l.delay + interval '1 minute' limit 1)
           or (select true from taskqueue.clause c where c.setup = t.setup and c.clause is not null limit 1)
           or (select true from taskqueue.parsed_description k
                where k.setup = t.setup and (k.seen_at < t.now - interval '1 day') is not false limit 1)
           or (select true from taskqueue.parsed_description k where k.setup = t.setup offset 100000 limit 1)
           or (select true from taskqueue.known_condition k
                where k.setup = t.setup and k.made_at not between t.now - interval '1 hour' and t.now limit 1)
           or (select true from taskqueue.known_condition k where k.setup = t.setup offset 10000 limit 1)))
     order by random();
end $$;

comment on function taskqueue.setups_due(boolean) is
  'Setups for which taskqueue.maintain, with the same p_often, may have work, in random order. A scheduler calls '
  'taskqueue.maintain for each of them, each in a transaction of its own.';
