-- MATCHING.md, Resource description: checks and parses a description in one pass over its keys, since this is on the
-- hot path. The view taskqueue.description_key lists the keys. Long because each key has a case of its own.
create or replace function taskqueue.offer_of(p_setup text, p_resource jsonb, p_identity resource.identity)
returns taskqueue.offer
language plpgsql stable as $$
declare
  v_offer taskqueue.offer;
  v_setting taskqueue.setting;
  v_key text;
  v_value jsonb;
begin
  if pg_column_size(p_resource) > 4096 then
    perform taskqueue.require_within(p_setup, 'description_size', 'resource description',
                                     taskqueue.json_size(p_resource));
  end if;
  if jsonb_typeof(p_resource) is distinct from 'object' then
    raise exception 'resource description is %, not a JSON object', coalesce(resource.shown(p_resource), 'null')
      using errcode = 'PB001', hint = 'Give an object with CPUTime at least.';
  end if;
  select s.* into v_setting from taskqueue.setting s where s.setup = p_setup;
  v_setting.required_keys := coalesce(v_setting.required_keys, '{CPUTime}');
  if not p_resource ?& v_setting.required_keys or v_setting.required_keys <> '{CPUTime}' and exists (
       select from unnest(v_setting.required_keys) k where p_resource -> k in ('null', '[]', '""', '[""]')) then
    raise exception '% is missing in the resource description',
          (select string_agg(k, ', ') from unnest(v_setting.required_keys) k
            where coalesce(p_resource -> k, 'null') in ('null', '[]', '""', '[""]'))
      using errcode = 'PB001',
            hint = (select concat('The description has ' || n.name || '. ', 'These keys are required in this setup: ',
                                  array_to_string(v_setting.required_keys, ', '), '.')
                      from resource.nearest_name((select k from unnest(v_setting.required_keys) k
                                                   where not p_resource ? k limit 1),
                                                 array(select k from jsonb_object_keys(p_resource) k)) n(name));
  end if;
  v_offer.pilot_types := '{}';
  v_offer.tags := '{}';
  if v_setting.strict_keys <> '{}' then
    v_offer.sites := taskqueue.offered('Site', null, v_setting.strict_keys);
    v_offer.grid_ces := taskqueue.offered('GridCE', null, v_setting.strict_keys);
    v_offer.platforms := taskqueue.offered('Platform', null, v_setting.strict_keys);
    v_offer.job_types := taskqueue.offered('JobType', null, v_setting.strict_keys);
  end if;
  for v_key, v_value in select e.key, e.value from jsonb_each(p_resource) e loop
    if (case when jsonb_typeof(v_value) = 'array' then jsonb_array_length(v_value) > 100 end) then
      perform taskqueue.require_within(p_setup, 'most_names', v_key, jsonb_array_length(v_value));
    end if;
    case v_key
      when 'CPUTime' then v_offer.cpu_time := floor(least(taskqueue.one_number(v_key, v_value), 9223372036854775807));
      when 'Site' then v_offer.sites := taskqueue.offered(v_key, v_value, v_setting.strict_keys);
      when 'GridCE' then v_offer.grid_ces := taskqueue.offered(v_key, v_value, v_setting.strict_keys);
      when 'JobType' then v_offer.job_types := taskqueue.offered(v_key, v_value, v_setting.strict_keys);
      when 'Platform', 'LHCbPlatform' then
        if p_resource -> 'Platform' <> p_resource -> 'LHCbPlatform' then
          raise exception 'LHCbPlatform is % and Platform is %: they differ',
            resource.shown(p_resource -> 'LHCbPlatform'), resource.shown(p_resource -> 'Platform')
            using errcode = 'PB001', hint = 'LHCbPlatform is an alias of Platform; give one of them.';
        end if;
        v_offer.platforms := taskqueue.compatible_platforms(
          p_setup, taskqueue.offered(v_key, v_value, array_replace(v_setting.strict_keys, 'Platform', v_key)));
      when 'PilotType' then v_offer.pilot_types := taskqueue.text_set(v_key, v_value, true);
      when 'Tag', 'NumberOfProcessors', 'WholeNode' then null;
      when 'RequiredTag' then v_offer.required_tags := nullif(taskqueue.text_set(v_key, v_value, true), '{}');
      when 'BannedSite' then v_offer.banned_sites := nullif(taskqueue.text_set(v_key, v_value, true), '{}');
      when 'BannedGridCE' then v_offer.banned_grid_ces := nullif(taskqueue.text_set(v_key, v_value, true), '{}');
      when 'BannedPlatform' then v_offer.banned_platforms := nullif(taskqueue.text_set(v_key, v_value, true), '{}');
      when 'BannedJobType' then v_offer.banned_job_types := nullif(taskqueue.text_set(v_key, v_value, true), '{}');
      when 'BannedTag' then v_offer.banned_tags := nullif(taskqueue.text_set(v_key, v_value, true), '{}');
      when 'Attributes' then null;
      when 'MaxRAM' then v_offer.max_ram := taskqueue.one_number(v_key, v_value);
      when 'OwnerGroup' then v_offer.owner_groups := nullif(taskqueue.text_set(v_key, v_value), '{}');
      when 'OwnerDN' then v_offer.owner_dn := taskqueue.one_text(v_key, v_value);
      when 'Setup' then
        if taskqueue.one_text(v_key, v_value) <> p_setup then
          raise exception 'Setup is %, but the call is for setup %', resource.shown(v_value), p_setup
            using errcode = 'PB001', hint = 'Omit Setup, or give the setup of the call.';
        end if;
      when 'HostName' then
        if length(taskqueue.one_text(v_key, v_value)) > 255 then
          raise exception 'HostName has % characters', length(v_value #>> '{}')
            using errcode = 'PB001', hint = 'A name of a host may have 255 characters.';
        end if;
      when 'JobID' then
        v_offer.job_id := taskqueue.job_id(v_value, v_key);
      else
        raise exception 'unknown key % (value %) in the resource description', left(v_key, 100), resource.shown(v_value)
          using errcode = 'PB001',
                hint = (select concat('The nearest is ' || n.name || '. ', format('Keys are %s.', k.keys))
                          from (select string_agg(k.key, ', ') as keys, array_agg(k.key) as names
                                  from taskqueue.description_key k) k
                          left join lateral resource.nearest_name(v_key, k.names) n(name) on n.name is not null);
    end case;
  end loop;
  v_offer.cpu_time := coalesce(v_offer.cpu_time, 9223372036854775807);
  if p_resource ?| '{Tag,NumberOfProcessors,WholeNode}' then
    v_offer.tags := taskqueue.tags_offered(p_resource);
  end if;
  if p_resource ? 'Attributes' or exists (select from taskqueue.attribute a
                                           where a.setup = p_setup and a.absent <> '"fails"') then
    v_offer.attributes := taskqueue.attributes_offered(p_setup, p_resource -> 'Attributes');
  end if;
  if not v_offer.required_tags <@ v_offer.tags then
    raise exception 'RequiredTag holds %, which the resource does not offer',
      resource.shown(p_resource -> 'RequiredTag')
      using errcode = 'PB001', hint = 'RequiredTag may list only tags of Tag, NumberOfProcessors and WholeNode.';
  end if;
  if p_identity.private then
    v_offer.owner_dn := p_identity.owner_dn;
    v_offer.owner_groups := array[p_identity.owner_group];
    if p_identity.owner_group is null then
      v_offer.owner_groups := null;
    end if;
  end if;
  if v_offer.owner_dn is not null and v_offer.owner_groups is not null then
    v_offer.sharing_groups := array(select g.owner_group from taskqueue.owner_group g
                                     where g.setup = p_setup and g.owner_group = any (v_offer.owner_groups)
                                       and g.job_sharing);
  end if;
  return taskqueue.with_limits(p_setup, p_resource, v_offer);
end $$;

comment on function taskqueue.offer_of(text, jsonb, resource.identity) is
  'A resource description as taskqueue.offer; a private identity overrides OwnerDN and OwnerGroup. Errors: PB001, '
  'naming key and value.';
