-- Section 8: jobs, owners and queues can be held and let go again.
create or replace function taskqueue.set_held(p_setup text, p_kind text, p_name text, p_held boolean) returns bigint
language plpgsql
as $$
declare
  v_id bigint;
  v_count bigint := 0;
begin
  perform resource.identify(p_setup);
  perform taskqueue.require_setup(p_setup);
  perform taskqueue.enter(p_setup);
  if p_kind is null or p_kind not in ('job', 'owner', 'queue') then
    raise exception 'kind is %, which is not job, owner or queue', coalesce(quote_literal(p_kind), 'null')
      using errcode = 'PB001', hint = 'Hold a job by its id, an owner by OwnerDN, a queue by its id.';
  elsif p_name is null or p_name = '' or p_kind <> 'owner' and p_name !~ '^[0-9]{1,18}$' then
    raise exception 'name of the % is %', p_kind, coalesce(quote_literal(p_name), 'null')
      using errcode = 'PB001', hint = 'A job or queue is named by its id, an owner by OwnerDN.';
  end if;
  if p_kind = 'job' then
    return taskqueue.set_job_held(p_setup, p_name::bigint, p_held);
  elsif p_kind = 'owner' then
    if p_held then
      insert into taskqueue.held_owner (setup, owner_dn, held_at) values (p_setup, p_name, resource.clock(p_setup)) on conflict do nothing;
    else
      delete from taskqueue.held_owner h where h.setup = p_setup and h.owner_dn = p_name;
    end if;
  end if;
  if p_kind = 'queue' then
    perform taskqueue.lock_queue(p_setup, p_name::bigint);
  end if;
  for v_id in
    select q.task_queue_id from taskqueue.task_queue q
     where q.setup = p_setup and q.held is distinct from p_held
       and case p_kind when 'owner' then q.owner_dn = p_name else q.task_queue_id = p_name::bigint end
     order by q.task_queue_id for update
  loop
    update taskqueue.task_queue q set held = p_held where q.setup = p_setup and q.task_queue_id = v_id;
    perform taskqueue.post_queue(p_setup, v_id);
    v_count := v_count + 1;
  end loop;
  return v_count;
end $$;

comment on function taskqueue.set_held(text, text, text, boolean) is
'Holds or lets go a job, an owner or a queue; returns how many jobs or queues changed. Letting an owner go lets go all its queues. Errors: PB001, PB002, PB004, PB005.';
