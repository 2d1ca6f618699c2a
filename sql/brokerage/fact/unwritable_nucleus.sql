-- These storages cannot be written over WAN (network.md, nucleus-unwritable; production-load.md, transferring-limit).
create or replace view brokerage.unwritable_nucleus as
select n.setup, n.nucleus
  from brokerage.first_nucleus_queue n
  join resource.storage_of_queue s on s.setup = n.setup and s.queue = n.queue
 where s.direction = 'write_lan' and s.scope = 'default' and s.position = 1 and not s.can_write_wan;

comment on view brokerage.unwritable_nucleus is 'Nuclei whose default output storage has write_wan OFF or TEST.';
