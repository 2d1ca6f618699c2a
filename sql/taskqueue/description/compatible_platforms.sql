-- MATCHING.md, Conditions on lists: platforms are plain texts, and a table of compatible platforms (offered,
-- accepted) extends the offer.
create or replace function taskqueue.compatible_platforms(p_setup text, p_platforms text[]) returns text[]
language sql stable as $$
  select case when p_platforms is not null then
           p_platforms || array(select c.accepted from taskqueue.platform_compatibility c
                                 where c.setup = p_setup and c.offered = any (p_platforms))
         end
$$;

comment on function taskqueue.compatible_platforms(text, text[]) is
  'The platforms offered and those compatible with them; null (no condition) gives null.';
