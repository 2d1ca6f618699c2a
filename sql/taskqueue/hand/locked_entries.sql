-- HANDS.md, A void hand: finds the jobs of a hand that are being taken now. Trying to lock them is the only way. The
-- subtransaction releases the locks at once, so that no other match takes them for those of a match.
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
  'The entries of the given jobs (by id and entry) that have gone or that another transaction has locked.';
