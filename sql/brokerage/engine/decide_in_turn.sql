-- A batch of a profile whose weights see what the same batch assigned (live counter, brokerage-rules 1.3; remaining work, 1.1): all that no assignment
-- changes is decided by one query, then each task in turn, highest current priority first, is weighed over its survivors, and its jobs are assigned, or
-- the task itself, before the next one.
create or replace function brokerage.decide_in_turn(p_run brokerage.run, p_tasks brokerage.task_facts[], p_queues brokerage.queue_facts[], p_wide boolean) returns void
language plpgsql
as $$
declare
  v_turn text := brokerage.compose_turn(p_run.profile, p_run.algorithm);
  v_wait jsonb := (select r.parameters from brokerage.rule_in_force r where r.profile = p_run.profile and r.algorithm = p_run.algorithm and r.kind = 'pending' and r.enabled limit 1);
  v_first_of_zeros boolean := brokerage.takes_first_of_zeros(p_run.profile, p_run.algorithm);
  v_live jsonb := '{}'::jsonb;      -- jobs that unified queues got
  v_sent brokerage.task_facts[] := '{}'::brokerage.task_facts[];
  v_sent_to text[] := '{}'::text[];  -- nuclei that tasks went to
  v_number bigint;
  v_task_id bigint;
  v_priority int;
  v_outside bigint;
  v_rejected bigint;
  v_survivors brokerage.survivor[];
  v_kept bigint;
  v_names text[];
  v_unified text[];
  v_weights float8[];
  v_queued bigint[];
  v_capacities bigint[];
  v_chunks int[];
  v_given bigint[];
begin
  for v_number, v_task_id, v_priority, v_outside, v_rejected, v_survivors in execute
    brokerage.compose(p_run.profile, p_run.algorithm, p_wide, false, true)
    || ', stored as ('
       'insert into brokerage.verdict (setup, run_id, task_id, decided_at, queues)'
       ' select $1, $5, j.task_id, $6, array_agg(row(j.queue, case when starts_with(j.failed, ''!'') then ''n'' else ''r'' end::"char", null, j.weight, j.factors, null, null, null,'
       '        ltrim(split_part(j.failed, E''\t'', 1), ''!''), split_part(j.failed, E''\t'', 2))::brokerage.queue_verdict)'
       '   from judged j where j.failed is not null group by j.task_id)'
       ' select u.ordinality as number, u.task_id, u.current_priority,'
       '        count(j.queue) filter (where starts_with(j.failed, ''!'')) as outside, count(j.queue) filter (where j.failed is not null and not starts_with(j.failed, ''!'')) as rejected,'
       '        array_agg(row(j.queue, j.unified_name, j.factors, j.q, j.p)::brokerage.survivor) filter (where j.queue is not null and j.failed is null) as survivors'
       '   from unnest($2) with ordinality u left join judged j on j.task_number = u.ordinality'
       '  group by u.ordinality, u.task_id, u.current_priority order by u.current_priority desc, u.task_id'
    using p_run.setup, p_tasks, p_queues, brokerage.flavour(p_run.profile), p_run.run_id, p_run.started_at
  loop
    v_survivors := case when p_run.algorithm = 'production_task'
                        then array(select row(s.queue, s.unified_name, s.factors, s.q, brokerage.with_work(s.p, coalesce(w.work, 0)))::brokerage.survivor
                                     from unnest(v_survivors) s
                                     left join (select u.nucleus, sum(u.work) as work
                                                  from (select n.nucleus, f.work, f.gshare, f.current_priority from unnest(v_sent_to) with ordinality n(nucleus, number)
                                                          join unnest(v_sent) with ordinality f on f.ordinality = n.number) u
                                                 where u.gshare = (p_tasks[v_number]).gshare and u.current_priority >= v_priority
                                                 group by u.nucleus) w on w.nucleus = s.queue)
                        else array(select row(s.queue, s.unified_name, s.factors, brokerage.with_live(s.q, coalesce((v_live ->> s.unified_name)::bigint, 0)), s.p)::brokerage.survivor
                                     from unnest(v_survivors) s) end;
    execute v_turn
            || ', stored as ('
               'insert into brokerage.verdict (setup, run_id, task_id, decided_at, queues)'
               ' select $3, $4, $5, $6, array_agg(row(r.queue, case when r.failed is not null or r.place > r.best then ''r'' else ''c'' end::"char", case when r.place <= coalesce(r.best, r.place) then r.place end,'
               '        r.weight, r.factors, r.queued, r.capacity, r.chunk, coalesce(split_part(r.failed, E''\t'', 1), case when r.place > r.best then r.best_rule end),'
               '        coalesce(split_part(r.failed, E''\t'', 2), case when r.place > r.best then format(''number %s by weight, the best %s are taken'', r.place, r.best) end))::brokerage.queue_verdict)'
               '   from judged r having count(*) > 0)'
               ' select count(*), array_agg(r.queue order by r.place), array_agg(r.unified_name order by r.place), array_agg(r.weight order by r.place), array_agg(r.queued order by r.place),'
               '        array_agg(r.capacity order by r.place), array_agg(coalesce(r.chunk, 25) order by r.place)'
               '   from judged r where r.place <= coalesce(r.best, r.place)'
      into v_kept, v_names, v_unified, v_weights, v_queued, v_capacities, v_chunks
      using v_survivors, p_tasks[v_number], p_run.setup, p_run.run_id, v_task_id, p_run.started_at;
    insert into brokerage.task_decision (setup, run_id, task_id, decided_at, status, retry_at, candidates, rejected, not_candidates)
    values (p_run.setup, p_run.run_id, v_task_id, p_run.started_at, case when v_kept > 0 then 'candidates' else 'pending' end,
            case when v_kept > 0 then null else p_run.started_at + brokerage.wait_of(v_wait, v_priority) end,
            v_kept, v_rejected + coalesce(cardinality(v_survivors), 0) - v_kept, v_outside);
    if v_kept > 0 and p_run.algorithm = 'production_task' then
      v_sent_to := v_sent_to || brokerage.assign_nucleus(p_run, p_tasks[v_number], v_names, brokerage.probabilities(v_weights, v_first_of_zeros));
      v_sent := v_sent || p_tasks[v_number];
    elsif v_kept > 0 then
      v_given := brokerage.assign_task(p_run, v_task_id, v_names, v_weights, v_queued, v_capacities, v_chunks);
      v_live := v_live || coalesce((select jsonb_object_agg(g.unified, coalesce((v_live ->> g.unified)::bigint, 0) + g.jobs)
                                      from (select u.unified, sum(u.jobs)::bigint as jobs from unnest(v_unified, v_given) u(unified, jobs) where u.jobs > 0 group by u.unified) g), '{}'::jsonb);
    end if;
  end loop;
end $$;

comment on function brokerage.decide_in_turn(brokerage.run, brokerage.task_facts[], brokerage.queue_facts[], boolean) is
'Decides tasks of a run one after the other where weights see what the batch has assigned, stores the decisions and assigns the jobs, or the tasks. Errors: PB001, PB002 (a rule that does not fit).';
