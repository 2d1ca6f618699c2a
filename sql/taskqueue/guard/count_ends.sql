-- GUARD.md, The score. Both sums have closed forms, so that one statement counts all ends in their order. Each end
-- multiplies the counts of its family by 0.999 before the end is added; the sum of a worker node is cut at 0. After a
-- round a score is at most twice the limit, so that a few good ends clear a worker node that was only watched.
create or replace function taskqueue.count_ends(
  p_setup text, p_ends taskqueue.counted_end[], p_limit float8, p_now timestamptz
) returns setof taskqueue.health
language sql
set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
  with numbered as materialized (
    select e.*, row_number() over (order by e.at, e.job_id, e.attempt) as n from unnest(p_ends) e
  ), ranked as materialized (
    select e.*, coalesce(f.ends, 0) as family_ends, coalesce(f.failures, 0) as family_failures,
           count(*) filter (where e.of_family) over (partition by e.family order by e.n) as ranks
      from numbered e
      left join lateral (select h.ends, h.failures from taskqueue.health h
                          where h.setup = p_setup and h.kind = 'family' and h.site = '' and h.name = e.family
                         offset 0) f on true
  ), weighted as (
    select r.*, case when r.of_family then power(0.999::float8, -r.ranks) else 0 end as weight from ranked r
  ), summed as materialized (
    -- without the end itself, which counts from the next end on
    select w.*, sum(w.weight) over o - w.weight as ends_before,
           sum(case when w.failed then w.weight else 0 end) over o - case when w.failed then w.weight else 0 end
             as failures_before,
           power(0.999::float8, w.ranks - w.of_family::int) as decay
      from weighted w
    window o as (partition by w.family order by w.n)
  ), family as (
    insert into taskqueue.health as h (setup, kind, site, name, ends, failures, changed_at)
    select distinct on (s.family) p_setup, 'family', '', s.family,
           power(0.999::float8, s.ranks) * (s.family_ends + s.ends_before + s.weight),
           power(0.999::float8, s.ranks) * (s.family_failures + s.failures_before
                                            + case when s.failed then s.weight else 0 end), p_now
      from summed s
     where s.ranks > 0
     order by s.family, s.n desc
    on conflict (setup, kind, site, name) do update
       set ends = excluded.ends, failures = excluded.failures, changed_at = excluded.changed_at
  ), expected as materialized (
    select s.*, o.score as host_score, o.ends as host_ends, o.failures as host_failures, o.usual as host_usual,
           o.failing_since as host_since,
           least(0.8, greatest(0.02, (1 + s.decay * (s.family_failures + s.failures_before))
                                     / (30 + s.decay * (s.family_ends + s.ends_before)))) as p
      from summed s
      left join lateral (select h.score, h.ends, h.failures, h.usual, h.failing_since from taskqueue.health h
                          where h.setup = p_setup and h.kind = 'host' and h.site = s.site and h.name = s.host
                         offset 0) o on true
     where s.host is not null
  ), walked as materialized (
    select e.*, coalesce(e.host_score, 0)
                + sum(case when e.failed then ln(0.95 / e.p) else ln(0.05 / (1 - e.p)) end)
                  over (partition by e.site, e.host order by e.n) as walk
      from expected e
  ), scored as materialized (
    select w.*, w.walk - least(0, min(w.walk) over (partition by w.site, w.host order by w.n)) as score from walked w
  ), parted as materialized (
    select s.*, count(*) filter (where s.score = 0) over (partition by s.site, s.host order by s.n) as part
      from scored s
  ), told as materialized (
    select row(p_setup, 'host', p.site, p.host, p.score,
               count(*) filter (where p.score > 0) over w
               + case when p.part = 0 then coalesce(p.host_ends, 0) else 0 end,
               count(*) filter (where p.failed) over w
               + case when p.part = 0 then coalesce(p.host_failures, 0) else 0 end,
               coalesce(sum(p.p) filter (where p.score > 0) over w, 0)
               + case when p.part = 0 then coalesce(p.host_usual, 0) else 0 end, p_now,
               least(min(p.matched_at) filter (where p.failed and p.score > 0) over w,
                     case when p.part = 0 then p.host_since end))::taskqueue.health as health,
           p.site, p.host, p.n, p.score
      from parted p
    window w as (partition by p.site, p.host, p.part order by p.n)
  ), host as (
    insert into taskqueue.health as h
    select c.setup, c.kind, c.site, c.name, least(c.score, 2 * p_limit), c.ends, c.failures, c.usual, c.changed_at,
           c.failing_since
      from (select distinct on (o.site, o.host) o.health from told o order by o.site, o.host, o.n desc) t
     cross join lateral (select (t.health).*) c
    on conflict (setup, kind, site, name) do update
       set score = excluded.score, ends = excluded.ends, failures = excluded.failures, usual = excluded.usual,
           changed_at = excluded.changed_at, failing_since = excluded.failing_since
  )
  select (t.health).*
    from (select distinct on (o.site, o.host) o.health from told o where o.score > p_limit
           order by o.site, o.host, o.n desc) t
$$;

comment on function taskqueue.count_ends(text, taskqueue.counted_end[], float8, timestamptz) is
  'Counts ends in their order in taskqueue.health. Returns each worker node whose score was above p_limit after one of '
  'the ends, with its row after the last such end.';
