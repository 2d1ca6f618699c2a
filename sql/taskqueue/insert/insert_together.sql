-- MATCHING.md, Insertion: one job or many. Two calls with the same ids under different requirements can deadlock: the
-- one that PostgreSQL cancels starts again after a short random pause, so that the two do not meet again.
create or replace function taskqueue.insert_together(
  p_identity resource.identity, p_requirements jsonb[], p_numbers int[], p_job_ids bigint[], p_user_priorities int[],
  p_payloads jsonb[]
) returns bigint
language plpgsql as $$
declare
  v_placed record;
begin
  for v_try in 1..20 loop
    begin
      v_placed := taskqueue.place_batch(p_identity, p_requirements, p_numbers, p_job_ids, p_user_priorities);
      perform workload.set_payloads(p_identity.setup, p_job_ids, p_payloads);
      exit;
    exception when deadlock_detected then
      if v_try = 20 then
        raise exception 'other calls insert % at the same time',
          case cardinality(p_job_ids) when 1 then 'job ' || p_job_ids[1] else 'the same jobs' end
          using errcode = 'PB006', hint = 'Try again.';
      end if;
      perform pg_sleep(0.2 * random());
    end;
  end loop;
  perform taskqueue.open_task_queues(p_identity.setup, v_placed.made);
  return v_placed.task_queue_id;
end $$;

comment on function taskqueue.insert_together(resource.identity, jsonb[], int[], bigint[], int[], jsonb[]) is
  'Inserts jobs with their payloads; arguments as for taskqueue.place_batch. Returns the TaskQueue of the last job '
  'if all have the same requirements. Errors: PB002, PB005, naming the job; PB006 (other calls insert the same jobs '
  'all the time).';
