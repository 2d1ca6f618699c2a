-- Tasks may go to these sites. A site is represented by its first queue of role nucleus, by name (conventions.md,
-- Nucleus queues), else by the first with a bareNucleus mode (full-chain.md, Satellites as nuclei).
create or replace view brokerage.nucleus_site as
select f.setup, f.nucleus, f.queue, true as is_nucleus, f.attributes from brokerage.first_nucleus_queue f
union all
(select distinct on (q.setup, q.panda_site) q.setup, q.panda_site, q.queue, false, a.attributes
   from resource.queue q
  cross join lateral (select resource.catchall(q.catchall) || q.params offset 0) a(attributes)
  where q.panda_site is not null and brokerage.bare_nucleus(null, a.attributes) is not null
    and not exists (select from resource.queue f
                     where f.setup = q.setup and f.panda_site = q.panda_site and f.role = 'nucleus')
  order by q.setup, q.panda_site, q.queue collate "C");

comment on view brokerage.nucleus_site is
  'Nuclei by their queues, and satellites with a bareNucleus mode: each with the queue that represents it.';
comment on column brokerage.nucleus_site.queue is 'The first queue of the site, by name.';
comment on column brokerage.nucleus_site.is_nucleus is 'Whether that queue has the role nucleus.';
comment on column brokerage.nucleus_site.attributes is 'catchall and params of that queue.';
