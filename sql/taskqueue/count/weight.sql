-- Section 9: for the mean draw weight, 10 counts as 1e6 with ten_first and 0 as 1e-5; else a
-- user priority weighs as it is.
create or replace function taskqueue.weight(p_user_priority int, p_ten_first boolean) returns float8
language sql immutable
as $$
  select case when p_user_priority = 0 then 1e-5
              when p_user_priority = 10 and p_ten_first then 1e6
              else p_user_priority end::float8
$$;

comment on function taskqueue.weight(int, boolean) is
  'Draw weight of a user priority for the shares (section 9).';
