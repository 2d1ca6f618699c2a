-- The function looks up each step by its key, whatever the planner estimates: a subquery that locks is not merged into
-- a join.
create or replace function instance.locked_steps(p_setup text, p_step_ids bigint[]) returns setof instance.step
language sql set jit = off set enable_seqscan = off set enable_material = off as $$
  select s.*
    from (select distinct u.step_id from unnest(p_step_ids) u (step_id) order by u.step_id) u
   cross join lateral (select o.* from instance.step o where o.setup = p_setup and o.step_id = u.step_id for update) s
$$;

comment on function instance.locked_steps(text, bigint[]) is
  'Locks steps in the order of their ids and returns them; ids without a step are left out.';
