-- CLAUSES.md, Attributes: the view shows what the jobs of a site could ask for. The kinds of resources are a sample.
create or replace view monitor.offered_attribute as
select o.setup, o.site, o.attribute, o.type, count(distinct o.class) as kinds,
       coalesce(nullif(array_to_string(min(o.bound), '.'), ''), case when min(o.bound) = '{}' then '0' end) as lowest,
       coalesce(nullif(array_to_string(max(o.bound), '.'), ''), case when max(o.bound) = '{}' then '0' end) as highest,
       array_to_string((array_agg(distinct o.text) filter (where o.bound is null))[:20], ', ') as "values",
       max(o.last_seen) as last_seen,
       case when o.attribute = any ('{gpu.vendor,gpu.model,gpu.ram,gpu.architecture,gpu.runtime,gpu.driver}')
            then (select max(p.last_seen) from resource.pilot_gpu p
                   where p.setup = o.setup and p.queue = o.site) end as noted_at
  from (select k.setup, k.class, s.site, a.name as attribute, a.type, k.last_seen, v.value #>> '{}' as text,
               case when a.type in ('number', 'version') then taskqueue.value_order(a.type, v.value) end as bound,
               jsonb_typeof(v.value) as kind
          from taskqueue.resource_kind k
         cross join lateral jsonb_each(case jsonb_typeof(k.resource -> 'Attributes')
                                         when 'object' then k.resource -> 'Attributes' end) g (name, given)
          join taskqueue.attribute a on a.setup = k.setup and a.name = g.name
         cross join lateral jsonb_array_elements(case jsonb_typeof(g.given) when 'array' then g.given
                                                                            else jsonb_build_array(g.given) end) v
         cross join lateral (
                select jsonb_array_elements_text(case jsonb_typeof(k.resource -> 'Site')
                                                   when 'array' then k.resource -> 'Site'
                                                   else jsonb_build_array(coalesce(k.resource -> 'Site', '""')) end)
                         as site) s
         where (k.setup = (select resource.bound_setup())) is not false) o
 where case o.type when 'text' then o.kind = 'string' when 'flag' then o.text in ('true', 'false')
                   else o.bound is not null end
 group by o.setup, o.site, o.attribute, o.type;

comment on view monitor.offered_attribute is
  'Attributes that the resources of each site offered lately: a sample, as monitor.resource_seen. Values that '
  'the attribute may no longer have are left out.';
comment on column monitor.offered_attribute.site is 'Site that the resources name; empty if they name none.';
comment on column monitor.offered_attribute.attribute is 'Attribute (monitor.attribute).';
comment on column monitor.offered_attribute.kinds is 'Number of kinds of resources that offer the attribute.';
comment on column monitor.offered_attribute.lowest is 'Lowest value of a number or version; null for other types.';
comment on column monitor.offered_attribute.highest is 'Highest value of a number or version; null for other types.';
comment on column monitor.offered_attribute."values" is
  'Values of a text or flag, sorted and joined by commas, at most 20; null for other types.';
comment on column monitor.offered_attribute.last_seen is 'When a resource with the attribute last asked for a job.';
comment on column monitor.offered_attribute.noted_at is
  'If the site is a PanDA queue: when a pilot last offered a GPU that brokerage compares with tasks '
  '(resource.pilot_gpu); null = brokerage does not read the attribute, or no round of maintenance has noted a GPU.';
