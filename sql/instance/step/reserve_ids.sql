-- Ids that somebody gave are of the same range as those that sequences give.
create or replace function instance.reserve_ids(p_setup text) returns void
language plpgsql
as $$
begin
  perform setval('instance.job_id', m.most)
     from (select max(j.job_id) as most from instance.job j where j.setup = p_setup) m
    where m.most >= (select s.last_value + s.is_called::int from instance.job_id s);
  perform setval('instance.instance_id', m.most)
     from (select max(i.instance_id) as most from instance.instance i where i.setup = p_setup) m
    where m.most >= (select s.last_value + s.is_called::int from instance.instance_id s);
end $$;

comment on function instance.reserve_ids(text) is
  'Lets jobs and instances that are numbered from now on have numbers beyond those of a setup.';
