-- Section 9: correction factor from usage history, kept by taskqueue.recompute_shares where the setting share_correction is on.
create or replace function taskqueue.correction(p_setup text, p_group text, p_owner text) returns float8
language sql stable
as $$
  select coalesce((select c.factor from taskqueue.share_correction c
                    where c.setup = p_setup and c.owner_group = p_group and c.owner_dn = p_owner), 1)
$$;

comment on function taskqueue.correction(text, text, text) is
'Factor on the share of an entity (owner '''' = a JobSharing group); 1 where none is kept.';
