-- GUARD.md, Matches. A description that another transaction has locked is marked by the next call.
create or replace function taskqueue.mark_guarded(p_setup text) returns bigint
language plpgsql security definer set search_path = taskqueue, pg_temp as $$
declare
  v_sites text[];
  v_marked bigint;
begin
  perform resource.require_primary();
  perform resource.identify(p_setup);
  v_sites := array(select distinct q.site from taskqueue.quarantine q where q.setup = p_setup and q.locks);
  if v_sites = '{}' and not exists (
       select from taskqueue.parsed_description k where k.setup = p_setup and k.guarded) then
    return 0;
  end if;
  update taskqueue.parsed_description k
     set guarded = not k.guarded
   where k.ctid = any (array(
     select i.ctid from taskqueue.parsed_description i
      where i.setup = p_setup and i.guarded <> (taskqueue.guard_sites(i.offer) && v_sites)
        for update skip locked));
  get diagnostics v_marked = row_count;
  return v_marked;
end $$;

comment on function taskqueue.mark_guarded(text) is
  'Marks the known resource descriptions of sites that have a quarantine, and clears the mark of all others; returns '
  'how many changed. The loop guard calls this function after each round. Errors: PB002 (setup not granted).';
