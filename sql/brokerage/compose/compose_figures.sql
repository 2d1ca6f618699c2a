create or replace function brokerage.compose_figures(c brokerage.composition) returns text
language plpgsql stable as $$
begin
  return brokerage.filled(
    $q$(select {begins}{beside}, ({queued})::bigint as queued, ({capacity})::bigint as capacity,
               ({chunk})::int as chunk, ({first})::float8 as first, {spared} as spared{survivors}
          from {pairs}{joined}) x$q$,
    jsonb_build_object(
      'begins', c.begins, 'beside', c.beside, 'queued', coalesce(c.distribution ->> 'queued-jobs', 'null'),
      'capacity', coalesce(c.distribution ->> 'running-jobs-cap', 'null'),
      'chunk', coalesce(c.distribution ->> 'job-chunk', 'null'),
      'first', coalesce(c.distribution ->> 'used-sites-first', 'null'),
      'spared', brokerage.compose_spared(c.choice, (c.facts).task, c.pair),
      'survivors', case when c.survivors
                        then format(', case when %1$s then %2$s end as survivor_q, '
                                    'case when %1$s then %3$s end as survivor_p',
                                    brokerage.compose_alive(c.alone), (c.facts).queue, (c.facts).pair)
                        else '' end,
      'pairs', c.pairs,
      -- otherwise facts are not read
      'joined', case when c.distribution <> '{}' or c.survivors or (c.choice).parameters ? 'spares_distributed'
                     then brokerage.compose_joined(c)
                     else '' end));
end $$;

comment on function brokerage.compose_figures(brokerage.composition) is
  'SQL of the pairs of a query after the last level of rules, with the numbers by which queues are ranked and jobs are '
  'distributed.';
