-- task-weights.md, Remaining work: in documented all work counts, else that of the share from the priority upward.
create or replace function brokerage.facts_of_work(
  p_setup text, p_tasks brokerage.task_facts[], p_keys brokerage.nucleus_key[], p_nuclei brokerage.queue_facts[],
  p_base_profile text
) returns setof brokerage.work_facts
language sql stable as $$
  select r.number * cardinality(p_nuclei) + n.number, sum(w.work)
    from brokerage.work_at_nucleus w
    join (select f.ordinality as number, f.queue as nucleus from unnest(p_nuclei) with ordinality f) n
      on n.nucleus = w.nucleus
    join (select distinct k.rung as number, t.gshare, t.current_priority
            from unnest(p_tasks) with ordinality t
            join unnest(p_keys) with ordinality k on k.ordinality = t.ordinality) r
      on case when p_base_profile = 'documented' then w.gshare = ''
              else r.gshare = w.gshare and r.current_priority <= w.priority end
   where w.setup = p_setup
   group by r.number * cardinality(p_nuclei) + n.number
$$;

comment on function brokerage.facts_of_work(
  text, brokerage.task_facts[], brokerage.nucleus_key[], brokerage.queue_facts[], text) is
  'Work left at nuclei (HS06 s) that tasks of a share with at least a given priority see, one row for each share with '
  'priority and nucleus that has work.';
