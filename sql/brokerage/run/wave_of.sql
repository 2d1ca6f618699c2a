-- full-chain.md, full-chain-task: a full-chain task follows its parent, so it is decided after the parent has its
-- nucleus. Tasks whose parents form a circle are decided together.
create or replace function brokerage.wave_of(p_setup text, p_algorithm text, p_task_ids bigint[]) returns bigint[]
language plpgsql stable as $$
declare
  v_wave bigint[];
begin
  if p_algorithm <> 'production_task' then
    return p_task_ids;
  end if;
  v_wave := array(
    select u.task_id
      from unnest(p_task_ids) with ordinality u(task_id, number)
      join workload.task t on t.setup = p_setup and t.task_id = u.task_id
     where t.full_chain is null or t.parent is null or t.parent = t.task_id or t.parent <> all (p_task_ids)
     order by u.number);
  return case when cardinality(v_wave) = 0 then p_task_ids else v_wave end;
end $$;

comment on function brokerage.wave_of(text, text, bigint[]) is
  'The given tasks that are decided first: full-chain tasks come after their parents. For an algorithm without such an '
  'order, these are all tasks.';
