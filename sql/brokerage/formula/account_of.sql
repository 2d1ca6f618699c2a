create or replace function brokerage.account_of(t brokerage.task_facts) returns text
language sql stable parallel safe as $$
  select case when t.working_group <> '' then 'group ' || t.working_group
              else 'user ' || coalesce(t.user_name, 'not known') end
$$;

comment on function brokerage.account_of(brokerage.task_facts) is
  'The account whose jobs count for the caps of a task, in words: its working group, else its user.';
