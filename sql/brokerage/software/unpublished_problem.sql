-- software-check.md, software: if no published software is compared, only ANY by itself passes, and only for tasks that
-- ask for no hardware.
create or replace function brokerage.unpublished_problem(
  p_releases text[], p_requirement jsonb, p_container text, p_only_tags boolean
) returns text
language sql stable parallel safe as $$
  select case
    when p_releases = '{AUTO}' then 'AUTO is its releases, and it publishes no software'
    when p_releases <> '{ANY}' then format('its releases are %s, neither ANY nor AUTO alone',
                                           coalesce(nullif(array_to_string(p_releases, ', '), ''), 'empty'))
    when jsonb_typeof(p_requirement -> 'cpu') = 'array'
    then format('its releases are ANY, and cpu %s is wanted', brokerage.requirement_text(p_requirement -> 'cpu'))
    when jsonb_typeof(p_requirement -> 'gpu') = 'object'
    then format('its releases are ANY, and gpu %s is wanted', brokerage.requirement_text(p_requirement -> 'gpu'))
    when p_container is not null and p_only_tags
    then format('its releases are ANY, and container %s must be in a tag', p_container)
  end
$$;

comment on function brokerage.unpublished_problem(text[], jsonb, text, boolean) is
  'The reason why, in panda2026, a queue whose published software is not compared does not meet the need (releases, '
  'the requirement {cpu, gpu}, container, onlyTagsForFC); null if it does.';
