create or replace function brokerage.storages_of_queues(p_setup text, p_analysis boolean)
returns table (queue text, output_site text, has_output boolean, space_free float8, space_usable float8,
               output_storage text, input_storage text, input_space_usable float8, has_vp_input boolean,
               inputs_writable_wan bigint, outputs_readable_wan bigint, inputs bigint, inputs_readable bigint,
               outputs bigint, outputs_writable bigint, datadisk_read_lan boolean, datadisk_write_lan boolean,
               datadisk_write_wan boolean, datadisk_read_wan boolean)
language sql stable as $$
  select s.queue,
         min(s.site) filter (where s.direction = 'write_lan' and s.position = 1) as output_site,
         bool_or(s.direction = 'write_lan' and s.position = 1) as has_output,
         min(s.space_free) filter (where s.direction = 'write_lan' and s.position = 1) as space_free,
         min(s.space_usable) filter (where s.direction = 'write_lan' and s.position = 1) as space_usable,
         min(s.storage) filter (where s.direction = 'write_lan' and s.position = 1) as output_storage,
         min(s.storage) filter (where s.direction = 'read_lan' and s.position = 1) as input_storage,
         min(s.space_usable) filter (where s.direction = 'read_lan' and s.position = 1) as input_space_usable,
         coalesce(bool_or(s.storage like E'%\\_VP\\_DISK') filter (where s.direction = 'read_lan'),
                  false) as has_vp_input,
         count(*) filter (where s.direction = 'read_lan' and s.can_write_wan) as inputs_writable_wan,
         count(*) filter (where s.direction = 'write_lan' and s.can_read_wan) as outputs_readable_wan,
         count(*) filter (where s.direction = 'read_lan') as inputs,
         count(*) filter (where s.direction = 'read_lan' and s.can_read_lan) as inputs_readable,
         count(*) filter (where s.direction = 'write_lan') as outputs,
         count(*) filter (where s.direction = 'write_lan' and s.can_write_lan) as outputs_writable,
         coalesce(bool_or(s.can_read_lan) filter (where s.direction = 'read_lan' and s.is_datadisk),
                  false) as datadisk_read_lan,
         coalesce(bool_or(s.can_write_lan) filter (where s.direction = 'write_lan' and s.is_datadisk),
                  false) as datadisk_write_lan,
         coalesce(bool_or(s.can_write_wan) filter (where s.direction = 'read_lan' and s.is_datadisk),
                  false) as datadisk_write_wan,
         coalesce(bool_or(s.can_read_wan) filter (where s.direction = 'write_lan' and s.is_datadisk),
                  false) as datadisk_read_wan
    from resource.storage_of_queue s
   where s.setup = p_setup
     and case when p_analysis then exists (select from resource.storage_for_analysis a
                                            where a.setup = s.setup and a.queue = s.queue
                                              and a.direction = s.direction and a.scope = s.scope)
              else s.scope = 'default' end
   group by s.queue
$$;

comment on function brokerage.storages_of_queues(text, boolean) is
  'The storages that queues read and write (the first of each has position 1), one row per queue that has storages; '
  'space is in GB. p_analysis: the storages that analysis uses.';
