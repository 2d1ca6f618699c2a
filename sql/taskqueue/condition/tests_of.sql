-- Most definitions ask for little, and most offers refuse little. If these bits and the demands of a definition have no
-- bit in common, the conditions need not be evaluated one by one, which saves 25 us of preparation. The comparisons of
-- taskqueue.accepts_at_once are made in any case.
create or replace function taskqueue.tests_of(p_offer taskqueue.offer) returns int
language sql immutable as $$
  select o.all_conditions::int | o.min_ram::int * 2 | o.pilot_types::int * 4 | o.job_types::int * 8
         | o.grid_ces::int * 16 | o.limited::int * 32
    from (select coalesce(p_offer.required_tags is not null or p_offer.banned_sites is not null
                          or p_offer.banned_grid_ces is not null or p_offer.banned_job_types is not null
                          or p_offer.banned_tags is not null
                          or cardinality(p_offer.sites) <> 1 or cardinality(p_offer.grid_ces) <> 1,
                          false) as all_conditions,
                 p_offer.max_ram is not null as min_ram, true as pilot_types,
                 p_offer.job_types is not null as job_types, p_offer.grid_ces is not null as grid_ces,
                 coalesce(p_offer.limited, false) as limited) o
$$;

comment on function taskqueue.tests_of(taskqueue.offer) is
  'The demands of a definition that an offer may not meet, as bits of taskqueue.definition.demands. Bit 1 means that '
  'all conditions have to be tested; bit 32, that the site has limits.';
