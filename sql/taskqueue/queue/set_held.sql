-- LEASES.md, Holds: jobs, owners and TaskQueues are held and resumed independently of each other.
create or replace function taskqueue.set_held(p_setup text, p_kind text, p_name text, p_held boolean) returns bigint
language plpgsql as $$
declare
  v_changed bigint;
begin
  p_kind := case p_kind when 'queue' then 'task_queue' else p_kind end;  -- DIRAC's name of a TaskQueue
  perform resource.identify(p_setup);
  perform taskqueue.require_setup(p_setup);
  if p_kind is null or p_kind not in ('job', 'owner', 'task_queue') then
    raise exception 'invalid kind %', coalesce(quote_literal(left(p_kind, 100)), 'null')
      using errcode = 'PB001', hint = 'Kinds are job (its id), owner (OwnerDN) and task_queue (its id).';
  elsif p_name is null or p_name = ''
        or p_kind <> 'owner' and (p_name !~ '^[0-9]{1,19}$' or p_name::numeric > 9223372036854775807) then
    raise exception 'invalid name % of a %',
                    coalesce(quote_literal(left(p_name, 100)), 'null'),
                    case p_kind when 'task_queue' then 'TaskQueue' else p_kind end
      using errcode = 'PB001', hint = 'A job or TaskQueue is named by its id, an owner by OwnerDN.';
  end if;
  if p_kind = 'owner' then
    perform resource.require_short('owner', p_name);
    v_changed := taskqueue.set_owner_held(p_setup, p_name, p_held);
  else
    perform taskqueue.enter_setup(p_setup);
    v_changed := case p_kind when 'job' then taskqueue.set_job_held(p_setup, p_name::bigint, p_held)
                             else taskqueue.set_task_queue_held(p_setup, p_name::bigint, p_held) end;
  end if;
  if v_changed > 0 then
    perform resource.note_change(p_setup, case p_kind when 'task_queue' then 'TaskQueue' else p_kind end, p_name,
                                 jsonb_build_object('held', not p_held), jsonb_build_object('held', p_held));
  end if;
  return v_changed;
end $$;

comment on function taskqueue.set_held(text, text, text, boolean) is
  'Holds or resumes a job, an owner or a TaskQueue; returns how many jobs or TaskQueues changed. Holds are '
  'independent: resuming a TaskQueue does not resume its owner. Errors: PB001, PB002, PB004, PB005, PB006.';
