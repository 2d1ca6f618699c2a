-- Marked queues are removed before the weights. A weight that looks at the terms of the other candidates has a relation
-- with their sums (brokerage.compose_terms), and counts as 1 among the factors of a pair by itself.
create or replace function brokerage.compose_weights(c brokerage.composition, p_step brokerage.plan_step[])
returns brokerage.composition
language plpgsql stable as $$
declare
  v_left text[] := c.failed;  -- the reason why a pair is rejected before the weights, marks excepted
  v_weights text[] := '{}'::text[];  -- factors of a pair by itself
  v_terms int := 0;
  v_summed text[];
begin
  c.unmarked := c.alone;
  c.alone := c.alone || c.marked;
  c.failed := c.failed || c.marked;
  c.marked := '{}';
  for n in 1 .. cardinality(p_step) loop
    if brokerage.weighs_terms(p_step[n].definition) then
      v_terms := v_terms + 1;
      v_summed := brokerage.compose_terms(p_step[n].definition, v_terms, c.relation, array_to_string(v_left, ', '));
      c.beside := c.beside || format(', case when %s then %s end as terms_%s', brokerage.compose_alive(c.unmarked),
                                     p_step[n].call, v_terms);
      c.asked := c.asked || format('x.terms_%s', v_terms);
      c.steps := c.steps || v_summed[1];
      c.relation := format('added_%s', v_terms);
      v_weights := v_weights || '1::float8'::text;
      c.factors := c.factors || v_summed[2];
    else
      v_weights := v_weights || p_step[n].call;
      c.factors := c.factors || brokerage.compose_factor(p_step[n].definition, n, c.ignored);
    end if;
  end loop;
  c.pairs := brokerage.filled(
    $q$(select {begins}{beside}, case when {alive} then array[{weights}]::float8[] end as factors
          from {pairs}{joined} offset 0) x$q$,
    jsonb_build_object('begins', c.begins, 'beside', c.beside, 'alive', brokerage.compose_alive(c.alone),
                       'weights', array_to_string(v_weights, ', '), 'pairs', c.pairs,
                       'joined', brokerage.compose_joined(c)));
  c.begins := 'x.*';
  c.beside := '';
  c.plain := array(select format('x.factors[%s]', n) from generate_subscripts(v_weights, 1) n order by n);
  c.weight := array_to_string(c.plain, ' * ');
  c.changed := case when v_terms > 0 then 'true'
                    else (select string_agg(i.value, ' or ') from jsonb_each_text(c.ignored) i) end;
  c.asked := c.asked || 'x.factors'::text;
  return c;
end $$;

comment on function brokerage.compose_weights(brokerage.composition, brokerage.plan_step[]) is
  'Adds the weights of a profile to a query. Errors: PB001 (a rule that does not fit).';
