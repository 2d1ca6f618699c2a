-- MATCHING.md, Explanations: taskqueue.explain_job compares a job with the resources seen lately. A call writes at most
-- one row per kind in ten seconds, into an unlogged table. So a call that finds no match writes no WAL, and no agent
-- waits for another. A known description is noted again by few calls (taskqueue.shall_note_resource), so that ten
-- thousand kinds of resources cost little.
create or replace function taskqueue.note_resource(
  p_setup text, p_resource jsonb, p_parsed taskqueue.parsed_description, p_matched boolean, p_definition_id bigint
) returns void
language plpgsql as $$
declare
  v_offer taskqueue.offer;
  v_resource jsonb;
  v_class uuid;
  v_now timestamptz := resource.clock(p_setup);
  v_bucket bigint := p_parsed.cpu_buckets[width_bucket((p_parsed.offer).cpu_time, p_parsed.cpu_buckets)];
begin
  if coalesce(v_bucket, 0) = any (p_parsed.seen) and p_parsed.seen_at > v_now - interval '10 seconds' then
    return;
  end if;
  v_offer := p_parsed.offer;
  v_resource := p_resource - '{JobID,HostName,Setup,OwnerDN,OwnerGroup}'::text[];
  if v_resource ? 'CPUTime' then
    v_resource := v_resource || jsonb_build_object('CPUTime', coalesce(v_bucket, 0));
  end if;
  if v_offer.owner_dn is not null then
    v_resource := v_resource || jsonb_build_object('OwnerDN', v_offer.owner_dn);
  end if;
  if v_offer.owner_groups is not null then
    v_resource := v_resource || jsonb_build_object('OwnerGroup', v_offer.owner_groups);
  end if;
  -- lists are sets; a list of one value becomes that value, and a key with an empty list or text is left out
  if v_resource @? 'strict $.* ? (@.type() == "array" || @ == "")' then
    select jsonb_object_agg(e.key, case when v.texts is null then e.value
                                        when cardinality(v.texts) = 1 then to_jsonb(v.texts[1])
                                        else to_jsonb(v.texts) end)
      into v_resource
      from jsonb_each(v_resource) e
     cross join lateral (
       select case when jsonb_typeof(e.value) = 'array' or e.value = '""'
                    then taskqueue.text_set(e.key, e.value, true) end as texts) v
     where v.texts is distinct from '{}';
  end if;
  v_class := md5((case when v_resource ? 'Attributes'
                        then coalesce((taskqueue.rounded_description(p_setup, v_resource))[1] #- '{Bounds,0}',
                                      v_resource)
                        else v_resource end)::text)::uuid;
  if not exists (select from taskqueue.resource_seen s
                  where s.setup = p_setup and s.class = v_class and s.seen_at > v_now - interval '10 seconds')
     and pg_try_advisory_xact_lock(hashtextextended(p_setup || v_class, 2)) then
    insert into taskqueue.resource_seen (setup, class, seen_at, matched, resource, definition_id)
    values (p_setup, v_class, v_now, p_matched, v_resource, p_definition_id);
  end if;
  update taskqueue.parsed_description k
     set seen_at = v_now,
         seen = case when coalesce(v_bucket, 0) = any (k.seen) then k.seen else k.seen || coalesce(v_bucket, 0) end
   where k.ctid = any (array(select i.ctid from taskqueue.parsed_description i
                              where i.setup = p_setup and i.digest = p_parsed.digest and i.resource = p_parsed.resource
                                and i.owner_group is not distinct from p_parsed.owner_group
                                and i.owner_dn is not distinct from p_parsed.owner_dn
                                for update skip locked));
end $$;

comment on function taskqueue.note_resource(text, jsonb, taskqueue.parsed_description, boolean, bigint) is
  'Notes the kind of a resource description, which has CPUTime as the highest bucket that it covers (seconds), lists '
  'as sets, the owner of the identity, and neither JobID nor HostName. p_definition_id: definition of the '
  'job that the resource got; null if there is none or it is not known.';
