-- Jobs that ended and instances that were released leave the tables when they are old (jobs_kept of
-- lifecycle.set_settings), as brokered jobs do. Safe to run twice at once.
create or replace function instance.forget_ended(
  p_setup text, p_limit int default null, out jobs bigint, out instances bigint
)
language plpgsql
security definer set search_path = instance, pg_temp set enable_seqscan = off
as $$
declare
  v_setting lifecycle.setting_in_force;
  v_before timestamptz;
begin
  perform resource.identify(p_setup);
  perform resource.require_known_setup(p_setup);
  select s.* into v_setting from lifecycle.setting_in_force s where s.setup = p_setup;
  v_before := resource.clock(p_setup) - v_setting.jobs_kept;
  delete from instance.job j
   where j.setup = p_setup and j.job_id = any (array(
           select o.job_id from instance.job o
            where o.setup = p_setup and o.state in ('finished', 'cancelled') and o.ended_at < v_before
            order by o.ended_at limit coalesce(p_limit, v_setting.most) for update skip locked));
  get diagnostics jobs = row_count;
  delete from instance.instance i
   where i.setup = p_setup and i.instance_id = any (array(
           select o.instance_id from instance.instance o
            where o.setup = p_setup and o.state = 'released' and o.released_at < v_before
            order by o.released_at limit coalesce(p_limit, v_setting.most) for update skip locked));
  get diagnostics instances = row_count;
end $$;

comment on function instance.forget_ended(text, int) is
  'Forgets up to so many jobs of instances that ended, and instances that were released, longer than jobs_kept ago '
  '(null = most; both of lifecycle.set_settings), and returns how many. instance.schedule does it. '
  'Errors: PB001 (no such setup), PB002 (setup not granted).';
