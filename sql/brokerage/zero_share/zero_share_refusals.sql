-- zero-share.md, zero-share: texts are compared once for each policy and distinct process group, working group and
-- share. The priority then decides which sub-policy applies first.
create or replace function brokerage.zero_share_refusals(p_setup text, p_task_ids bigint[], p_base_profile text)
returns table (share_key text, queue text, refusal text)
language sql stable rows 1000 as $$
  with policy as materialized (
    select p.*, row_number() over () as number
      from (select q.fairsharepolicy, array_agg(q.queue) from resource.queue q
             where q.setup = p_setup and q.fairsharepolicy <> ''
             group by q.fairsharepolicy) p(policy, queues)
  ), class as materialized (
    select t.*, row_number() over () as number,
           dense_rank() over (order by t.process_group, t.working_group, t.gshare) as kind
      from (select distinct brokerage.share_key(t) as share_key,
                   brokerage.process_group(t.processing_type) as process_group,
                   coalesce(t.working_group, '') as working_group,
                   t.gshare, t.current_priority, coalesce(t.is_merging, false) as is_merging
              from workload.task t
             where t.setup = p_setup and t.task_id = any (p_task_ids) and exists (select from policy)) t
     where t.process_group <> 'test'
  ), part as materialized (
    select p.number as policy, r.*, sum(r.amount) over (partition by p.number) as total
      from policy p
     cross join lateral brokerage.read_policy(p.policy, p_base_profile) r
  ), fitting as materialized (
    select k.kind, p.policy, p.number, p.operator, p.priority
      from part p
     cross join (select distinct c.kind, c.process_group, c.working_group, c.gshare from class c) k
     where (p.type is null or brokerage.fits(k.process_group, p.type))
       and (p.working_group is null or brokerage.fits(k.working_group, p.working_group))
       and (p.gshare is null or k.gshare is null or brokerage.fits(k.gshare, p.gshare))
  ), first as materialized (
    select c.number as class, f.policy, min(f.number) as number
      from class c
      join fitting f on f.kind = c.kind
     where f.operator is null or c.is_merging or brokerage.compares(c.current_priority, f.operator, f.priority)
     group by c.number, f.policy
  ), refused as materialized (
    select f.class, f.policy, p.sub_policy as refusal from first f
      join part p on p.policy = f.policy and p.number = f.number
     where p.share in ('0', '0%')
    union all
    select u.class, u.policy, format('%s, which leaves nothing to others', p.policy)
      from (select c.number as class, t.policy
              from class c cross join (select distinct t.policy from part t where t.total >= 100) t
             where p_base_profile = 'documented'
            except
            select f.class, f.policy from first f) u
      join policy p on p.number = u.policy
  )
  select c.share_key, q.queue, r.refusal
    from refused r
    join class c on c.number = r.class
    join policy p on p.number = r.policy
   cross join unnest(p.queues) q(queue)
$$;

comment on function brokerage.zero_share_refusals(text, bigint[], text) is
  'Queues whose fairsharepolicy gives tasks no share: one row for each distinct class of the tasks '
  '(brokerage.share_key) and queue, with the sub-policy that'
  ' refuses. Pilot tests are never refused. Base profile documented or panda2026.';
