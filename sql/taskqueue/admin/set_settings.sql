-- Settings of matching, all or none of the keys given.
create or replace function taskqueue.set_settings(p_setup text, p_settings jsonb) returns void
language plpgsql
security definer set search_path = taskqueue, pg_temp
as $$
declare
  v_key text;
  v_value jsonb;
  v_new taskqueue.setting;
begin
  perform resource.identify(p_setup);
  perform taskqueue.reconfigure(p_setup);
  perform taskqueue.require_setup(p_setup);
  perform taskqueue.forget_offers(p_setup);
  if jsonb_typeof(p_settings) is distinct from 'object' then
    raise exception 'settings are %, not a JSON object', coalesce(p_settings::text, 'null')
      using errcode = 'PB001', hint = 'Give an object, for example {"ten_first": true}.';
  end if;
  select s.* into v_new from taskqueue.setting s where s.setup = p_setup;
  for v_key, v_value in select e.key, e.value from jsonb_each(p_settings) e loop
    begin
      case v_key
        when 'ten_first' then v_new.ten_first := v_value::boolean;
        when 'share_correction' then v_new.share_correction := v_value::boolean;
        when 'strict_keys' then v_new.strict_keys := taskqueue.text_set(v_key, v_value);
        when 'required_keys' then v_new.required_keys := taskqueue.text_set(v_key, v_value);
        when 'queue_size' then v_new.queue_size := v_value::int;
        when 'shares' then v_new.shares := taskqueue.one_text(v_key, v_value);
        when 'policy' then v_new.policy := taskqueue.one_text(v_key, v_value);
        when 'lease_time' then v_new.lease_time := make_interval(secs => v_value::float8);
        when 'heartbeat_time' then v_new.heartbeat_time := make_interval(secs => v_value::float8);
        when 'attempts' then v_new.attempts := v_value::int;
        when 'share_delay' then v_new.share_delay := make_interval(secs => v_value::float8);
        when 'correction_window' then v_new.correction_window := make_interval(secs => v_value::float8);
        when 'history_kept' then v_new.history_kept := make_interval(secs => v_value::float8);
        else
          raise exception 'setting % (value %) is not known', v_key, v_value
            using errcode = 'PB001',
                  hint = 'Known: ten_first, strict_keys, required_keys, queue_size, policy, lease_time, '
                         'heartbeat_time, attempts, shares, share_delay, share_correction, correction_window, '
                         'history_kept (times in seconds).';
      end case;
      update taskqueue.setting s
         set ten_first = v_new.ten_first, share_correction = v_new.share_correction, strict_keys = v_new.strict_keys,
             required_keys = v_new.required_keys, queue_size = v_new.queue_size, policy = v_new.policy,
             shares = v_new.shares, lease_time = v_new.lease_time,
             heartbeat_time = v_new.heartbeat_time, attempts = v_new.attempts, share_delay = v_new.share_delay,
             correction_window = v_new.correction_window, history_kept = v_new.history_kept
       where s.setup = p_setup;
    exception when invalid_parameter_value or check_violation or not_null_violation or cannot_coerce
                   or invalid_text_representation
                   or numeric_value_out_of_range or datetime_field_overflow then
      raise exception 'setting % is %, which it cannot be', v_key, v_value
        using errcode = 'PB001',
                   hint = (select col_description(a.attrelid, a.attnum) from pg_attribute a
                            where a.attrelid = 'taskqueue.setting'::regclass and a.attname = v_key);
    end;
  end loop;
  if not v_new.strict_keys <@ '{Site,GridCE,Platform,JobType}' or not v_new.required_keys <@
     '{OwnerDN,OwnerGroup,CPUTime,PilotType,Site,GridCE,Platform,JobType,Tag,RequiredTag,BannedSite,BannedGridCE,'
     'BannedPlatform,BannedJobType,BannedTag,MaxRAM,NumberOfProcessors,WholeNode,JobID,Setup}' then
    raise exception 'strict_keys is %, required_keys is %: not keys for that', v_new.strict_keys, v_new.required_keys
      using errcode = 'PB001',
            hint = 'strict_keys: Site, GridCE, Platform, JobType. required_keys: keys of a resource description.';
  end if;
  perform taskqueue.recompute_shares(p_setup);
end $$;

comment on function taskqueue.set_settings(text, jsonb) is
  'Changes settings of matching (columns of taskqueue.setting; times in seconds), all or none, and recomputes the '
  'shares. Errors: PB001 (key or value), PB002, PB006 (busy).';
