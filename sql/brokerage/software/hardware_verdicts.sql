-- There are few distinct dictionaries of hardware and few distinct requirements, so each pair of these is compared
-- once.
create or replace function brokerage.hardware_verdicts(p_setup text, p_requirements jsonb[], p_base_profile text)
returns table (requirement jsonb, queue text, problem text)
language sql stable rows 1000 as $$
  with software as materialized (
    select s.queue, coalesce(s.architectures, '[]') as architectures from resource.software s where s.setup = p_setup
  ), published as materialized (
    select a.architectures, h.hardware, dense_rank() over (order by h.hardware) as number
      from (select distinct s.architectures from software s) a
     cross join lateral (select brokerage.published_hardware(a.architectures) offset 0) h(hardware)
  ), verdict as materialized (
    select r.requirement, h.number, brokerage.hardware_problem(r.requirement, h.hardware, p_base_profile) as problem
      from (select distinct u.requirement from unnest(p_requirements) u(requirement)) r
     cross join (select distinct on (p.number) p.number, p.hardware from published p) h
  ), judged as materialized (
    select v.requirement, s.queue,
           case when v.problem is null and p_base_profile <> 'documented'
                     and jsonb_typeof(v.requirement -> 'gpu') = 'object'
                then brokerage.gpu_problem(p_setup, s.queue, v.requirement -> 'gpu') else v.problem end as problem
      from verdict v
      join published p on p.number = v.number
      join software s on s.architectures = p.architectures
  )
  select j.requirement, j.queue, j.problem from judged j where j.problem is not null
$$;

comment on function brokerage.hardware_verdicts(text, jsonb[], text) is
  'Requirements {cpu, gpu} and the queues whose published hardware does not meet them, with the reason. Base profile '
  'documented or panda2026.';
