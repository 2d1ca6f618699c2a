-- LEASES.md, Repeated requests: a match may be repeated after its lease has ended. If the clock was set back, two
-- matches with one request id may both be recent, or a newer call may have an answer; the newest answer stays.
create or replace function taskqueue.keep_leased_answers(p_leases taskqueue.lease[]) returns void
language plpgsql as $$
begin
  insert into taskqueue.request as r (setup, role_name, request_id, call, asked, answer, made_at)
  select distinct on (l.setup, l.role_name, l.request_id)
         l.setup, l.role_name, l.request_id, 'match_jobs', l.asked,
         taskqueue.answer_of_lease(l, d.requirements), l.matched_at
    from unnest(p_leases) l
    join taskqueue.definition d on d.setup = l.setup and d.definition_id = l.definition_id
   where l.request_id is not null and l.matched_at > resource.clock(l.setup) - interval '10 minutes'
   order by l.setup, l.role_name, l.request_id, l.matched_at desc
  on conflict (setup, role_name, request_id) do update
     set call = excluded.call, asked = excluded.asked, answer = excluded.answer, made_at = excluded.made_at
   where r.made_at < excluded.made_at;
end $$;

comment on function taskqueue.keep_leased_answers(taskqueue.lease[]) is
  'Keeps the answers of matches with a request id whose leases end, until ten minutes after the match.';
