-- The first level of rules rejects most pairs, which need no further test. The first filter has one row per task: the
-- numbers of the rejected queues with their reasons, ready to be stored, and the pairs that passed as records with the
-- facts that later rules read. The rest of the query sees only the pairs that passed. Columns of the relation filtered:
-- task_number; lost (the rejected queues), with their reasons ('rule<tab>reason', after ! if the queue never entered
-- the list) and marks (reasons of temporary rules that only mark); outside (how many never entered the list); passed.
create or replace function brokerage.compose_first_filter(
  p_pairs text, p_carried text, p_carried_as text, p_with_marks boolean, out filtered text, out passed text
)
language sql immutable parallel safe as $$
  select format('filtered as materialized (select x.task_number, '
                'array_agg(x.queue_number::int) filter (where x.failed_0 is not null) as lost, '
                'array_agg(x.failed_0) filter (where x.failed_0 is not null) as reasons, '
                '%s as marks, '
                'count(*) filter (where starts_with(x.failed_0, ''!'')) as outside, '
                'array_agg(row(x.queue_number, x.marked_0, %s)) filter (where x.failed_0 is null) as passed '
                'from %s group by x.task_number), ',
                case when p_with_marks then 'array_agg(x.marked_0) filter (where x.failed_0 is not null)'
                     else 'null::text[]' end,
                p_carried, p_pairs),
         format('(select s.task_number, l.* from filtered s cross join lateral unnest(s.passed) '
                'l(queue_number bigint, marked_0 text, %s)) x'
                ' join unnest($2) with ordinality t on t.ordinality = x.task_number'
                ' join unnest($3) with ordinality q on q.ordinality = x.queue_number', p_carried_as)
$$;

comment on function brokerage.compose_first_filter(text, text, text, boolean) is
  'SQL of the relation filtered over pairs with their first level of rules, and of the pairs that passed. p_carried, '
  'p_carried_as: the facts that these pairs keep, as columns and with types. p_with_marks: whether marks of rejected '
  'queues are read.';
