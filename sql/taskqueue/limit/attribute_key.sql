-- Section 7: a limit that refers to an unknown attribute is refused when it is set.
create or replace function taskqueue.attribute_key(p_attribute text) returns text
language plpgsql immutable
as $$
declare
  v_key text;
begin
  select k into v_key
    from unnest('{OwnerDN,OwnerGroup,CPUTime,SubmitPools,PilotTypes,GridMiddlewares,Sites,BannedSites,GridCEs,'
                'Platforms,JobTypes,Tags,MinRAM,MaxRAM}'::text[]) k
   where k = p_attribute or k = p_attribute || 's' or k = 'OwnerDN' and p_attribute = 'Owner'
      or k = 'Platforms' and p_attribute in ('LHCbPlatform', 'LHCbPlatforms');
  if v_key is null then
    raise exception 'attribute % is not known', coalesce(quote_literal(p_attribute), 'null')
      using errcode = 'PB001',
            hint = 'Known: OwnerDN, OwnerGroup, CPUTime, SubmitPools, PilotTypes, GridMiddlewares, Sites, BannedSites, '
                   'GridCEs, Platforms, JobTypes, Tags, MinRAM, MaxRAM, and their singular forms.';
  end if;
  return v_key;
end $$;

comment on function taskqueue.attribute_key(text) is
  'The requirement key that an attribute of a limit names (JobType: JobTypes). Errors: PB001.';
