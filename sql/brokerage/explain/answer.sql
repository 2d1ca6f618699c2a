-- `broker evaluate` prints this object. Queues that never entered the list have their unified names, as in the list
-- itself. Candidates of the task broker are nuclei, with their probabilities.
create or replace function brokerage.answer(p_setup text, p_run_id bigint, p_task_id bigint) returns jsonb
language sql stable as $$
  select case when t.status = 'error'
              then jsonb_build_object('error', jsonb_build_object('code', t.errcode, 'message', t.reason))
              else jsonb_build_object(
                     'status', t.status,
                     'candidates',
                     coalesce((select jsonb_agg(jsonb_build_object(k.kind, u.queue, 'rank', u.rank, 'weight', u.weight)
                                                  || case when k.kind = 'nucleus'
                                                          then jsonb_build_object('probability',
                                                                                  c.probabilities[u.rank])
                                                          else '{}' end order by u.rank)
                                 from (select array_agg(d.queue order by d.rank) as queues,
                                              array_agg(d.weight order by d.rank) as weights,
                                              brokerage.probabilities(
                                                array_agg(d.weight order by d.rank),
                                                brokerage.takes_first_of_zeros(
                                                  -- the profile may have been removed
                                                  array(select row(f.*)::brokerage.profile_rule
                                                          from brokerage.rule_in_force f
                                                         where f.profile = coalesce(x.profile, r.profile)),
                                                  r.algorithm)) as probabilities
                                         from brokerage.candidate_of_run d
                                        where d.setup = t.setup and d.run_id = t.run_id
                                          and d.task_id = t.task_id) c
                                cross join lateral unnest(c.queues, c.weights) with ordinality u(queue, weight, rank)),
                              '[]'),
                     'rejected',
                     coalesce((
                       select jsonb_agg(jsonb_build_object(k.kind, d.queue, 'rule', d.rule, 'criteria', w.criteria,
                                                           'reason', w.reason) order by d.queue collate "C")
                         from brokerage.decision d
                        cross join lateral brokerage.split_reason(d.reason) w
                        where d.setup = t.setup and d.run_id = t.run_id and d.task_id = t.task_id and d.verdict = 'r'),
                              '[]'),
                     'not_candidates',
                     coalesce((select jsonb_agg(jsonb_build_object(k.kind, n.queue, 'rule', n.rule, 'reason', n.reason)
                                                order by n.queue collate "C")
                                 from (select coalesce(q.unified_name, d.queue) as queue, min(d.rule) as rule,
                                              min(d.reason) as reason
                                         from brokerage.decision d
                                         left join resource.candidate_queue q on q.setup = d.setup and q.queue = d.queue
                                        where d.setup = t.setup and d.run_id = t.run_id and d.task_id = t.task_id
                                        group by coalesce(q.unified_name, d.queue) having bool_and(d.verdict = 'n')) n),
                              '[]'),
                     'explanation',
                     case when t.rule is not null then jsonb_build_object('rule', t.rule, 'reason', t.reason) end,
                     'retry_at', to_char(t.retry_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'))
         end
    from brokerage.task_decision t
    join brokerage.run r on r.setup = t.setup and r.run_id = t.run_id
    left join brokerage.trial x on x.setup = r.setup and x.trial = r.trial and t.arm = 'trial'
   cross join lateral (select case when r.algorithm = 'production_task' then 'nucleus' else 'queue' end) k(kind)
   where t.setup = p_setup and t.run_id = p_run_id and t.task_id = p_task_id
$$;

comment on function brokerage.answer(text, bigint, bigint) is
  'The decision of a run about a task as one JSON object: status, candidates, rejected, not_candidates, explanation, '
  'retry_at; or error. Null if the run did not decide about the task.';
