-- Section 9: a new queue has its own right priority when it becomes visible; the others of its entity follow (taskqueue.share_mark).
-- Once for all queues that a call made: what it costs goes with the queues of their owners, or of a JobSharing group.
create or replace function taskqueue.open_queues(p_setup text, p_task_queue_ids bigint[]) returns void
language plpgsql
as $$
declare
  v_group text;
  v_owners text[];
begin
  if p_task_queue_ids = '{}' then
    return;
  end if;
  for v_group, v_owners in
    select q.owner_group, case when coalesce(bool_or(g.job_sharing), false) then null else array_agg(distinct q.owner_dn) end
      from taskqueue.task_queue q left join taskqueue.owner_group g on g.setup = q.setup and g.owner_group = q.owner_group
     where q.setup = p_setup and q.task_queue_id = any (p_task_queue_ids)
     group by q.owner_group
  loop
    update taskqueue.task_queue q set priority = s.priority
      from taskqueue.share_of_queue(p_setup, v_group, v_owners) s
     where q.setup = p_setup and q.task_queue_id = s.task_queue_id and q.task_queue_id = any (p_task_queue_ids);
    insert into taskqueue.share_mark (setup, owner_group, marked_at) values (p_setup, v_group, resource.clock(p_setup));
  end loop;
  perform taskqueue.post_queues(p_setup, p_task_queue_ids, false);
end $$;

comment on function taskqueue.open_queues(text, bigint[]) is
'Gives queues that taskqueue.make_queue made in this transaction their priorities (section 9) and their postings.';
