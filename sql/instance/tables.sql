-- Tables, types and sequences of the schema instance, as a fresh install on PostgreSQL 18 has them, to be read.
-- Nobody edits or runs this file: migrations/ makes the tables, `broker db schema --write` writes the file.

-- Numbers of instances that instance.schedule requests.
create sequence instance.instance_id;

-- Numbers of jobs that are added without one.
create sequence instance.job_id;

-- Computation instances: rented machines that jobs are packed onto. What is free on one follows from its type and its
-- jobs.
create table instance.instance (
  setup text not null,  -- Tenant: DIRAC's Setup, PanDA's vo.
  instance_id bigint not null,  -- Number of the instance.
  type text not null,  -- Its type (resource.instance_type).
  task_id bigint,  -- Task that it was requested for; null = any may use it.
  state text default 'running'::text not null,  -- requested, running or released.
  queue text,  -- PanDA queue of kind cloud whose jobs it takes; null = it takes those that instance.add_jobs added.
  cpu numeric,  -- Cores that it has; null = what its type says when it is loaded.
  ram numeric,  -- Memory that it has (MB); null = what its type says when it is loaded.
  price numeric,  -- Price per hour; null = what its type says when it is loaded.
  used_cpu numeric default 0 not null,  -- Cores of the jobs that are placed on it.
  used_ram numeric default 0 not null,  -- Memory (MB) of the jobs that are placed on it.
  requested_at timestamp with time zone,  -- When it was requested; null = not known.
  started_at timestamp with time zone,  -- When it was there; null = not yet, or not known.
  released_at timestamp with time zone,  -- When it was released; null = not yet, or not known.
  constraint instance_pkey primary key (setup, instance_id),
  -- more than 0 and less than 1e9
  constraint instance_cpu_allowed check (cpu > 0::numeric and cpu < '1000000000'::numeric),
  -- jobs use at most the cores that it has
  constraint instance_cpu_used check (used_cpu >= 0::numeric and used_cpu <= coalesce(cpu, used_cpu)),
  -- 1 to 1e18
  constraint instance_instance_id_allowed check (instance_id >= 1 and instance_id::numeric <=
    '1000000000000000000'::numeric),
  -- 0 or more, and less than 1e15
  constraint instance_price_allowed check (price >= 0::numeric and price < '1000000000000000'::numeric),
  -- more than 0 and less than 1e15
  constraint instance_ram_allowed check (ram > 0::numeric and ram < '1000000000000000'::numeric),
  -- jobs use at most the memory that it has
  constraint instance_ram_used check (used_ram >= 0::numeric and used_ram <= coalesce(ram, used_ram)),
  -- requested, running or released
  constraint instance_state_check check (state = any (array['requested'::text, 'running'::text, 'released'::text])),
  constraint instance_setup_fkey foreign key (setup) references resource.setup(setup) on delete cascade
);
-- Instances that a task has: what jobs are placed on.
create index instance_live on instance.instance (setup, task_id) where (state <> 'released'::text);
-- Instances that were released long ago.
create index instance_released on instance.instance (setup, released_at) where (state = 'released'::text);

-- Jobs of tasks to be packed onto instances. What a job needs is a number, or an expression of its inputs until they
-- are known.
create table instance.job (
  setup text not null,  -- Tenant: DIRAC's Setup, PanDA's vo.
  job_id bigint not null,  -- Number of the job.
  task_id bigint,  -- Task.
  cpu numeric,  -- Cores that it needs; null = not known yet.
  -- Cores as an expression of inputs, such as ceil(size / 1000); null = a number was given, or nothing.
  cpu_expression text,
  ram numeric,  -- Memory that it needs (MB); null = not known yet.
  -- Memory (MB) as an expression of inputs, such as 2 * size; null = a number was given, or nothing.
  ram_expression text,
  instance_type text,  -- Type that its instance must have, the hint; null = any that fits.
  instance_id bigint,  -- Instance that it is placed on; null = on none.
  -- waiting, placed, finished, cancelled, or unschedulable (no type can take it; reason says what is short).
  state text default 'waiting'::text not null,
  -- Named inputs that expressions read, as far as they are known: name to number.
  inputs jsonb default '{}'::jsonb not null,
  queue text,  -- PanDA queue of kind cloud that it waits at; null = none.
  taskqueue_job_id bigint,  -- Job of TaskQueues that it stands for (instance.follow_taskqueues); null = none.
  reason text,  -- Why it is placed there, waits, or is unschedulable; null = no schedule has looked at it.
  placed_at timestamp with time zone,  -- When it was placed; null = it is on no instance, or not known.
  ended_at timestamp with time zone,  -- When it finished or was cancelled; null = not yet, or not known.
  constraint job_pkey primary key (setup, job_id),
  constraint job_cpu_check check (cpu >= 0::numeric and cpu < '1000000000'::numeric),  -- 0 or more, and less than 1e9
  constraint job_inputs_check check (jsonb_typeof(inputs) = 'object'::text),  -- an object
  constraint job_job_id_allowed check (job_id >= 1 and job_id::numeric <= '1000000000000000000'::numeric),  -- 1 to 1e18
  -- 0 or more, and less than 1e15
  constraint job_ram_check check (ram >= 0::numeric and ram < '1000000000000000'::numeric),
  -- waiting, placed, finished, cancelled or unschedulable
  constraint job_state_allowed check (state = any (array['waiting'::text, 'placed'::text, 'finished'::text,
    'cancelled'::text, 'unschedulable'::text])),
  constraint job_setup_fkey foreign key (setup) references resource.setup(setup) on delete cascade
);
-- Jobs that ended long ago.
create index job_ended on instance.job (setup, ended_at) where (state = any (array['finished'::text,
  'cancelled'::text]));
-- What stands for a job of TaskQueues: one job.
create unique index job_of_taskqueue on instance.job (setup, taskqueue_job_id) where (taskqueue_job_id is not null);
-- Jobs that an instance has.
create index job_placed on instance.job (setup, instance_id) where (state = 'placed'::text);
-- Jobs of a task that are on no instance.
create index job_unplaced on instance.job (setup, task_id) where (state = any (array['waiting'::text,
  'unschedulable'::text]));

-- How instances are scheduled in a setup (instance.set_settings); a setup without a row has the defaults.
create table instance.setting (
  setup text not null,  -- Tenant.
  most_instances integer,  -- Instances of the setup that are not released, at most; null = no limit.
  -- Instances of each task without a limit of its own that are not released, at most; null = no limit.
  most_per_task integer,
  -- Which jobs are placed first: dearest or cheapest, by the price of the instance that each requires.
  first text default 'dearest'::text not null,
  constraint setting_pkey primary key (setup),
  constraint setting_first_check check (first = any (array['dearest'::text, 'cheapest'::text])),  -- dearest or cheapest
  constraint setting_most_instances_check check (most_instances >= 0),  -- 0 or more
  constraint setting_most_per_task_check check (most_per_task >= 0),  -- 0 or more
  constraint setting_setup_fkey foreign key (setup) references resource.setup(setup) on delete cascade
);

-- How many instances a task may have, where it has a limit of its own (instance.set_task_limit).
create table instance.task_limit (
  setup text not null,  -- Tenant.
  task_id bigint not null,  -- Task.
  most_instances integer not null,  -- Instances that are not released at most.
  constraint task_limit_pkey primary key (setup, task_id),
  constraint task_limit_most_instances_check check (most_instances >= 0),
  constraint task_limit_setup_fkey foreign key (setup) references resource.setup(setup) on delete cascade
);
