-- The first queue of a nucleus, by name, represents the nucleus (conventions.md, Nucleus queues).
create or replace view brokerage.first_nucleus_queue as
select distinct on (q.setup, q.panda_site) q.setup, q.panda_site as nucleus, q.queue,
       resource.catchall(q.catchall) || q.params as attributes
  from resource.queue q
 where q.role = 'nucleus' and q.panda_site is not null
 order by q.setup, q.panda_site, q.queue collate "C";

comment on view brokerage.first_nucleus_queue is
  'The first queue of each nucleus, by name: its catchall and its storages are those of the nucleus.';
comment on column brokerage.first_nucleus_queue.nucleus is 'Nucleus, a PanDA site.';
comment on column brokerage.first_nucleus_queue.queue is 'First queue of role nucleus at the site.';
