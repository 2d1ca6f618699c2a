-- A copy counts as complete (production-candidates.md, input-completeness) if it has all of the files, all but
-- MAX_MISSING_INPUT_FILES, or MIN_INPUT_COMPLETENESS percent of them. Copies on tape are included.
create or replace view brokerage.input_source as
select r.setup, r.dataset, r.storage,
       coalesce(s.read_lan, '') not in ('OFF', 'TEST') as can_read_lan,
       coalesce(s.read_wan, '') not in ('OFF', 'TEST') as can_read_wan
  from workload.replica_state r
  left join resource.storage s on s.setup = r.setup and s.storage = r.storage
 where r.is_complete
    or r.found > 0 and r.total > 0
       and (r.total
            - r.found <= coalesce(
              (resource.config_value(r.setup, 'jedi', 'jobbroker', 'MAX_MISSING_INPUT_FILES') #>> '{}')::float8, 10)
            or r.found * 100 >= r.total
               * coalesce((
                 resource.config_value(r.setup, 'jedi', 'jobbroker', 'MIN_INPUT_COMPLETENESS') #>> '{}')::float8, 90));

comment on view brokerage.input_source is
  'Storages from which a complete or nearly complete dataset can come (panda2026 only).';
comment on column brokerage.input_source.can_read_lan is 'Whether the dataset can be read there over LAN.';
comment on column brokerage.input_source.can_read_wan is 'Whether the dataset can be read there over WAN.';
