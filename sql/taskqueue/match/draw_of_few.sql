-- DRAWING.md, Rare matches: the first TaskQueue in drawn order if few definitions match. These definitions were
-- compared with the description before, whatever its CPUTime, so only a key and the present limits are needed. With one
-- seed a TaskQueue has the same key in every call, so skipping it does not change the keys of the others. CPU buckets
-- are tried from the highest down until one has a TaskQueue. If candidates were already drawn in the first of them
-- (taskqueue.next_candidate), the keys there are drawn under the condition that they lie above the last key.
create or replace function taskqueue.draw_of_few(
  p_setup text, p_parsed taskqueue.parsed_description, p_cpu_time bigint, p_seed bigint, p_last_key float8 default 0,
  p_passed bigint[] default '{}'
) returns table (task_queue_id bigint, definition_id bigint, requirements jsonb, is_accepted boolean, demands int)
language plpgsql rows 1 as $$
declare
  v_limited boolean := coalesce((p_parsed.offer).reached <> '{}', false);
  v_new bigint[] := '{}'::bigint[];
begin
  -- plan: whether definitions are new
  if exists (select from taskqueue.definition n where n.setup = p_setup and n.made_in >= p_parsed.known_to)
     or p_parsed.in_flight <> '{}' and exists (
        select from taskqueue.definition n where n.setup = p_setup and n.made_in = any (p_parsed.in_flight)) then
    v_new := taskqueue.new_matching(p_setup, p_parsed);
  end if;
  if p_parsed.matches = 0 and v_new = '{}' then
    return;
  end if;
  -- plan: the first queue of few
  return query
    select c.task_queue_id, c.definition_id, d.requirements, true, d.demands
      from (select q.task_queue_id, q.definition_id
              from (select u::bigint as cpu_time from unnest(p_parsed.cpu_buckets) u
                     where u <= p_cpu_time order by u::bigint desc offset 0) b
             cross join lateral (
                    select (select m.definition_ids from taskqueue.known_match m
                             where m.known_id = p_parsed.known_id and m.cpu_time = b.cpu_time) || v_new as ids
                    offset 0) k
             cross join lateral (
                    select i.task_queue_id, i.definition_id
                      from (select t.task_queue_id, t.definition_id
                              from taskqueue.task_queue t
                             where t.setup = p_setup and t.definition_id = any (k.ids)
                               and t.cpu_time = b.cpu_time and t.is_open and t.task_queue_id <> all (p_passed)
                             order by taskqueue.draw_key(resource.draw(t.task_queue_id, p_seed), 1::float8 / t.siblings,
                                                         t.priority,
                                                         p_parsed.policy,
                                                         case when b.cpu_time = p_cpu_time then p_last_key else 0 end)
                             limit case when not v_limited then 1 end) i
                     where not v_limited or taskqueue.accepts_definition(p_setup, i.definition_id, p_parsed.offer)
                     limit 1) q
             order by b.cpu_time desc
             limit 1) c
      join taskqueue.definition d on d.setup = p_setup and d.definition_id = c.definition_id;
  if not found and p_parsed.matches > 0
     -- plan: whether what few match is kept
     and not exists (select from taskqueue.known_match m where m.known_id = p_parsed.known_id) then  -- forgotten
    return query select null::bigint, null::bigint, null::jsonb, false, null::int;
  end if;
end $$;

comment on function taskqueue.draw_of_few(text, taskqueue.parsed_description, bigint, bigint, float8, bigint[]) is
  'The first TaskQueue in drawn order in the highest CPU bucket, among the open TaskQueues of the definitions that '
  'match a description, up to a CPUTime (seconds) and without p_passed. No row means that there is none. A row without '
  'a TaskQueue means that the list of matching definitions was forgotten after the description was '
  'read, so the TaskQueue has to be drawn in another way.';
