-- HANDS.md, A void hand: which jobs of a hand are being taken now. To try a lock is the only way to know. The
-- subtransaction gives the locks back at once, so that nobody finds a job locked that is not being taken.
create or replace function taskqueue.locked_entries(p_setup text, p_job_ids bigint[], p_entry_ids bigint[])
returns bigint[]
language plpgsql as $$
declare
  v_free bigint[];
begin
  -- plan: locked jobs of a hand
  v_free := array(select j.entry_id from taskqueue.job j
                   where j.setup = p_setup and j.job_id = any (p_job_ids) and j.entry_id = any (p_entry_ids)
                     for update skip locked);
  if v_free <> '{}' then
    raise exception using errcode = 'UNDO0';
  end if;
  return p_entry_ids;
exception when sqlstate 'UNDO0' then
  return array(select e from unnest(p_entry_ids) e where e <> all (v_free));
end $$;

comment on function taskqueue.locked_entries(text, bigint[], bigint[]) is
  'Of some jobs, given by id and entry, the entries of those that have gone or that another transaction has locked.';
