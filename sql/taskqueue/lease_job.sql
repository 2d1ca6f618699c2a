-- after: taskqueue.lease_drawn
-- Before a resource is told that nothing matches, queues that wait to be posted are.
create or replace function taskqueue.lease_job(p_setup text, p_known taskqueue.known_offer, p_seed bigint, p_role_name text) returns taskqueue.leased
language plpgsql
as $$
declare
  v_leased taskqueue.leased := taskqueue.lease_drawn(p_setup, p_known, p_seed, p_role_name);
begin
  if v_leased.job_id is null and taskqueue.post_pending(p_setup) then
    v_leased := taskqueue.lease_drawn(p_setup, p_known, p_seed # 32, p_role_name);
  end if;
  return v_leased;
end $$;

comment on function taskqueue.lease_job(text, taskqueue.known_offer, bigint, text) is
'Leases one job for an offer, by the law of section 5 under the seed given; null: nothing matches now.';
