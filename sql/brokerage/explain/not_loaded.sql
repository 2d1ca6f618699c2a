-- worlds.md, Queues and storages. Rules take missing data as a fact: a queue without counts of pilots has no pilots.
-- People who load exports need to know which data are only missing, so the explanations name them beside the rule's
-- reason.
create or replace function brokerage.not_loaded(p_setup text, p_task_id bigint default null)
returns table (rule text, queue text, lack text)
language plpgsql stable security definer set search_path = brokerage, pg_temp as $$
begin
  perform resource.identify_viewer(p_setup);
  return query
  with place as materialized (
    select q.queue as name from resource.queue q where q.setup = p_setup
  ), counted as materialized (
    select a.queue as name from resource.queue_activity a
     where a.setup = p_setup and (a.getjob is not null or a.updatejob is not null)
    union
    select r.queue from resource.pilot_request r where r.setup = p_setup
  ), publishing as materialized (
    select s.queue as name from resource.software s where s.setup = p_setup
    union
    select t.queue from resource.software_tag t where t.setup = p_setup
  ), held (of_rule, what, option, is_some) as (
    select 'software', 'no software is', '--software', exists (select from publishing)
    union all
    select 'no-pilot', 'no counts of pilots are', '--pilots', exists (select from counted)
  )
  select h.of_rule, null::text, format('%s loaded for setup %s (broker load %s)', h.what, p_setup, h.option)
    from held h
   where not h.is_some and exists (select from place)
  union all
  select 'task-nucleus-list', null,
         format('no queue of setup %s is of role nucleus (broker load --cric-sites)', p_setup)
   where exists (select from place)
     and not exists (select from resource.queue q where q.setup = p_setup and q.role = 'nucleus')
  union all
  select h.of_rule, p.name, format('%s loaded for this queue (broker load %s)', h.what, h.option)
    from held h
   cross join place p
   where h.is_some
     and not exists (select from publishing s where s.name = p.name and h.of_rule = 'software')
     and not exists (select from counted c where c.name = p.name and h.of_rule = 'no-pilot')
  union all
  select 'no-pilot', a.queue, 'the counts of pilots of this queue are older than 3 h (broker load --pilots)'
    from resource.queue_activity a
   where a.setup = p_setup and a.pilots_at < resource.clock(p_setup) - interval '3 hours'
     and not exists (select from resource.pilot_count c where c.setup = p_setup and c.queue = a.queue)
  union all
  select distinct 'storage-space', s.queue,
         case when s.is_known then format('the space of %s is not loaded (broker load --rucio-usage)', s.storage)
              else format('%s is not loaded (broker load --cric-storages)', s.storage) end
    from resource.storage_of_queue s
   where s.setup = p_setup and s.direction = 'write_lan' and s.position = 1 and s.space_free is null
  union all
  select null, null, format('nucleus %s of the task is not loaded', t.nucleus)
    from workload.task t
   where t.setup = p_setup and t.task_id = p_task_id and t.nucleus <> ''
     and not exists (select from resource.nucleus n where n.setup = p_setup and n.nucleus = t.nucleus)
     and not exists (select from resource.queue q
                      where q.setup = p_setup and q.role = 'nucleus' and q.panda_site = t.nucleus)
  union all
  select null, null,
         case when s.dataset is null then format('input %s is not loaded (broker load --rucio-replicas)', d.dataset)
              else format('no replica of input %s is loaded (broker load --rucio-replicas)', d.dataset) end
    from workload.task_dataset d
    left join workload.dataset s on s.setup = d.setup and s.dataset = d.dataset
   where d.setup = p_setup and d.task_id = p_task_id and d.direction = 'input'
     and not coalesce(workload.is_pseudo(s), d.dataset in ('pseudo_dataset', 'seq_number'))
     and not exists (select from workload.replica r where r.setup = d.setup and r.dataset = d.dataset)
   order by 1 nulls first, 2 nulls first, 3;
end $$;

comment on function brokerage.not_loaded(text, bigint) is
  'Missing data of a setup that rules take as a fact: software, counts of pilots, nuclei, storages and their space, '
  'each with the rule that rejects because of it, for the whole setup (queue is null) or a queue. If a task is given, '
  'its nucleus and input are included (rule is null). Each row names the option of broker load. Errors: PB001, PB002 '
  '(setup not granted).';
