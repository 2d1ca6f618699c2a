-- DRAWING.md, Next candidate: the posting lists of two sites in the highest CPU bucket in which one of them has any
-- position, as one list: the bounds of the second one follow those of the first. Inlined by the planner.
create or replace function taskqueue.highest_lists(p_setup text, p_site_1 text, p_site_2 text, p_cpu_time bigint)
returns table (
  list_bucket bigint, bound float8, bound_1 float8, highest float8, list_1 bigint, cumulative_1 float8[],
  upper_1 float8[], classes_1 int[], list_2 bigint, cumulative_2 float8[], upper_2 float8[], classes_2 int[]
)
language sql stable rows 1 as $$
  select greatest(a.cpu_time, b.cpu_time),
         case when a.cpu_time < b.cpu_time then 0 else coalesce(a.total_bound, 0) end
         + case when b.cpu_time < a.cpu_time then 0 else coalesce(b.total_bound, 0) end,
         case when a.cpu_time < b.cpu_time then 0 else coalesce(a.total_bound, 0) end,
         greatest(case when a.cpu_time < b.cpu_time then null else a.highest_bound end,
                  case when b.cpu_time < a.cpu_time then null else b.highest_bound end),
         a.list_id, a.cumulative_bounds, a.upper_bounds, a.weight_classes,
         b.list_id, b.cumulative_bounds, b.upper_bounds, b.weight_classes
    from (select) one
    left join lateral (select l.* from taskqueue.posting_list l
                        where l.setup = p_setup and l.site = p_site_1 and l.cpu_time <= p_cpu_time
                          and l.position_count > 0
                        order by l.cpu_time desc limit 1) a on true
    left join lateral (select l.* from taskqueue.posting_list l
                        where l.setup = p_setup and l.site = p_site_2 and l.cpu_time <= p_cpu_time
                          and l.position_count > 0
                        order by l.cpu_time desc limit 1) b on true
$$;

comment on function taskqueue.highest_lists(text, text, text, bigint) is
  'The posting lists of two sites in the highest CPU bucket, up to p_cpu_time seconds, that has any: bucket, sums of '
  'the upper bounds of both and of the first, highest upper bound; of each list its id, running sums, upper bounds and '
  'weight classes.';
