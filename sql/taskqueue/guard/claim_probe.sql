-- GUARD.md, Probes. The claim is the lock of the row, so a call that gets no job has nothing to undo
-- (taskqueue.note_probe).
create or replace function taskqueue.claim_probe(
  p_parsed taskqueue.parsed_description, p_host text, p_claimed taskqueue.quarantine[] default '{}',
  out is_refused boolean, out probe taskqueue.quarantine
)
language plpgsql as $$
declare
  v_found taskqueue.quarantine[] := array(
    select q from taskqueue.quarantine_of(p_parsed.setup, p_parsed.offer, p_host) q);
begin
  is_refused := v_found <> '{}';
  if cardinality(v_found) = 1 and v_found[1].next_probe_at <= resource.clock(p_parsed.setup)
     and not exists (select from unnest(p_claimed) c where (c.site, c.name) = (v_found[1].site, v_found[1].name)) then
    select q.* into probe
      from taskqueue.quarantine q
     where q.setup = p_parsed.setup and q.site = v_found[1].site and q.name = v_found[1].name and q.kind = 'host'
       and q.locks and q.next_probe_at <= resource.clock(p_parsed.setup)
       for update skip locked;
    is_refused := not found;
  end if;
end $$;

comment on function taskqueue.claim_probe(taskqueue.parsed_description, text, taskqueue.quarantine[]) is
  'Whether a quarantine refuses a request. If a probe is due, the request that claims the probe may get one job, and '
  'probe is the quarantine; other requests are refused. p_claimed: quarantines whose probe the call has claimed.';
