-- The terms of a weight (brokerage.compose_terms) are summed when the remaining pairs are known. Rules behind such a
-- weight are applied after it, over the remaining pairs with their facts, so all of them read the final weight.
create or replace function brokerage.compose_after_weights(c brokerage.composition, p_part text)
returns brokerage.composition
language plpgsql stable as $$
begin
  if c.weight is null then
    return c;
  end if;
  if c.factors <> c.plain and p_part <> 'ranking' then
    c.done := brokerage.filled(
      $q${stage} as materialized (
           select x.task_number, x.queue_number, x.task_id, x.queue, x.unified_name, {asked},
                  case when {alive} then {pair} end as p
             from {pairs}), $q$,
      jsonb_build_object('stage', c.stage, 'asked', array_to_string(c.asked, ', '),
                         'alive', brokerage.compose_alive(c.alone), 'pair', c.pair, 'pairs', c.pairs)) || c.steps;
    c.asked := array(select a.name from unnest(c.failed || c.failures) a(name) where starts_with(a.name, 'x.'));
    c.pairs := replace((c.facts).again, '@pairs@', brokerage.filled(
      $q$select x.task_number, x.queue_number, x.task_id, x.queue, x.unified_name, {asked},
                case when x.factors is not null then array[{factors}]::float8[] end as factors, x.p
           from {relation} x$q$,
      jsonb_build_object('asked', array_to_string(c.asked, ', '), 'factors', array_to_string(c.factors, ', '),
                         'relation', c.relation)));
    c.asked := c.asked || 'x.factors'::text;
    c.alone := c.failed;
    c.unmarked := null;
    c.factors := c.plain;
    c.stage := 'weighed';
    c.relation := 'weighed';
    c.steps := '';
  end if;
  c.pair := replace((c.facts).weighed_pair, '@weight@', c.weight);
  return c;
end $$;

comment on function brokerage.compose_after_weights(brokerage.composition, text) is
  'The query after its weights, before a step of the part p_part; from here on, rules read the weight.';
