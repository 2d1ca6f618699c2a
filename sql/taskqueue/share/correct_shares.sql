-- SHARES.md, Correction by usage: each owner and group has a factor from the history, expected share / used share,
-- within 1/5 to 5. Usage is the CPU time of the buckets matched within the window, among the entities that have
-- TaskQueues now. With the setting shares = global the factors are those of the tree, one per group (SHARES.md, Global
-- shares); between calls for all groups, taskqueue.mark_shares maintains them.
create or replace function taskqueue.correct_shares(p_setup text, p_all boolean default true) returns void
language plpgsql as $$
declare
  v_setting taskqueue.setting;
begin
  select s.* into v_setting from taskqueue.setting s where s.setup = p_setup;
  if v_setting.shares = 'global' then
    if p_all then
      perform taskqueue.set_factors(p_setup);
    end if;
    return;
  end if;
  if v_setting.share_correction is not true then
    delete from taskqueue.share_correction c where c.setup = p_setup;
    return;
  end if;
  insert into taskqueue.share_correction (setup, owner_group, owner_dn, factor)
  with entity as (
    select distinct q.owner_group, case when coalesce(g.job_sharing, false) then '' else q.owner_dn end as owner_dn,
           coalesce(g.share, 1000) as share, coalesce(g.job_sharing, false) as job_sharing
      from taskqueue.task_queue q
      left join taskqueue.owner_group g on g.setup = q.setup and g.owner_group = q.owner_group
     where q.setup = p_setup
  ), expected as (
    select e.owner_group, e.owner_dn, e.job_sharing, e.share / count(*) over (partition by e.owner_group) as share
      from entity e
  ), used as (
    select e.owner_group, e.owner_dn, e.share / sum(e.share) over () as expected,
           coalesce(sum(h.cpu_time), 0) / nullif(sum(sum(h.cpu_time)) over (), 0) as used
      from expected e
      left join taskqueue.match h
             on h.setup = p_setup and h.at > resource.clock(p_setup) - v_setting.correction_window
            and h.owner_group = e.owner_group and (e.job_sharing or h.owner_dn = e.owner_dn)
     group by e.owner_group, e.owner_dn, e.share
  )
  select p_setup, u.owner_group, u.owner_dn,
         case when u.used is null then 1 when u.used = 0 then 5 else greatest(0.2, least(5, u.expected / u.used)) end
    from used u order by u.owner_group, u.owner_dn
  on conflict (setup, owner_group, owner_dn) do update set factor = excluded.factor;
end $$;

comment on function taskqueue.correct_shares(text, boolean) is
  'Maintains the factors of the setting share_correction or, when called for all groups, those of shares = global. '
  'Without both settings there are no factors.';
