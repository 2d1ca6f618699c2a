-- LEASES.md, Exactness of limits: before a job is taken, one free slot of every running limit at which its TaskQueue
-- counts is locked, and the clock of every delay is tested and locked. A slot or clock that another transaction has
-- locked makes the limit look reached until that transaction ends, so no call waits. Only matches lock these rows, and
-- a match that gives up leaves them locked until its end. The end of a job never waits for them, since a free slot and
-- the slot of a job are different rows. (When both were one row, a match locked a slot that had been taken since its
-- snapshot, and the end of that job waited.)
create or replace function taskqueue.lock_slots(
  p_setup text, p_requirements jsonb, p_offer taskqueue.offer, out taken boolean, out slots jsonb
)
language plpgsql as $$
declare
  v_now timestamptz := resource.clock(p_setup);
  v_limit taskqueue.site_limit;
  v_slots int[];
  v_owed int[];
  v_surplus bigint;
begin
  taken := true;
  slots := '[]';
  for v_limit in
    select l.* from taskqueue.site_limit l
     where l.setup = p_setup and l.site = p_offer.sites[1] and (l.grid_ce is null or l.grid_ce = any (p_offer.grid_ces))
       and taskqueue.requires_value(p_requirements, l.attribute, l.value)
     order by l.kind, l.limit_id
  loop
    if v_limit.kind = 'running' then
      -- After a limit was lowered, a match needs one free slot more than the surplus, and removes the surplus. (If each
      -- slot above the ceiling were removed when its job ends, the other slots would admit jobs while too many are
      -- still running.) The surplus is stored as rows, so that no two matches remove a slot for the same surplus row,
      -- which would leave the limit with too few slots.
      v_surplus := taskqueue.surplus_slots(p_setup, v_limit.limit_id);
      v_slots := array(select s.slot from taskqueue.limit_slot s
                        where s.setup = p_setup and s.limit_id = v_limit.limit_id and s.slot > 0
                        limit v_surplus + 1 for update skip locked);
      taken := cardinality(v_slots) > v_surplus;
      if taken and v_surplus > 0 then
        v_owed := array(select s.slot from taskqueue.limit_slot s
                         where s.setup = p_setup and s.limit_id = v_limit.limit_id and s.slot < 0
                           for update skip locked);
        taken := cardinality(v_owed) = v_surplus;
        if taken then
          delete from taskqueue.limit_slot s
           where s.setup = p_setup and s.limit_id = v_limit.limit_id and s.slot = any (v_owed || v_slots[2:]);
        end if;
      end if;
      slots := slots || jsonb_build_object('limit_id', v_limit.limit_id, 'slot', v_slots[1]);
    else
      select true into taken from taskqueue.site_limit l
       where l.setup = p_setup and l.limit_id = v_limit.limit_id
         and coalesce(l.next_at, v_now) <= v_now + (l.burst - 1) * l.delay
         for no key update skip locked;
      taken := found;
      slots := slots || jsonb_build_object('limit_id', v_limit.limit_id);
    end if;
    if not taken then
      return;
    end if;
  end loop;
end $$;

comment on function taskqueue.lock_slots(text, jsonb, taskqueue.offer) is
  'Locks the slots and clocks that the limits of the site require for a job with these requirements; taken is false if '
  'one of the limits is reached. taskqueue.use_slots assigns them to the job.';
