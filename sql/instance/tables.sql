-- Tables, types and sequences of the schema instance, as a fresh install on PostgreSQL 18 has them, to be read.
-- Nobody edits or runs this file: migrations/ makes the tables, `broker db schema --write` writes the file.

create sequence instance.instance_id;
comment on sequence instance.instance_id is 'Numbers of instances that instance.schedule requests.';

create sequence instance.job_id;
comment on sequence instance.job_id is 'Numbers of jobs that are added without one.';

create table instance.instance (
  setup text not null,
  instance_id bigint not null,
  type text not null,
  task_id bigint,
  state text default 'running'::text not null,
  queue text,
  cpu numeric,
  ram numeric,
  price numeric,
  used_cpu numeric default 0 not null,
  used_ram numeric default 0 not null,
  requested_at timestamp with time zone,
  started_at timestamp with time zone,
  released_at timestamp with time zone,
  constraint instance_pkey primary key (setup, instance_id),
  constraint instance_cpu_allowed check (cpu > 0::numeric and cpu < '1000000000'::numeric),
  constraint instance_cpu_used check (used_cpu >= 0::numeric and used_cpu <= coalesce(cpu, used_cpu)),
  constraint instance_instance_id_allowed check (instance_id >= 1 and instance_id::numeric <=
    '1000000000000000000'::numeric),
  constraint instance_price_allowed check (price >= 0::numeric and price < '1000000000000000'::numeric),
  constraint instance_ram_allowed check (ram > 0::numeric and ram < '1000000000000000'::numeric),
  constraint instance_ram_used check (used_ram >= 0::numeric and used_ram <= coalesce(ram, used_ram)),
  constraint instance_state_check check (state = any (array['requested'::text, 'running'::text, 'released'::text])),
  constraint instance_setup_fkey foreign key (setup) references resource.setup(setup) on delete cascade
);
create index instance_live on instance.instance (setup, task_id) where (state <> 'released'::text);
create index instance_released on instance.instance (setup, released_at) where (state = 'released'::text);
comment on table instance.instance is
  'Computation instances: rented machines that jobs are packed onto. What is free on one follows from its type and its'
  ' jobs.';
comment on column instance.instance.setup is 'Tenant: DIRAC''s Setup, PanDA''s vo.';
comment on column instance.instance.instance_id is 'Number of the instance.';
comment on column instance.instance.type is 'Its type (resource.instance_type).';
comment on column instance.instance.task_id is 'Task that it was requested for; null = any may use it.';
comment on column instance.instance.state is 'requested, running or released.';
comment on column instance.instance.queue is
  'PanDA queue of kind cloud whose jobs it takes; null = it takes those that instance.add_jobs added.';
comment on column instance.instance.cpu is 'Cores that it has; null = what its type says when it is loaded.';
comment on column instance.instance.ram is 'Memory that it has (MB); null = what its type says when it is loaded.';
comment on column instance.instance.price is 'Price per hour; null = what its type says when it is loaded.';
comment on column instance.instance.used_cpu is 'Cores of the jobs that are placed on it.';
comment on column instance.instance.used_ram is 'Memory (MB) of the jobs that are placed on it.';
comment on column instance.instance.requested_at is 'When it was requested; null = not known.';
comment on column instance.instance.started_at is 'When it was there; null = not yet, or not known.';
comment on column instance.instance.released_at is 'When it was released; null = not yet, or not known.';
comment on constraint instance_cpu_allowed on instance.instance is 'more than 0 and less than 1e9';
comment on constraint instance_cpu_used on instance.instance is 'jobs use at most the cores that it has';
comment on constraint instance_instance_id_allowed on instance.instance is '1 to 1e18';
comment on constraint instance_price_allowed on instance.instance is '0 or more, and less than 1e15';
comment on constraint instance_ram_allowed on instance.instance is 'more than 0 and less than 1e15';
comment on constraint instance_ram_used on instance.instance is 'jobs use at most the memory that it has';
comment on constraint instance_state_check on instance.instance is 'requested, running or released';
comment on index instance.instance_live is 'Instances that a task has: what jobs are placed on.';
comment on index instance.instance_released is 'Instances that were released long ago.';

create table instance.job (
  setup text not null,
  job_id bigint not null,
  task_id bigint,
  cpu numeric,
  cpu_expression text,
  ram numeric,
  ram_expression text,
  instance_type text,
  instance_id bigint,
  state text default 'waiting'::text not null,
  inputs jsonb default '{}'::jsonb not null,
  queue text,
  taskqueue_job_id bigint,
  reason text,
  placed_at timestamp with time zone,
  ended_at timestamp with time zone,
  constraint job_pkey primary key (setup, job_id),
  constraint job_cpu_check check (cpu >= 0::numeric and cpu < '1000000000'::numeric),
  constraint job_inputs_check check (jsonb_typeof(inputs) = 'object'::text),
  constraint job_job_id_allowed check (job_id >= 1 and job_id::numeric <= '1000000000000000000'::numeric),
  constraint job_ram_check check (ram >= 0::numeric and ram < '1000000000000000'::numeric),
  constraint job_state_allowed check (state = any (array['waiting'::text, 'placed'::text, 'finished'::text,
    'cancelled'::text, 'unschedulable'::text])),
  constraint job_setup_fkey foreign key (setup) references resource.setup(setup) on delete cascade
);
create index job_ended on instance.job (setup, ended_at) where (state = any (array['finished'::text,
  'cancelled'::text]));
