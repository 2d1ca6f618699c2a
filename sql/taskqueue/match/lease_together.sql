-- DRAWING.md, Guarantees of the draw: jobs for streams are leased in steps over sets. The distribution is the same as
-- for one stream after the other: the draw of a TaskQueue does not depend on the number of its jobs, so all streams
-- draw a TaskQueue first (taskqueue.draw_together), and those that drew the same one take its cards in their order
-- (taskqueue.take_together). The first stream that gets no job, or whose TaskQueue counts at a limit, depends
-- on the jobs that the streams before it left. It takes and draws alone (taskqueue.take_alone, taskqueue.draw_on), and
-- the streams behind it then continue together.
create or replace function taskqueue.lease_together(
  p_setup text, p_parsed taskqueue.parsed_description[], p_streams taskqueue.stream[], p_askers taskqueue.asker[],
  p_may_wait boolean default pg_current_xact_id_if_assigned() is null  -- a transaction without an id locked no row yet
) returns taskqueue.stream[]
language plpgsql as $$
declare
  v_alone boolean := cardinality(p_streams) = 1;
  v_left taskqueue.stream[] := p_streams;
  v_first taskqueue.stream;
  v_parsed taskqueue.parsed_description;
  v_drawn record;
  v_taken taskqueue.stream[];
  v_leased taskqueue.stream[] := '{}'::taskqueue.stream[];
  v_is_named boolean := p_askers[1].hosts is not null;  -- whether a caller names its host
  v_now timestamptz;  -- null if none does
  v_begun_again int;  -- number of a stream that drew once more, when more TaskQueues had been posted
begin
  if not v_is_named and cardinality(p_askers) > 1 then
    v_is_named := exists (select from unnest(p_askers) a where a.hosts is not null);
  end if;
  if v_is_named then
    v_now := resource.clock(p_setup);
  end if;
  if not v_alone then
    v_left := taskqueue.draw_together(
                p_setup, p_parsed, array(select s from unnest(p_streams) s where not s.goes_alone))
              || array(select s from unnest(p_streams) s where s.goes_alone);
  end if;
  while v_left <> '{}' loop
    v_first := v_left[1];
    v_parsed := p_parsed[v_first.request];
    if v_alone then
      v_taken := taskqueue.take_alone(p_setup, v_parsed, v_first, p_may_wait, p_askers[v_first.request].hosts,
                                      v_now);
    else
      v_taken := taskqueue.take_together(p_setup, v_parsed, array(
        select s from unnest(v_left) s
         where s.number < coalesce((select min(o.number) from unnest(v_left) o
                                     where o.task_queue_id is null or o.goes_alone), 2147483647)), p_askers, v_now);
    end if;
    if v_taken <> '{}' then
      perform taskqueue.lease_cards(p_setup, p_parsed, v_taken, p_askers);
      v_leased := v_leased || v_taken;
      exit when cardinality(v_leased) = cardinality(p_streams);
      v_left := case when v_alone then v_left[2:]
                     else array(select s from unnest(v_left) s
                                 where s.number <> all (array(select t.number from unnest(v_taken) t))) end;
    end if;
    if v_taken <> '{}' or not v_alone then
      v_alone := not v_alone;
      p_may_wait := p_may_wait and pg_current_xact_id_if_assigned() is null;
      continue;
    end if;
    v_drawn := taskqueue.draw_on(p_setup, v_parsed, v_first);
    v_parsed := v_drawn.p_parsed;
    v_first := v_drawn.p_stream;
    if v_first.task_queue_id is not null then
      v_left[1] := v_first;
    elsif v_parsed.matches is null and v_first.number is distinct from v_begun_again
          and taskqueue.post_pending(p_setup) then
      v_begun_again := v_first.number;
      v_left[1] := taskqueue.new_stream(
        v_first.number, v_first.request, v_first.token, v_first.seed # 1,
        width_bucket((v_parsed.offer).cpu_time, v_parsed.cpu_buckets), p_is_seeded => v_first.is_seeded,
        p_goes_alone => v_first.goes_alone, p_is_listed => v_first.is_listed);
    else  -- every matching TaskQueue was tried, so the other streams of the request get no job either
      if v_parsed.matched_at is null and v_first.is_listed then
        v_parsed := taskqueue.find_matching(p_setup, v_parsed);
      end if;
      v_left := array(select s from unnest(v_left) s where s.request <> v_first.request);
    end if;
    p_parsed[v_first.request] := v_parsed;
  end loop;
  return v_leased;
end $$;

comment on function taskqueue.lease_together(
  text, taskqueue.parsed_description[], taskqueue.stream[], taskqueue.asker[], boolean) is
  'Leases a job for each stream, and returns the streams that got one, with their jobs. p_parsed and p_askers: the '
  'descriptions and the callers by number of request. p_may_wait: as for taskqueue.renew_hand.';
