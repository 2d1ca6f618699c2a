-- anal-loops without stored decisions: a task as the pass that decides about it sees it, found by the query that
-- decides.
create or replace function brokerage.explained_pass(
  p_setup text, p_profile text, p_algorithm text, p_tasks brokerage.task_facts[], p_queues brokerage.queue_facts[]
) returns brokerage.task_facts[]
language plpgsql stable as $$
declare
  v_query text := brokerage.compose_second_pass(p_profile, p_algorithm);
  v_task_id bigint;
  v_said text;
  v_again boolean;
begin
  if v_query is null then
    return p_tasks;
  end if;
  execute v_query into v_task_id, v_said using p_tasks;
  if v_said is null then
    return p_tasks;
  end if;
  execute brokerage.compose(p_profile, p_algorithm, false)
          || ' select count(*) filter (where j.failed is null) = 0 '
             'and count(*) filter (where not starts_with(j.failed, ''!'')) > 0 and ($5 = ''any'' '
             'or count(*) filter (where exists (select from unnest($6) r(begins) where starts_with(j.failed, '
             'r.begins))) = 0) from judged j'
     into v_again using p_setup, p_tasks, p_queues, brokerage.base_profile(p_profile), v_said,
                        brokerage.temporary_rules(p_profile, p_algorithm);
  return case when v_again then array(select brokerage.in_second_pass(f) from unnest(p_tasks) f) else p_tasks end;
end $$;

comment on function brokerage.explained_pass(text, text, text, brokerage.task_facts[], brokerage.queue_facts[]) is
  'Facts of a task, in the second pass if the first one leaves it no queue (one task). Errors: PB001, PB002 (a rule '
  'that does not fit).';