create unique index job_of_taskqueue on instance.job (setup, taskqueue_job_id) where (taskqueue_job_id is not null);
create index job_placed on instance.job (setup, instance_id) where (state = 'placed'::text);
create index job_unplaced on instance.job (setup, task_id) where (state = any (array['waiting'::text,
  'unschedulable'::text]));
comment on table instance.job is
  'Jobs of tasks to be packed onto instances. What a job needs is a number, or an expression of its inputs until they '
  'are known.';
comment on column instance.job.setup is 'Tenant: DIRAC''s Setup, PanDA''s vo.';
comment on column instance.job.job_id is 'Number of the job.';
comment on column instance.job.task_id is 'Task.';
comment on column instance.job.cpu is 'Cores that it needs; null = not known yet.';
comment on column instance.job.cpu_expression is
  'Cores as an expression of inputs, such as ceil(size / 1000); null = a number was given, or nothing.';
comment on column instance.job.ram is 'Memory that it needs (MB); null = not known yet.';
comment on column instance.job.ram_expression is
  'Memory (MB) as an expression of inputs, such as 2 * size; null = a number was given, or nothing.';
comment on column instance.job.instance_type is 'Type that its instance must have, the hint; null = any that fits.';
comment on column instance.job.instance_id is 'Instance that it is placed on; null = on none.';
comment on column instance.job.state is
  'waiting, placed, finished, cancelled, or unschedulable (no type can take it; reason says what is short).';
comment on column instance.job.inputs is
  'Named inputs that expressions read, as far as they are known: name to number.';
comment on column instance.job.queue is 'PanDA queue of kind cloud that it waits at; null = none.';
comment on column instance.job.taskqueue_job_id is
  'Job of TaskQueues that it stands for (instance.follow_taskqueues); null = none.';
comment on column instance.job.reason is
  'Why it is placed there, waits, or is unschedulable; null = no schedule has looked at it.';
comment on column instance.job.placed_at is 'When it was placed; null = it is on no instance, or not known.';
comment on column instance.job.ended_at is 'When it finished or was cancelled; null = not yet, or not known.';
comment on constraint job_cpu_check on instance.job is '0 or more, and less than 1e9';
comment on constraint job_inputs_check on instance.job is 'an object';
comment on constraint job_job_id_allowed on instance.job is '1 to 1e18';
comment on constraint job_ram_check on instance.job is '0 or more, and less than 1e15';
comment on constraint job_state_allowed on instance.job is 'waiting, placed, finished, cancelled or unschedulable';
comment on index instance.job_ended is 'Jobs that ended long ago.';
comment on index instance.job_of_taskqueue is 'What stands for a job of TaskQueues: one job.';
comment on index instance.job_placed is 'Jobs that an instance has.';
comment on index instance.job_unplaced is 'Jobs of a task that are on no instance.';

create table instance.setting (
  setup text not null,
  most_instances integer,
  most_per_task integer,
  first text default 'dearest'::text not null,
  constraint setting_pkey primary key (setup),
  constraint setting_first_check check (first = any (array['dearest'::text, 'cheapest'::text])),
  constraint setting_most_instances_check check (most_instances >= 0),
  constraint setting_most_per_task_check check (most_per_task >= 0),
  constraint setting_setup_fkey foreign key (setup) references resource.setup(setup) on delete cascade
);
comment on table instance.setting is
  'How instances are scheduled in a setup (instance.set_settings); a setup without a row has the defaults.';
comment on column instance.setting.setup is 'Tenant.';
comment on column instance.setting.most_instances is
  'Instances of the setup that are not released, at most; null = no limit.';
comment on column instance.setting.most_per_task is
  'Instances of each task without a limit of its own that are not released, at most; null = no limit.';
comment on column instance.setting.first is
  'Which jobs are placed first: dearest or cheapest, by the price of the instance that each requires.';
comment on constraint setting_first_check on instance.setting is 'dearest or cheapest';
comment on constraint setting_most_instances_check on instance.setting is '0 or more';
comment on constraint setting_most_per_task_check on instance.setting is '0 or more';

create table instance.task_limit (
  setup text not null,
  task_id bigint not null,
  most_instances integer not null,
  constraint task_limit_pkey primary key (setup, task_id),
  constraint task_limit_most_instances_check check (most_instances >= 0),
  constraint task_limit_setup_fkey foreign key (setup) references resource.setup(setup) on delete cascade
);
comment on table instance.task_limit is
  'How many instances a task may have, where it has a limit of its own (instance.set_task_limit).';
comment on column instance.task_limit.setup is 'Tenant.';
comment on column instance.task_limit.task_id is 'Task.';
comment on column instance.task_limit.most_instances is 'Instances that are not released at most.';
