create or replace function brokerage.software_sites(p_setup text)
returns table (queue text, releases text[], is_published boolean, cmtconfigs text[], containers text[], cvmfs text[],
               takes_any_container boolean)
language sql stable rows 300 as $$
  select q.queue, coalesce(q.releases, '{}'), s.queue is not null, coalesce(s.cmtconfigs, '{}'),
         coalesce(s.containers, '{}'), coalesce(s.cvmfs, '{}'), coalesce(s.containers && '{any,/cvmfs}', false)
    from resource.queue q
    left join resource.software s on s.setup = q.setup and s.queue = q.queue
   where q.setup = p_setup
$$;

comment on function brokerage.software_sites(text) is
  'The queues of a setup with the software that they publish; lists are empty if they publish none.';
