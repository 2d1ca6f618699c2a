create or replace function brokerage.container_text(p_container text, p_only_tags boolean, p_containers text[])
returns text
language sql stable parallel safe as $$
  select case when p_only_tags then format('container %s is in no tag', p_container)
              else format('container %s is under none of %s', p_container,
                          coalesce(nullif(array_to_string(p_containers, ', '), ''), 'no containers')) end
$$;

comment on function brokerage.container_text(text, boolean, text[]) is
  'Text of a reason: a queue does not have a container; with onlyTagsForFC it is in no tag, otherwise no published '
  'container is a prefix of it.';
