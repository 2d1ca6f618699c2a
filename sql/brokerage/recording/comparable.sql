-- A decision and its replay are compared in this form, since the order of stored rows has no meaning.
create or replace function brokerage.comparable(
  p_queues brokerage.queue_verdict[], p_lost int[], p_reasons text[], out candidates text[],
  out verdicts brokerage.queue_verdict[], out lost text[]
)
language sql stable as $$
  select array(select q.queue from unnest(p_queues) q where q.verdict = 'c' order by q.rank),
         array(select q from unnest(p_queues) q order by q.queue collate "C"),
         array(select (l.number, l.reason)::text from unnest(p_lost, p_reasons) l(number, reason) order by l.number)
$$;

comment on function brokerage.comparable(brokerage.queue_verdict[], int[], text[]) is
  'The candidates of a task by rank, the verdicts by queue, and the lost queues with their reasons by place.';
