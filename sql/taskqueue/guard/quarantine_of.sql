-- GUARD.md, Matches: one look-up in the primary key. A request for one job by its id is not refused.
create or replace function taskqueue.quarantine_of(p_setup text, p_offer taskqueue.offer, p_host text)
returns setof taskqueue.quarantine
language sql stable rows 1 as $$
  select q.*
    from taskqueue.quarantine q
   where q.setup = p_setup and q.site = any (taskqueue.guard_sites(p_offer))
     and q.name = any (array_append(taskqueue.guard_sites(p_offer) || coalesce(p_offer.grid_ces, '{}'), p_host))
     and q.locks and p_offer.job_id is null
     and case q.kind when 'host' then q.name = p_host when 'ce' then q.name = any (p_offer.grid_ces) else true end
$$;

comment on function taskqueue.quarantine_of(text, taskqueue.offer, text) is
  'The quarantines that refuse a request with this offer from this worker node: quarantines of the worker node, its '
  'CEs or its sites.';
