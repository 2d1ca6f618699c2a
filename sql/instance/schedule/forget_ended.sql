-- Two simultaneous calls are safe: rows that another call locks are skipped.
create or replace function instance.forget_ended(
  p_setup text, p_limit int default null, out steps bigint, out instances bigint
)
language plpgsql security definer set search_path = instance, pg_temp
set jit = off set enable_seqscan = off set enable_material = off as $$
declare
  v_setting lifecycle.setting_in_force;
  v_before timestamptz;
begin
  perform resource.identify(p_setup);
  perform resource.require_known_setup(p_setup);
  perform resource.require_limit('limit', p_limit);
  select s.* into v_setting from lifecycle.setting_in_force s where s.setup = p_setup;
  v_before := resource.clock(p_setup) - v_setting.jobs_kept;
  delete from instance.step s
   where s.setup = p_setup and s.step_id = any (array(
           select o.step_id from instance.step o
            where o.setup = p_setup and o.state in ('finished', 'cancelled') and o.ended_at < v_before
            order by o.ended_at limit coalesce(p_limit, v_setting.most) for update skip locked));
  get diagnostics steps = row_count;
  delete from instance.instance i
   where i.setup = p_setup and i.instance_id = any (array(
           select o.instance_id from instance.instance o
            where o.setup = p_setup and o.state = 'released' and o.released_at < v_before
            order by o.released_at limit coalesce(p_limit, v_setting.most) for update skip locked));
  get diagnostics instances = row_count;
end $$;

comment on function instance.forget_ended(text, int) is
  'Deletes steps that ended and instances that were released longer ago than jobs_kept, at most p_limit of each (null '
  'means the setting most), and returns how many. Both settings are those of lifecycle.set_settings. instance.schedule '
  'calls the function. Errors: PB001 (no such setup), PB002 (setup not granted).';
