-- A pilot of PanDA names its queue and perhaps a resource type, but not its number of cores.
create or replace function resource.slot_of_queue(p_setup text, p_queue text, p_resource_type text)
returns table (cores int, of_type boolean)
language plpgsql stable security definer set search_path = resource, pg_temp as $$
begin
  perform resource.identify(p_setup);
  perform resource.require_short('queue', p_queue);
  perform resource.require_short('resource type', p_resource_type);
  return query
    select greatest(coalesce(c.corecount, q.corecount), 1), c.queue is not null
      from resource.queue q
      left join resource.candidate_queue c on c.setup = q.setup and c.unified_name = q.queue
                                          and c.child_type = p_resource_type
     where q.setup = p_setup and q.queue = p_queue;
end $$;

comment on function resource.slot_of_queue(text, text, text) is
  'Cores of a slot of a PanDA queue, and whether the slot is of this resource type; only slots of unified queues have '
  'one. There is no row if the queue is not known. Errors: PB001 (a name is too long), PB002 (setup not granted).';
