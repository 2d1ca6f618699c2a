create or replace function brokerage.compose_joined(c brokerage.composition) returns text
language sql stable
return case when c.begins = 'x.*'
            then replace((c.facts).joined, '@alive@',
                         case when c.all_failures then 'true'
                              else brokerage.compose_alive(coalesce(c.unmarked, c.alone)) end)
            else '' end;

comment on function brokerage.compose_joined(brokerage.composition) is
  'SQL that adds the facts of tasks and queues to the remaining pairs, if the next level of rules needs them.';
