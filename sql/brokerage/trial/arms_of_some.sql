create or replace function brokerage.arms_of_some(p_arms brokerage.arm[], p_numbers bigint[])
returns brokerage.arm[]
language sql immutable as $$
  select array(select row(a.arm, s.numbers, a.rules)::brokerage.arm
                 from unnest(p_arms) with ordinality a
                cross join lateral (select array_agg(n.ordinality order by n.ordinality) as numbers
                                      from unnest(p_numbers) with ordinality n(number, ordinality)
                                     where n.number = any (a.numbers)) s
                where s.numbers is not null
                order by a.ordinality)
$$;

comment on function brokerage.arms_of_some(brokerage.arm[], bigint[]) is
  'The arms of the tasks at some places, with the new places of the tasks in the result of brokerage.tasks_at.';
