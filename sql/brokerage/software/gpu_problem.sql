-- software-check.md, Hardware: GPU requirements of panda2026 are compared with the GPUs that monitoring or pilots saw
-- on the worker nodes. A property that a pilot does not state is not known, so it is not compared; if no GPU states it,
-- the requirement cannot be checked, and the queue is rejected.
create or replace function brokerage.gpu_problem(p_setup text, p_queue text, p_gpu jsonb) returns text
language sql stable as $$
  select case
    when w.vendor <> '*' and resource.pattern_problem(w.vendor) is not null
    then format('gpu vendor %s is %s', w.vendor, resource.pattern_problem(w.vendor))
    when w.model <> '*' and resource.pattern_problem(w.model) is not null
    then format('gpu model %s is %s', w.model, resource.pattern_problem(w.model))
    when w.vendor <> '*' and not s.has_vendor then format('no gpu of vendor %s was seen', w.vendor)
    when w.excluded and (s.has_model or s.seen = 0)
    then format('a gpu other than %s is wanted, %s', w.model,
                case s.seen when 0 then 'none was seen' else 'one was seen' end)
    when w.excluded and not s.states_model
    then format('a gpu other than %s is wanted, and no gpu seen states its model', w.model)
    when w.model <> '*' and not w.excluded and not s.has_model then format('no gpu of model %s was seen', w.model)
    when p_gpu ->> 'microarchitecture' is not null and not s.has_architecture
    then format('no gpu of microarchitecture %s was seen', p_gpu ->> 'microarchitecture')
    else (select case when s.seen = 0 then 'no gpu was seen'
                      when k.fit is null then format('no gpu seen states its %s', k.words)
                      else format('not all gpus seen have %s %s', k.words, p_gpu ->> k.key) end
            from (values (1, 'vram', 'vram', s.fit_vram), (2, 'version', 'version', s.fit_version),
                         (3, 'driver_version', 'driver version', s.fit_driver)) k(number, key, words, fit)
           where p_gpu ->> k.key is not null and k.fit is not true
           order by k.number
           limit 1)
  end
    from (select coalesce(p_gpu ->> 'vendor', '*'),
                 coalesce(case when jsonb_typeof(p_gpu -> 'model') = 'object' then p_gpu #>> '{model,pattern}'
                               else p_gpu ->> 'model' end, '*'),
                 jsonb_typeof(p_gpu -> 'model') = 'object'
                 and p_gpu #> '{model,excl}' = 'true') w(vendor, model, excluded)
   cross join lateral (
         select count(*),
                coalesce(bool_or(
                  case when w.vendor <> '*' and resource.pattern_problem(w.vendor) is null
                       then g.vendor ~* ('^(?:' || w.vendor || ')') end),
                         false),
                coalesce(bool_or(
                  case when w.model <> '*' and resource.pattern_problem(w.model) is null
                       then g.model ~* ('^(?:' || w.model || ')') end),
                         false),
                bool_or(not g.by_pilot or g.model is not null),
                coalesce(bool_or(g.architecture = p_gpu ->> 'microarchitecture'), false),
                bool_and(brokerage.satisfies_version(trunc(g.vram)::text, p_gpu ->> 'vram'))
                  filter (where not g.by_pilot or g.vram is not null),
                bool_and(brokerage.satisfies_version(g.framework_version, p_gpu ->> 'version'))
                  filter (where not g.by_pilot or g.framework_version is not null),
                bool_and(brokerage.satisfies_version(g.driver_version, p_gpu ->> 'driver_version'))
                  filter (where not g.by_pilot or g.driver_version is not null)
           from (select m.vendor, m.model, m.architecture, m.vram, m.framework_version, m.driver_version,
                        false as by_pilot
                   from resource.worker_gpu m
                  where m.setup = p_setup
                    and m.queue = p_queue
                 union all
                 select p.vendor, p.model, p.architecture, p.vram, p.framework_version, p.driver_version, true
                   from resource.pilot_gpu p
                  where p.setup = p_setup
                    and p.queue = p_queue) g) s(seen, has_vendor, has_model, states_model, has_architecture, fit_vram,
                                                 fit_version, fit_driver)
$$;

comment on function brokerage.gpu_problem(text, text, jsonb) is
  'The reason why the GPUs that monitoring or pilots saw on the worker nodes of a queue do not meet a GPU requirement; '
  'null if they do. Vendor and model are prefixes (regular expressions, any case).';
