-- See production-load.md, work-shortage. The rule counts cores of running and starting jobs.
create or replace function brokerage.rule_work_shortage(
  t brokerage.task_facts, q brokerage.queue_facts, p brokerage.pair_facts
) returns text
language sql stable parallel safe as $$
  select case
    when t.work_shortage is not true or brokerage.is_only_site(t, q, p) then null
    when q.pledgedcpu = -1 then '-non_pledged: work is short, the queue is opportunistic'
    when q.pledgedcpu > 0 and q.core_running > q.pledgedcpu
    then format('-over_pledged: work is short, %s cores are in use, %s pledged', q.core_running, q.pledgedcpu)
  end
$$;

comment on function brokerage.rule_work_shortage(brokerage.task_facts, brokerage.queue_facts, brokerage.pair_facts) is
  'work-shortage: when work is short, only pledged cores get work (core:WORK_SHORTAGE).';
