create or replace function brokerage.compose_pairs(c brokerage.composition, p_step brokerage.plan_step[])
returns brokerage.composition
language plpgsql stable as $$
declare
  v_failed text := format('x.failed_%s', p_step[1].level);
  v_marked text := format('x.marked_%s', p_step[1].level);
  v_failures text := format('x.failures_%s', p_step[1].level);
begin
  c.pairs := brokerage.compose_chain(c.begins, c.beside, c.pairs || brokerage.compose_joined(c),
                                     brokerage.compose_alive(c.alone), p_step, c.all_failures);
  c.beside := '';
  if c.filters_first and p_step[1].step = 1 then
    select s.filtered, s.passed into c.filtered, c.pairs
      from brokerage.compose_first_filter(c.pairs, (c.facts).carried, (c.facts).carried_as, c.keeps_marks) s;
    c.marked := array[v_marked];
    c.marks_made := c.marked;
    c.asked := c.marked;
    return c;
  end if;
  c.begins := 'x.*';
  c.alone := c.alone || v_failed;
  c.failed := c.failed || v_failed;
  c.marked := v_marked || c.marked;
  c.marks_made := v_marked || c.marks_made;
  c.asked := c.asked || array[v_failed, v_marked];
  if c.all_failures then
    c.failures := c.failures || v_failures;
    c.asked := c.asked || v_failures;
  end if;
  return c;
end $$;

comment on function brokerage.compose_pairs(brokerage.composition, brokerage.plan_step[]) is
  'A query with one more level of rules that look at a pair by itself.';
