-- RETRIES.md: the class of a failed end is found once, so that rules and the history use the same class. Ends of a
-- batch with the same errors share this work. No rule applies to a job that is marked for kill.
create or replace function taskqueue.judge_ends(p_setup text, p_ends taskqueue.lease_event[])
returns taskqueue.lease_event[]
language plpgsql as $$
declare
  v_now timestamptz := resource.clock(p_setup);
  v_ends taskqueue.lease_event[];
  v_setting taskqueue.setting;
  v_last_bucket bigint;
  v_part record;
begin
  v_ends := array(
    with run as materialized (
      select k, case when k.event = 'failed' then taskqueue.facts_of_end(k.lease, k.facts) end as facts
        from unnest(p_ends) k
    ), known as (
      select e.error, taskqueue.error_class_of(p_setup, e.error) as class
        from (select distinct (r.facts).error as error from run r) e
    )
    select case when (r.k).event <> 'failed' then r.k
                else row((r.k).lease, (r.k).event, (r.k).subject, (r.k).why, r.facts,
                         coalesce(n.class, (r.k).error_class, 'unknown'), null)::taskqueue.lease_event end
      from run r
      left join known n on n.error = (r.facts).error);
  if not exists (select from taskqueue.retry_rule r where r.setup = p_setup) then
    return v_ends;
  end if;
  select s.* into v_setting from taskqueue.setting s where s.setup = p_setup;
  if v_setting.most_retries = 0 then
    return v_ends;
  end if;
  v_last_bucket := (select max(b.cpu_time) from taskqueue.cpu_bucket b where b.setup = p_setup);
  select array_agg(n.job_id) as job_ids, array_agg(n.failures) as failures, array_agg(n.task_id) as task_ids,
         array_agg(n.max_attempt) as max_attempts into v_part
    from workload.note_failures(p_setup, array(
           select l.job_id from unnest(v_ends) k cross join lateral (select (k.lease).*) l
            where k.event = 'failed' and l.brokered and l.kill_reason is null)) n;
  return array(
    select row((u.k).lease, (u.k).event, (u.k).subject, (u.k).why, (u.k).facts, (u.k).error_class, v.verdict
              )::taskqueue.lease_event
      from (select k from unnest(v_ends) k) u
     cross join lateral (select ((u.k).lease).*) l
      left join taskqueue.definition d on d.setup = p_setup and d.definition_id = l.definition_id
      left join unnest(v_part.job_ids, v_part.failures, v_part.task_ids, v_part.max_attempts)
                  p (job_id, failures, task_id, max_attempt) on p.job_id = l.job_id
     cross join lateral (
            select row((u.k).error_class, ((u.k).facts).error, l.site, d.owner_group, d.job_types,
                       coalesce(p.failures, least(l.failures + 1, 32767)), v_setting.most_retries,
                       p.job_id is not null or not l.brokered, l.brokered, ((u.k).facts).host,
                       ((u.k).facts).ram_used, d.requirements, v_setting.most_ram, v_last_bucket,
                       p.task_id, p.max_attempt
                      )::taskqueue.failure as failure offset 0) f
      left join lateral (select o as verdict from taskqueue.verdict_of(p_setup, f.failure, v_now) o
                          where (u.k).event = 'failed' and l.kill_reason is null) v on true);
end $$;

comment on function taskqueue.judge_ends(text, taskqueue.lease_event[]) is
  'Adds to each failed end the facts of its run, its class, and the verdict of the retry rules. Counts the failed ends '
  'of parts of tasks (workload.failed_part). Other ends stay as they are.';
