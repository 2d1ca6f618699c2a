-- HANDS.md, Taking a card: a hand is checked again after its cards were locked. A transaction that deals again after a
-- change finds the cards locked, or makes this check fail. The cards of a hand that has become void stay untaken.
create or replace function taskqueue.take_cards(p_setup text, p_streams taskqueue.stream[]) returns taskqueue.stream[]
language plpgsql as $$
declare
  v_taken taskqueue.stream[];
begin
  -- plan: the delete of the cards
  with gone as (
    delete from taskqueue.job j
     where j.setup = p_setup
       and j.ctid = any (array(
         select (s.card).address from unnest(p_streams) s
          where not exists (select from taskqueue.new_changes(p_setup, s.task_queue_id, (s.card).known_to,
                                                              (s.card).in_flight))
            and exists (select from taskqueue.hand h
                         where h.setup = p_setup and h.task_queue_id = s.task_queue_id
                           and h.begun_id is not distinct from (s.card).begun_id)))
    returning j.job_id
  )
  select array_agg(s order by s.number) into v_taken
    from gone g join unnest(p_streams) s on (s.card).job_id = g.job_id;
  return coalesce(v_taken, '{}');
end $$;

comment on function taskqueue.take_cards(text, taskqueue.stream[]) is
  'Takes the jobs of locked cards out of waiting; returns the streams that got their jobs.';
