-- A storage without a row of its own is on disk, usable, and of unknown space.
create or replace view resource.storage_of_queue as
select a.setup, a.queue, a.direction, a.scope, a.position, a.storage,
       coalesce(s.is_tape, false) as is_tape,
       coalesce(s.type, 'DATADISK') = 'DATADISK' as is_datadisk,
       s.site,
       s.storage is not null as is_known,
       s.space_free,
       coalesce(s.space_free, 0) + coalesce(s.space_expired, 0) - coalesce(s.space_min_free, 0)
       - coalesce(s.space_unavailable, 0) as space_usable,
       coalesce(s.read_lan, '') not in ('OFF', 'TEST') as can_read_lan,
       coalesce(s.write_lan, '') not in ('OFF', 'TEST') as can_write_lan,
       coalesce(s.read_wan, '') not in ('OFF', 'TEST') as can_read_wan,
       coalesce(s.write_wan, '') not in ('OFF', 'TEST') as can_write_wan
  from resource.queue_storage a
  left join resource.storage s on s.setup = a.setup and s.storage = a.storage;

comment on view resource.storage_of_queue is
  'Storages of queues by direction and scope, with their known properties. ON, PROBING and null mean usable; OFF and '
  'TEST do not.';
comment on column resource.storage_of_queue.position is 'Order, from 1; the first is the default.';
comment on column resource.storage_of_queue.is_datadisk is 'Whether the storage is of type DATADISK.';
comment on column resource.storage_of_queue.is_known is 'Whether the storage has a row of its own.';
comment on column resource.storage_of_queue.space_free is 'Free space (GB); null = not known.';
comment on column resource.storage_of_queue.space_usable is
  'Usable space (GB): free + expired - min_free - unavailable.';
comment on column resource.storage_of_queue.can_read_lan is 'Whether worker nodes can read from the storage.';
comment on column resource.storage_of_queue.can_write_lan is 'Whether worker nodes can write to the storage.';
comment on column resource.storage_of_queue.can_read_wan is 'Whether others can read from the storage.';
comment on column resource.storage_of_queue.can_write_wan is 'Whether others can write to the storage.';
