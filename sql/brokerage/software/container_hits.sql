-- software-check.md, Container: in documented, a queue's own tags count only with onlyTagsForFC.
create or replace function brokerage.container_hits(
  p_setup text, p_containers text[], p_only_tags boolean[], p_base_profile text
) returns table (container text, only_tags boolean, queue text)
language sql stable rows 1000 as $$
  with wanted as materialized (
    select distinct w.container, w.only_tags
      from unnest(p_containers, p_only_tags) w(container, only_tags)
     where w.container is not null
  ), in_tags as materialized (
    select array(select w.container from wanted w where w.only_tags or p_base_profile <> 'documented') as containers
  ), by_tag as materialized (
    select t.container_name as container, t.queue
      from resource.software_tag t
     where t.setup = p_setup and t.container_name <> ''
       and t.container_name = any (array(select unnest(i.containers) from in_tags i))
    union
    select s.source, t.queue
      from resource.software_tag t
     cross join unnest(t.sources) s(source)
     where t.setup = p_setup and t.sources && array(select unnest(i.containers) from in_tags i)
  ), path as materialized (
    select w.container, w.container as path from wanted w where not w.only_tags
    union
    select w.container, s.source
      from wanted w
      join resource.software_tag t on t.setup = p_setup and t.queue = 'ALL' and t.container_name = w.container
     cross join unnest(t.sources) s(source)
     where not w.only_tags
  )
  select w.container, w.only_tags, t.queue
    from wanted w
    join by_tag t on t.container = w.container
   where w.only_tags or p_base_profile <> 'documented'
  union
  select p.container, false, s.queue
    from path p
    join resource.software s on s.setup = p_setup
   where exists (select from unnest(s.containers) c(prefix) where starts_with(p.path, c.prefix))
$$;

comment on function brokerage.container_hits(text, text[], boolean[], text) is
  'Queues whose tags contain a container, or that publish a prefix of it or of its sources (queue ALL). The container '
  'may have onlyTagsForFC; base profile documented or panda2026.';
