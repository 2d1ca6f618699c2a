-- The database as it is: a fresh install, written by pg_dump 18. Nobody edits or runs this file; it is here to be
-- read, and so that every change shows in review. `broker db schema --write` writes it, a test fails when it is stale.

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET transaction_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

CREATE SCHEMA brokerage;

ALTER SCHEMA brokerage OWNER TO broker_owner;

COMMENT ON SCHEMA brokerage IS 'Candidates, rules, weights, profiles and decisions; early binding. Knows resource, workload.';

CREATE SCHEMA instance;

ALTER SCHEMA instance OWNER TO broker_owner;

COMMENT ON SCHEMA instance IS 'Machines to rent, and jobs packed onto them. Knows resource, workload.';

CREATE SCHEMA lifecycle;

ALTER SCHEMA lifecycle OWNER TO broker_owner;

COMMENT ON SCHEMA lifecycle IS 'Leases expiring, timeouts, rebrokerage. Knows workload, taskqueue, brokerage.';

CREATE SCHEMA monitor;

ALTER SCHEMA monitor OWNER TO broker_owner;

COMMENT ON SCHEMA monitor IS 'Views and explanations for people; knows all rooms, nobody knows it.';

CREATE SCHEMA resource;

ALTER SCHEMA resource OWNER TO broker_owner;

COMMENT ON SCHEMA resource IS 'Queues, storages, links, slots, configuration, shares, groups; what is installed here. Knows no other room.';

CREATE SCHEMA taskqueue;

ALTER SCHEMA taskqueue OWNER TO broker_owner;

COMMENT ON SCHEMA taskqueue IS 'TaskQueues, requirements and waiting jobs; one resource asks, one job is taken. Stands on its own.';

CREATE SCHEMA workload;

ALTER SCHEMA workload OWNER TO broker_owner;

COMMENT ON SCHEMA workload IS 'Tasks, datasets, replicas and jobs, their states, history and counts. Knows resource.';

CREATE TYPE taskqueue.leased AS (
	job_id bigint,
	task_queue_id bigint,
	requirements jsonb,
	user_priority integer,
	attempt text
);

ALTER TYPE taskqueue.leased OWNER TO broker_owner;

COMMENT ON TYPE taskqueue.leased IS 'The answer to a match.';

COMMENT ON COLUMN taskqueue.leased.job_id IS 'Job id, the same in every room of the setup.';

COMMENT ON COLUMN taskqueue.leased.task_queue_id IS 'TaskQueue it was taken from.';

COMMENT ON COLUMN taskqueue.leased.requirements IS 'Its requirements, canonical.';

COMMENT ON COLUMN taskqueue.leased.user_priority IS 'User priority 0..10; 0 is background.';

COMMENT ON COLUMN taskqueue.leased.attempt IS 'Attempt for the later calls about the job: number, hyphen, token.';

CREATE TYPE taskqueue.offer AS (
	owner_dn text,
	owner_groups text[],
	sharing_groups text[],
	cpu_time bigint,
	sites text[],
	grid_ces text[],
	platforms text[],
	job_types text[],
	pilot_types text[],
	tags text[],
	required_tags text[],
	banned_sites text[],
	banned_grid_ces text[],
	banned_platforms text[],
	banned_job_types text[],
	banned_tags text[],
	max_ram double precision,
	job_id bigint,
	limited boolean,
	reached bigint[]
);

ALTER TYPE taskqueue.offer OWNER TO broker_owner;

COMMENT ON TYPE taskqueue.offer IS 'A resource description, parsed and checked: what a JobAgent offers (section 4).';

COMMENT ON COLUMN taskqueue.offer.owner_dn IS 'Private pilot: the only owner it serves; null = by group, or generic.';

COMMENT ON COLUMN taskqueue.offer.owner_groups IS 'Private pilot: the groups it serves; null = no condition by group.';

COMMENT ON COLUMN taskqueue.offer.sharing_groups IS 'Those of owner_groups that have the property JobSharing.';

COMMENT ON COLUMN taskqueue.offer.cpu_time IS 'CPU time offered, seconds.';

COMMENT ON COLUMN taskqueue.offer.sites IS 'Sites; null = no condition, empty = offers none.';

COMMENT ON COLUMN taskqueue.offer.grid_ces IS 'Computing elements; null = no condition, empty = offers none.';

COMMENT ON COLUMN taskqueue.offer.platforms IS 'Platforms and what is compatible with them; null = no condition, empty = offers none.';

COMMENT ON COLUMN taskqueue.offer.job_types IS 'Job types; null = no condition, empty = offers none.';

COMMENT ON COLUMN taskqueue.offer.pilot_types IS 'Pilot types; empty = offers none.';

COMMENT ON COLUMN taskqueue.offer.tags IS 'Tags offered, processors included; null = no condition.';

COMMENT ON COLUMN taskqueue.offer.required_tags IS 'Tags that the queue must list.';

COMMENT ON COLUMN taskqueue.offer.banned_sites IS 'The queue may list none of these sites.';

COMMENT ON COLUMN taskqueue.offer.banned_grid_ces IS 'The queue may list none of these CEs.';

COMMENT ON COLUMN taskqueue.offer.banned_platforms IS 'The queue may list none of these platforms.';

COMMENT ON COLUMN taskqueue.offer.banned_job_types IS 'The queue may list none of these job types.';

COMMENT ON COLUMN taskqueue.offer.banned_tags IS 'The queue may list none of these tags.';

COMMENT ON COLUMN taskqueue.offer.max_ram IS 'Memory offered, MB; null = not said.';

COMMENT ON COLUMN taskqueue.offer.job_id IS 'Only this job; null = any.';

COMMENT ON COLUMN taskqueue.offer.limited IS 'Whether the site has limits.';

COMMENT ON COLUMN taskqueue.offer.reached IS 'Limits of the site that are reached.';

CREATE TYPE taskqueue.stream AS (
	number integer,
	seed bigint,
	entry integer,
	points integer,
	above double precision,
	task_queue_id bigint,
	definition_id bigint,
	turn bigint,
	jobs bigint,
	job_id bigint,
	user_priority smallint,
	attempt text
);

ALTER TYPE taskqueue.stream OWNER TO broker_owner;

COMMENT ON TYPE taskqueue.stream IS 'The draws of one job of a batch, and how far they are (section 5).';

COMMENT ON COLUMN taskqueue.stream.number IS 'The how-manieth job of the batch it is.';

COMMENT ON COLUMN taskqueue.stream.seed IS 'Seed of its draws.';

COMMENT ON COLUMN taskqueue.stream.entry IS 'Number of the CPU bucket in which a queue is drawn; 0 = all buckets are through.';

COMMENT ON COLUMN taskqueue.stream.points IS 'Points drawn in that bucket (taskqueue.queue_point).';

COMMENT ON COLUMN taskqueue.stream.above IS 'Key of the last point.';

COMMENT ON COLUMN taskqueue.stream.task_queue_id IS 'Queue that was drawn, of which a job is to be picked; null = none yet.';

COMMENT ON COLUMN taskqueue.stream.definition_id IS 'Definition of that queue.';

COMMENT ON COLUMN taskqueue.stream.turn IS 'The how-manieth of the batch to pick a job of that queue.';

COMMENT ON COLUMN taskqueue.stream.jobs IS 'Jobs of that queue when its turn had come, the one picked included.';

COMMENT ON COLUMN taskqueue.stream.job_id IS 'Job that was leased; null = none yet.';

COMMENT ON COLUMN taskqueue.stream.user_priority IS 'Its user priority.';

COMMENT ON COLUMN taskqueue.stream.attempt IS 'Its attempt, as the agent presents it.';

CREATE FUNCTION resource.caller() RETURNS text
    LANGUAGE sql STABLE
    AS $$
  select coalesce(nullif(current_setting('role'), 'none'), session_user)
$$;

ALTER FUNCTION resource.caller() OWNER TO broker_owner;

COMMENT ON FUNCTION resource.caller() IS 'The database role that calls: the one that was SET, else the one that logged in.';

CREATE FUNCTION resource.clear_identity(p_setup text, p_role_name text) RETURNS boolean
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'resource', 'pg_temp'
    AS $$
  with gone as (delete from resource.identity where setup = p_setup and role_name = p_role_name returning 1)
  select exists (select from gone)
$$;

ALTER FUNCTION resource.clear_identity(p_setup text, p_role_name text) OWNER TO broker_owner;

COMMENT ON FUNCTION resource.clear_identity(p_setup text, p_role_name text) IS 'Takes the use of a setup away from a database role; false when it had none.';

CREATE FUNCTION resource.clock(p_setup text) RETURNS timestamp with time zone
    LANGUAGE sql STABLE PARALLEL SAFE
    AS $$
  select coalesce((select t.now from resource.setup_time t where t.setup = p_setup), now())
$$;

ALTER FUNCTION resource.clock(p_setup text) OWNER TO broker_owner;

COMMENT ON FUNCTION resource.clock(p_setup text) IS 'The time of a setup: now(), or, for a simulated setup, the moment set with resource.set_clock.';

SET default_tablespace = '';

SET default_table_access_method = heap;

CREATE TABLE resource.identity (
    setup text NOT NULL,
    role_name text NOT NULL,
    private boolean DEFAULT false NOT NULL,
    owner_group text,
    owner_dn text,
    CONSTRAINT identity_private_names_somebody CHECK ((private = ((owner_group IS NOT NULL) OR (owner_dn IS NOT NULL))))
);

ALTER TABLE resource.identity OWNER TO broker_owner;

COMMENT ON TABLE resource.identity IS 'Who a database role is in a setup: looked up, not believed (architecture, Roles). No row, no access; operators need none.';

COMMENT ON COLUMN resource.identity.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN resource.identity.role_name IS 'Role that was SET, else the login.';

COMMENT ON COLUMN resource.identity.private IS 'Private pilot or submitter: bound to the owner group or owner named here, whatever the request says.';

COMMENT ON COLUMN resource.identity.owner_group IS 'Group the identity acts for; null = any group of the owner.';

COMMENT ON COLUMN resource.identity.owner_dn IS 'Owner the identity acts for; null = any of the group.';

CREATE FUNCTION resource.identify(p_setup text) RETURNS resource.identity
    LANGUAGE plpgsql STABLE
    AS $$
declare
  v_identity resource.identity;
begin
  select i.* into v_identity from resource.identity i where i.setup = p_setup and i.role_name = resource.caller();
  if not found then
    if p_setup is null or p_setup = '' then
      raise exception 'setup is %', coalesce(quote_literal(p_setup), 'null') using errcode = 'PB001', hint = 'Name the setup, for example default.';
    end if;
    if pg_has_role(resource.caller(), (select r.role_name from resource.house_role r where r.kind = 'operator'), 'member') is not true then
      raise exception 'role % may not use setup %', resource.caller(), p_setup
        using errcode = 'PB002', hint = 'An operator grants it with resource.set_identity.';
    end if;
    v_identity.setup := p_setup;
    v_identity.role_name := resource.caller();
    v_identity.private := false;
  end if;
  return v_identity;
end $$;

ALTER FUNCTION resource.identify(p_setup text) OWNER TO broker_owner;

COMMENT ON FUNCTION resource.identify(p_setup text) IS 'The identity of the caller in a setup. Operators need no row and are generic everywhere. Errors: PB001 (no setup), PB002 (setup not granted).';

CREATE FUNCTION resource.installed_release(OUT release text, OUT revision text) RETURNS record
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'resource', 'pg_temp'
    AS $$
  select h.release, v.version_num from resource.house h cross join resource.alembic_version v
$$;

ALTER FUNCTION resource.installed_release(OUT release text, OUT revision text) OWNER TO broker_owner;

COMMENT ON FUNCTION resource.installed_release(OUT release text, OUT revision text) IS 'Release and revision of what is installed here; a program refuses to work with a database newer than itself.';

CREATE FUNCTION resource.look(p_setup text) RETURNS resource.identity
    LANGUAGE plpgsql STABLE
    AS $$
declare
  v_identity resource.identity;
begin
  if p_setup <> '' and pg_has_role(resource.caller(), (select r.role_name from resource.house_role r where r.kind = 'viewer'), 'member') then
    v_identity.setup := p_setup;
    v_identity.role_name := resource.caller();
    v_identity.private := false;
    return v_identity;
  end if;
  return resource.identify(p_setup);
end $$;

ALTER FUNCTION resource.look(p_setup text) OWNER TO broker_owner;

COMMENT ON FUNCTION resource.look(p_setup text) IS 'The identity of the caller for calls that change nothing: a viewer is generic everywhere. Errors: PB001 (no setup), PB002 (setup not granted).';

CREATE FUNCTION resource.require_setup(p_setup text) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
  if not exists (select from resource.setup s where s.setup = p_setup) then
    if p_setup is null or p_setup = '' then
      raise exception 'setup is %', coalesce(quote_literal(p_setup), 'null') using errcode = 'PB001', hint = 'Name the setup, for example default.';
    end if;
    insert into resource.setup (setup) values (p_setup) on conflict do nothing;
  end if;
end $$;

ALTER FUNCTION resource.require_setup(p_setup text) OWNER TO broker_owner;

COMMENT ON FUNCTION resource.require_setup(p_setup text) IS 'Makes a setup where there is none. Errors: PB001.';

CREATE FUNCTION resource.set_clock(p_setup text, p_now timestamp with time zone) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'resource', 'pg_temp'
    AS $$
begin
  perform resource.require_setup(p_setup);
  update resource.setup set simulated = p_now where setup = p_setup;
end $$;

ALTER FUNCTION resource.set_clock(p_setup text, p_now timestamp with time zone) OWNER TO broker_owner;

COMMENT ON FUNCTION resource.set_clock(p_setup text, p_now timestamp with time zone) IS 'Sets the time of a simulated setup; null gives it real time again. For tests, what-if and simulation. Errors: PB001.';

CREATE FUNCTION resource.set_identity(p_setup text, p_role_name text, p_private boolean DEFAULT false, p_owner_group text DEFAULT NULL::text, p_owner_dn text DEFAULT NULL::text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'resource', 'pg_temp'
    AS $$
begin
  if p_private is distinct from (p_owner_group is not null or p_owner_dn is not null) then
    raise exception 'identity of % is %, but its owner group is % and its owner is %', p_role_name,
          case when p_private then 'private' else 'generic' end, coalesce(p_owner_group, 'not given'), coalesce(p_owner_dn, 'not given')
      using errcode = 'PB001', hint = 'A private identity names an owner group or an owner (or both), a generic one neither.';
  end if;
  if p_role_name is null or p_role_name = '' then
    raise exception 'role name is %', coalesce(quote_literal(p_role_name), 'null')
      using errcode = 'PB001', hint = 'Name the database role that the agent or submitter logs in with.';
  end if;
  perform resource.require_setup(p_setup);
  insert into resource.identity (setup, role_name, private, owner_group, owner_dn)
  values (p_setup, p_role_name, p_private, p_owner_group, p_owner_dn)
  on conflict (setup, role_name) do update
     set private = excluded.private, owner_group = excluded.owner_group, owner_dn = excluded.owner_dn;
end $$;

ALTER FUNCTION resource.set_identity(p_setup text, p_role_name text, p_private boolean, p_owner_group text, p_owner_dn text) OWNER TO broker_owner;

COMMENT ON FUNCTION resource.set_identity(p_setup text, p_role_name text, p_private boolean, p_owner_group text, p_owner_dn text) IS 'Grants a database role the use of a setup: generic, or private to an owner group, an owner, or both. Errors: PB001.';

CREATE TABLE taskqueue.definition (
    setup text NOT NULL,
    definition_id bigint NOT NULL,
    digest uuid NOT NULL,
    family uuid NOT NULL,
    requirements jsonb NOT NULL,
    owner_dn text NOT NULL,
    owner_group text NOT NULL,
    cpu_time bigint NOT NULL,
    min_ram double precision,
    pilot_types text[] NOT NULL,
    sites text[] NOT NULL,
    banned_sites text[] NOT NULL,
    grid_ces text[] NOT NULL,
    platforms text[] NOT NULL,
    job_types text[] NOT NULL,
    tags text[] NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    made_in xid8 DEFAULT pg_current_xact_id() NOT NULL,
    demands integer GENERATED ALWAYS AS (((((1 |
CASE
    WHEN (min_ram IS NULL) THEN 0
    ELSE 2
END) |
CASE
    WHEN (pilot_types = '{}'::text[]) THEN 0
    ELSE 4
END) |
CASE
    WHEN (job_types = '{}'::text[]) THEN 0
    ELSE 8
END) |
CASE
    WHEN (grid_ces = '{}'::text[]) THEN 0
    ELSE 16
END)) STORED NOT NULL
)
WITH (toast_tuple_target='8160');
ALTER TABLE ONLY taskqueue.definition ALTER COLUMN setup SET (n_distinct=1);

ALTER TABLE taskqueue.definition OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.definition IS 'The distinct requirements, shared by the TaskQueues that have them and by leases. Derived from the requirement tables (taskqueue.rebuild_matching makes it anew, taskqueue.check_matching compares); what matching compares.';

COMMENT ON COLUMN taskqueue.definition.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.definition.definition_id IS 'Definition.';

COMMENT ON COLUMN taskqueue.definition.digest IS 'md5 of the canonical requirements.';

COMMENT ON COLUMN taskqueue.definition.family IS 'md5 of the requirements without Sites, BannedSites, MinRAM and MaxRAM (section 9).';

COMMENT ON COLUMN taskqueue.definition.requirements IS 'Canonical requirements with DIRAC''s keys: CPUTime as its bucket, lists sorted and without duplicates, no empty list.';

COMMENT ON COLUMN taskqueue.definition.owner_dn IS 'OwnerDN.';

COMMENT ON COLUMN taskqueue.definition.owner_group IS 'OwnerGroup.';

COMMENT ON COLUMN taskqueue.definition.cpu_time IS 'CPU bucket, seconds.';

COMMENT ON COLUMN taskqueue.definition.min_ram IS 'MinRAM, MB.';

COMMENT ON COLUMN taskqueue.definition.pilot_types IS 'PilotTypes, sorted.';

COMMENT ON COLUMN taskqueue.definition.sites IS 'Sites, sorted; empty = any.';

COMMENT ON COLUMN taskqueue.definition.banned_sites IS 'BannedSites, sorted.';

COMMENT ON COLUMN taskqueue.definition.grid_ces IS 'GridCEs, sorted; empty = any.';

COMMENT ON COLUMN taskqueue.definition.platforms IS 'Platforms, sorted; empty = any.';

COMMENT ON COLUMN taskqueue.definition.job_types IS 'JobTypes, sorted; empty = any.';

COMMENT ON COLUMN taskqueue.definition.tags IS 'Tags, sorted; all must be offered.';

COMMENT ON COLUMN taskqueue.definition.created_at IS 'When these requirements were first seen.';

COMMENT ON COLUMN taskqueue.definition.made_in IS 'Transaction that wrote the row.';

COMMENT ON COLUMN taskqueue.definition.demands IS 'Bits: 1 always, 2 MinRAM, 4 PilotTypes, 8 JobTypes, 16 GridCEs asked for; see taskqueue.known_offer.tests.';

CREATE FUNCTION taskqueue.accepts(p_definition taskqueue.definition, p_offer taskqueue.offer) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
  select taskqueue.accepts_cpu_time(p_definition, p_offer)
     and taskqueue.accepts_owner(p_definition, p_offer)
     and taskqueue.accepts_ram(p_definition, p_offer)
     and taskqueue.accepts_tag(p_definition, p_offer)
     and taskqueue.accepts_required_tag(p_definition, p_offer)
     and taskqueue.accepts_pilot_type(p_definition, p_offer)
     and taskqueue.accepts_job_type(p_definition, p_offer)
     and taskqueue.accepts_grid_ce(p_definition, p_offer)
     and taskqueue.accepts_site(p_definition, p_offer)
     and taskqueue.accepts_platform(p_definition, p_offer)
     and taskqueue.accepts_banned_site(p_definition, p_offer)
     and taskqueue.accepts_banned_grid_ce(p_definition, p_offer)
     and taskqueue.accepts_banned_platform(p_definition, p_offer)
     and taskqueue.accepts_banned_job_type(p_definition, p_offer)
     and taskqueue.accepts_banned_tag(p_definition, p_offer)
     and taskqueue.accepts_limits(p_definition, p_offer)
$$;

ALTER FUNCTION taskqueue.accepts(p_definition taskqueue.definition, p_offer taskqueue.offer) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.accepts(p_definition taskqueue.definition, p_offer taskqueue.offer) IS 'Whether a definition matches an offer: all conditions of section 4.';

CREATE FUNCTION taskqueue.accepts_banned_grid_ce(p_definition taskqueue.definition, p_offer taskqueue.offer) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
  select (p_offer).banned_grid_ces is null or not (p_definition).grid_ces && (p_offer).banned_grid_ces
$$;

ALTER FUNCTION taskqueue.accepts_banned_grid_ce(p_definition taskqueue.definition, p_offer taskqueue.offer) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.accepts_banned_grid_ce(p_definition taskqueue.definition, p_offer taskqueue.offer) IS 'Condition BannedGridCE: the queue lists none that the resource bans.';

CREATE FUNCTION taskqueue.accepts_banned_job_type(p_definition taskqueue.definition, p_offer taskqueue.offer) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
  select (p_offer).banned_job_types is null or not (p_definition).job_types && (p_offer).banned_job_types
$$;

ALTER FUNCTION taskqueue.accepts_banned_job_type(p_definition taskqueue.definition, p_offer taskqueue.offer) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.accepts_banned_job_type(p_definition taskqueue.definition, p_offer taskqueue.offer) IS 'Condition BannedJobType: the queue lists none that the resource bans.';

CREATE FUNCTION taskqueue.accepts_banned_platform(p_definition taskqueue.definition, p_offer taskqueue.offer) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
  select (p_offer).banned_platforms is null or not (p_definition).platforms && (p_offer).banned_platforms
$$;

ALTER FUNCTION taskqueue.accepts_banned_platform(p_definition taskqueue.definition, p_offer taskqueue.offer) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.accepts_banned_platform(p_definition taskqueue.definition, p_offer taskqueue.offer) IS 'Condition BannedPlatform: the queue lists none that the resource bans.';

CREATE FUNCTION taskqueue.accepts_banned_site(p_definition taskqueue.definition, p_offer taskqueue.offer) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
  select (p_offer).banned_sites is null or not (p_definition).sites && (p_offer).banned_sites
$$;

ALTER FUNCTION taskqueue.accepts_banned_site(p_definition taskqueue.definition, p_offer taskqueue.offer) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.accepts_banned_site(p_definition taskqueue.definition, p_offer taskqueue.offer) IS 'Condition BannedSite: the queue lists none that the resource bans.';

CREATE FUNCTION taskqueue.accepts_banned_tag(p_definition taskqueue.definition, p_offer taskqueue.offer) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
  select (p_offer).banned_tags is null or not (p_definition).tags && (p_offer).banned_tags
$$;

ALTER FUNCTION taskqueue.accepts_banned_tag(p_definition taskqueue.definition, p_offer taskqueue.offer) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.accepts_banned_tag(p_definition taskqueue.definition, p_offer taskqueue.offer) IS 'Condition BannedTag: the queue lists none that the resource bans.';

CREATE FUNCTION taskqueue.accepts_cpu_time(p_definition taskqueue.definition, p_offer taskqueue.offer) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
  select (p_definition).cpu_time <= (p_offer).cpu_time
$$;

ALTER FUNCTION taskqueue.accepts_cpu_time(p_definition taskqueue.definition, p_offer taskqueue.offer) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.accepts_cpu_time(p_definition taskqueue.definition, p_offer taskqueue.offer) IS 'Condition CPUTime: the queue''s bucket is at most the CPU time offered, seconds.';

CREATE FUNCTION taskqueue.accepts_grid_ce(p_definition taskqueue.definition, p_offer taskqueue.offer) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
  select (p_offer).grid_ces is null or cardinality((p_definition).grid_ces) = 0 or (p_definition).grid_ces && (p_offer).grid_ces
$$;

ALTER FUNCTION taskqueue.accepts_grid_ce(p_definition taskqueue.definition, p_offer taskqueue.offer) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.accepts_grid_ce(p_definition taskqueue.definition, p_offer taskqueue.offer) IS 'Condition GridCE: the queue lists none, or one that is offered.';

CREATE FUNCTION taskqueue.accepts_job_type(p_definition taskqueue.definition, p_offer taskqueue.offer) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
  select (p_offer).job_types is null or cardinality((p_definition).job_types) = 0 or (p_definition).job_types && (p_offer).job_types
$$;

ALTER FUNCTION taskqueue.accepts_job_type(p_definition taskqueue.definition, p_offer taskqueue.offer) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.accepts_job_type(p_definition taskqueue.definition, p_offer taskqueue.offer) IS 'Condition JobType: the queue lists none, or one that is offered.';

CREATE FUNCTION taskqueue.accepts_limits(p_definition taskqueue.definition, p_offer taskqueue.offer) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
  select (p_offer).reached is null or not taskqueue.reaches((p_definition).requirements, (p_offer).reached, (p_definition).setup)
$$;

ALTER FUNCTION taskqueue.accepts_limits(p_definition taskqueue.definition, p_offer taskqueue.offer) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.accepts_limits(p_definition taskqueue.definition, p_offer taskqueue.offer) IS 'Condition Limits: no value of the queue is at a limit of the site.';

CREATE FUNCTION taskqueue.accepts_owner(p_definition taskqueue.definition, p_offer taskqueue.offer) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
  select case
    when (p_offer).owner_groups is null then (p_offer).owner_dn is null or (p_definition).owner_dn = (p_offer).owner_dn
    else (p_definition).owner_group = any ((p_offer).owner_groups)
         and ((p_offer).owner_dn is null or (p_definition).owner_dn = (p_offer).owner_dn or (p_definition).owner_group = any ((p_offer).sharing_groups))
  end
$$;

ALTER FUNCTION taskqueue.accepts_owner(p_definition taskqueue.definition, p_offer taskqueue.offer) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.accepts_owner(p_definition taskqueue.definition, p_offer taskqueue.offer) IS 'Condition Owner: a private pilot takes jobs of its groups, and in groups without JobSharing only its owner''s.';

CREATE FUNCTION taskqueue.accepts_pilot_type(p_definition taskqueue.definition, p_offer taskqueue.offer) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
  select cardinality((p_definition).pilot_types) = 0 or (p_definition).pilot_types && (p_offer).pilot_types
$$;

ALTER FUNCTION taskqueue.accepts_pilot_type(p_definition taskqueue.definition, p_offer taskqueue.offer) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.accepts_pilot_type(p_definition taskqueue.definition, p_offer taskqueue.offer) IS 'Condition PilotType: the queue lists none, or one that is offered; nothing offered is no match.';

CREATE FUNCTION taskqueue.accepts_platform(p_definition taskqueue.definition, p_offer taskqueue.offer) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
  select (p_offer).platforms is null or cardinality((p_definition).platforms) = 0 or (p_definition).platforms && (p_offer).platforms
$$;

ALTER FUNCTION taskqueue.accepts_platform(p_definition taskqueue.definition, p_offer taskqueue.offer) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.accepts_platform(p_definition taskqueue.definition, p_offer taskqueue.offer) IS 'Condition Platform: the queue lists none, or one that is offered.';

CREATE FUNCTION taskqueue.accepts_ram(p_definition taskqueue.definition, p_offer taskqueue.offer) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
  select (p_definition).min_ram is null or (p_offer).max_ram is null or (p_definition).min_ram <= (p_offer).max_ram
$$;

ALTER FUNCTION taskqueue.accepts_ram(p_definition taskqueue.definition, p_offer taskqueue.offer) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.accepts_ram(p_definition taskqueue.definition, p_offer taskqueue.offer) IS 'Condition MaxRAM: MinRAM of the queue is at most the memory offered, MB, where the resource says it.';

CREATE FUNCTION taskqueue.accepts_required_tag(p_definition taskqueue.definition, p_offer taskqueue.offer) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
  select (p_offer).required_tags is null or (p_offer).required_tags <@ (p_definition).tags
$$;

ALTER FUNCTION taskqueue.accepts_required_tag(p_definition taskqueue.definition, p_offer taskqueue.offer) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.accepts_required_tag(p_definition taskqueue.definition, p_offer taskqueue.offer) IS 'Condition RequiredTag: every tag that the resource requires is among the queue''s.';

CREATE FUNCTION taskqueue.accepts_site(p_definition taskqueue.definition, p_offer taskqueue.offer) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
  select case
    when (p_offer).sites is null then true
    when cardinality((p_definition).sites) = 0 and (cardinality((p_definition).banned_sites) = 0 or cardinality((p_offer).sites) = 0) then true
    when cardinality((p_offer).sites) = 1 then
      (cardinality((p_definition).sites) = 0 or (p_offer).sites[1] = any ((p_definition).sites)) and not (p_offer).sites[1] = any ((p_definition).banned_sites)
    else taskqueue.first_site((p_offer).sites, (p_definition).sites, (p_definition).banned_sites) is not null
  end
$$;

ALTER FUNCTION taskqueue.accepts_site(p_definition taskqueue.definition, p_offer taskqueue.offer) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.accepts_site(p_definition taskqueue.definition, p_offer taskqueue.offer) IS 'Condition Site: an offered site is listed (or none is) and not banned.';

CREATE FUNCTION taskqueue.accepts_tag(p_definition taskqueue.definition, p_offer taskqueue.offer) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
  select cardinality((p_definition).tags) = 0 or (p_offer).tags is null or (p_definition).tags <@ (p_offer).tags
$$;

ALTER FUNCTION taskqueue.accepts_tag(p_definition taskqueue.definition, p_offer taskqueue.offer) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.accepts_tag(p_definition taskqueue.definition, p_offer taskqueue.offer) IS 'Condition Tag: every tag of the queue is offered.';

CREATE FUNCTION taskqueue.answer_given(p_identity resource.identity, p_request_id uuid, p_call text, p_asked uuid) RETURNS jsonb
    LANGUAGE plpgsql
    AS $$
declare
  v_request taskqueue.request;
begin
  if p_request_id is null then
    return null;
  end if;
  perform pg_advisory_xact_lock(hashtextextended(p_identity.setup || p_identity.role_name || p_request_id, 1));
  select r.* into v_request from taskqueue.request r
   where r.setup = p_identity.setup and r.role_name = p_identity.role_name and r.request_id = p_request_id
     and r.made_at > resource.clock(p_identity.setup) - interval '10 minutes';
  if not found then
    return null;
  end if;
  if v_request.call <> p_call or v_request.asked is distinct from p_asked then
    raise exception 'request id % was used for another call (%) within ten minutes', p_request_id, v_request.call
      using errcode = 'PB001', hint = 'Use a new request id for each call, the same only to repeat it.';
  end if;
  return v_request.answer;
end $$;

ALTER FUNCTION taskqueue.answer_given(p_identity resource.identity, p_request_id uuid, p_call text, p_asked uuid) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.answer_given(p_identity resource.identity, p_request_id uuid, p_call text, p_asked uuid) IS 'The answer of a request made within ten minutes; null = none, or no request id. Errors: PB001 (the id was used for another call).';

CREATE FUNCTION taskqueue.attempt_text(p_number integer, p_token uuid) RETURNS text
    LANGUAGE sql STABLE
    AS $$
  select p_number::text || '-' || replace(p_token::text, '-', '')
$$;

ALTER FUNCTION taskqueue.attempt_text(p_number integer, p_token uuid) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.attempt_text(p_number integer, p_token uuid) IS 'The attempt as clients see it: number, hyphen, token in 32 hexadecimal digits.';

CREATE FUNCTION taskqueue.attribute_key(p_attribute text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE
    AS $$
declare
  v_key text;
begin
  select k into v_key
    from unnest('{OwnerDN,OwnerGroup,CPUTime,SubmitPools,PilotTypes,GridMiddlewares,Sites,BannedSites,GridCEs,Platforms,JobTypes,Tags,MinRAM,MaxRAM}'::text[]) k
   where k = p_attribute or k = p_attribute || 's' or k = 'OwnerDN' and p_attribute = 'Owner' or k = 'Platforms' and p_attribute in ('LHCbPlatform', 'LHCbPlatforms');
  if v_key is null then
    raise exception 'attribute % is not known', coalesce(quote_literal(p_attribute), 'null')
      using errcode = 'PB001', hint = 'Known: OwnerDN, OwnerGroup, CPUTime, SubmitPools, PilotTypes, GridMiddlewares, Sites, BannedSites, GridCEs, Platforms, JobTypes, Tags, MinRAM, MaxRAM, and their singular forms.';
  end if;
  return v_key;
end $$;

ALTER FUNCTION taskqueue.attribute_key(p_attribute text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.attribute_key(p_attribute text) IS 'The requirement key that an attribute of a limit names (JobType: JobTypes). Errors: PB001.';

CREATE FUNCTION taskqueue.band_of(p_priority double precision) RETURNS integer
    LANGUAGE sql IMMUTABLE
    AS $$
  select ceil(4 * ln(p_priority) / ln(2::float8))::int
$$;

ALTER FUNCTION taskqueue.band_of(p_priority double precision) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.band_of(p_priority double precision) IS 'The band of priorities that a queue is listed in (taskqueue.posting_list).';

CREATE FUNCTION taskqueue.cancel_job(p_setup text, p_job_id bigint, p_reason text DEFAULT 'cancelled'::text) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'taskqueue', 'pg_temp'
    AS $$
declare
  v_identity resource.identity := resource.identify(p_setup);
  v_lease taskqueue.lease;
begin
  if p_reason is null or p_reason = '' then
    raise exception 'reason is %', coalesce(quote_literal(p_reason), 'null') using errcode = 'PB001', hint = 'Say why, the agent is told.';
  end if;
  perform taskqueue.enter(p_setup);
  loop
    if taskqueue.end_waiting(p_setup, p_job_id, 'cancelled', v_identity) is not null then
      return 'ended';
    end if;
    update taskqueue.lease l set kill_reason = p_reason where l.setup = p_setup and l.job_id = p_job_id returning l.* into v_lease;
    if found then
      perform taskqueue.may_touch(v_identity, p_job_id, v_lease.definition_id);
      perform taskqueue.note_event(v_lease, 'kill asked');
      return 'kill asked';
    end if;
    -- between the two it may have gone back to waiting: then once more
    if not exists (select from taskqueue.job j where j.setup = p_setup and j.job_id = p_job_id) then
      raise exception 'job % neither waits nor is leased in setup %', coalesce(p_job_id::text, 'null'), p_setup
        using errcode = 'PB004', hint = 'It has ended, or was never inserted.';
    end if;
  end loop;
end $$;

ALTER FUNCTION taskqueue.cancel_job(p_setup text, p_job_id bigint, p_reason text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.cancel_job(p_setup text, p_job_id bigint, p_reason text) IS 'Ends a waiting job (answer: ended), or marks a leased one for kill (answer: kill asked): its agent is told at its next report. Errors: PB001 (no reason), PB002 (setup or owner not granted), PB004 (no such job).';

CREATE FUNCTION taskqueue.canonical_requirements(p_setup text, p_requirements jsonb) RETURNS jsonb
    LANGUAGE plpgsql STABLE
    AS $$
declare
  v_out jsonb := jsonb '{}';
  v_key text;
  v_value jsonb;
  v_texts text[];
begin
  -- What a definition holds is in that form: looking it up takes 4 us, working it out 25.
  if exists (select from taskqueue.definition d
              where d.setup = p_setup and d.digest = md5(p_requirements::text)::uuid and d.requirements = p_requirements) then
    return p_requirements;
  end if;
  if jsonb_typeof(p_requirements) is distinct from 'object' then
    raise exception 'requirements are %, not a JSON object', coalesce(p_requirements::text, 'null')
      using errcode = 'PB001', hint = 'Give an object with OwnerDN, OwnerGroup and CPUTime at least.';
  end if;
  for v_key, v_value in select e.key, e.value from jsonb_each(p_requirements) e loop
    case v_key
      when 'Setup' then
        if taskqueue.one_text(v_key, v_value) <> p_setup then
          raise exception 'Setup is %, but the job goes to setup %', v_value, p_setup
            using errcode = 'PB001', hint = 'Leave Setup out of the requirements, or name the same.';
        end if;
        continue;
      when 'Owner', 'OwnerDN' then
        if v_out ? 'OwnerDN' and v_out ->> 'OwnerDN' <> taskqueue.one_text(v_key, v_value) then
          raise exception 'Owner is % and OwnerDN is %: they differ', p_requirements -> 'Owner', p_requirements -> 'OwnerDN'
            using errcode = 'PB001', hint = 'Owner is another name of OwnerDN; give one of them.';
        end if;
        v_out := v_out || jsonb_build_object('OwnerDN', taskqueue.one_text(v_key, v_value));
      when 'OwnerGroup' then
        v_out := v_out || jsonb_build_object(v_key, taskqueue.one_text(v_key, v_value));
      when 'CPUTime' then
        v_out := v_out || jsonb_build_object(v_key, taskqueue.cpu_bucket_of(p_setup, taskqueue.one_number(v_key, v_value)));
      when 'MinRAM', 'MaxRAM' then
        if v_value <> 'null' then
          v_out := v_out || jsonb_build_object(v_key, taskqueue.one_number(v_key, v_value)::float8);
        end if;
      when 'SubmitPools', 'GridMiddlewares', 'PilotTypes', 'Sites', 'BannedSites', 'GridCEs', 'Platforms', 'LHCbPlatforms', 'JobTypes', 'Tags' then
        v_texts := taskqueue.texts(v_key, v_value);
        if v_key = 'LHCbPlatforms' and p_requirements ? 'Platforms' and v_texts <> taskqueue.texts('Platforms', p_requirements -> 'Platforms') then
          raise exception 'LHCbPlatforms is % and Platforms is %: they differ', v_value, p_requirements -> 'Platforms'
            using errcode = 'PB001', hint = 'LHCbPlatforms is another name of Platforms; give one of them.';
        end if;
        if v_texts <> '{}' then
          v_out := v_out || jsonb_build_object(case v_key when 'LHCbPlatforms' then 'Platforms' else v_key end, to_jsonb(v_texts));
        end if;
      else
        raise exception 'requirement % (value %) is not known', v_key, v_value
          using errcode = 'PB001', hint = 'Known: Setup, OwnerDN (Owner), OwnerGroup, CPUTime, SubmitPools, GridMiddlewares, PilotTypes, Sites, BannedSites, GridCEs, Platforms (LHCbPlatforms), JobTypes, Tags, MinRAM, MaxRAM.';
    end case;
  end loop;
  foreach v_key in array array['OwnerDN', 'OwnerGroup', 'CPUTime'] loop
    if not v_out ? v_key then
      raise exception '% is missing in the requirements %', v_key, p_requirements
        using errcode = 'PB001', hint = 'OwnerDN (or Owner), OwnerGroup and CPUTime are required.';
    end if;
  end loop;
  if (v_out ->> 'MinRAM')::float8 > (v_out ->> 'MaxRAM')::float8 then
    raise exception 'MinRAM is % MB, above MaxRAM, which is % MB', v_out -> 'MinRAM', v_out -> 'MaxRAM'
      using errcode = 'PB001', hint = 'MinRAM may be at most MaxRAM.';
  end if;
  return v_out;
end $$;

ALTER FUNCTION taskqueue.canonical_requirements(p_setup text, p_requirements jsonb) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.canonical_requirements(p_setup text, p_requirements jsonb) IS 'The requirements in the one form that TaskQueues are compared by: aliases resolved, CPUTime as its bucket (s), lists as sorted sets, empty ones left out, RAM in MB. Errors: PB001, naming key and value (section 3).';

CREATE FUNCTION taskqueue.ceiling_of_band(p_band integer) RETURNS double precision
    LANGUAGE sql IMMUTABLE
    AS $$
  select power(2::float8, p_band / 4.0::float8) * 1.000000001
$$;

ALTER FUNCTION taskqueue.ceiling_of_band(p_band integer) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.ceiling_of_band(p_band integer) IS 'Upper end of a band of priorities (taskqueue.band_of).';

CREATE FUNCTION taskqueue.check_batch(p_jobs jsonb) RETURNS bigint
    LANGUAGE plpgsql IMMUTABLE
    AS $_$
declare
  v_bad jsonb;
  v_ids bigint[];
  v_count bigint;
begin
  if jsonb_typeof(p_jobs) is distinct from 'array' then
    raise exception 'jobs are %, not a JSON array', coalesce(left(p_jobs::text, 100), 'null')
      using errcode = 'PB001', hint = 'Give an array of {job_id, requirements, user_priority} or {requirements, jobs}.';
  end if;
  select e into v_bad from jsonb_array_elements(p_jobs) e
   where jsonb_typeof(e) <> 'object'
      or e - '{job_id,requirements,user_priority}'::text[] <> '{}' and e - '{requirements,jobs}'::text[] <> '{}'
      or not e ? 'requirements'
      or jsonb_typeof(coalesce(e -> 'jobs', '[]')) <> 'array'
      or e @? 'strict $.jobs[*] ? (@.type() != "array" || @.size() < 1 || @.size() > 2)'
   limit 1;
  if found then
    raise exception 'this element is not a job nor a group of jobs: %', left(v_bad::text, 200)
      using errcode = 'PB001', hint = 'An element is {job_id, requirements, user_priority} or {requirements, jobs: [[id, user_priority], ...]}.';
  end if;
  select array_agg(taskqueue.job_id(n.id)), count(taskqueue.job_priority(taskqueue.job_id(n.id), taskqueue.one_number('user_priority of job ' || n.id::text, n.priority)))
    into v_ids, v_count
    from jsonb_array_elements(p_jobs) e
   cross join lateral (
          select e -> 'job_id' as id, coalesce(e -> 'user_priority', '1') as priority where not e ? 'jobs'
          union all
          select j -> 0, coalesce(j -> 1, '1') from jsonb_array_elements(e -> 'jobs') j) n;
  if v_count > 100000 then
    raise exception '% jobs in one call', v_count using errcode = 'PB001', hint = 'Up to 100,000 jobs a call; send several calls.';
  end if;
  if v_count > (select count(distinct i) from unnest(v_ids) i) then
    raise exception 'job_id % stands more than once', (select i from unnest(v_ids) i group by i having count(*) > 1 order by i limit 1)
      using errcode = 'PB001', hint = 'Each job once a call.';
  end if;
  return v_count;
end $_$;

ALTER FUNCTION taskqueue.check_batch(p_jobs jsonb) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.check_batch(p_jobs jsonb) IS 'How many jobs a batch holds, its shape, ids and user priorities checked. Errors: PB001, naming the element.';

CREATE FUNCTION taskqueue.check_matching(p_setup text) RETURNS TABLE(structure text, key text, expected text, found text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'taskqueue', 'pg_temp'
    AS $$
begin
  perform resource.look(p_setup);
  return query
    select 'definition', 'queue ' || q.task_queue_id, taskqueue.requirements_of_queue(q)::text, d.requirements::text
      from taskqueue.task_queue q join taskqueue.definition d on d.setup = q.setup and d.definition_id = q.definition_id
     where q.setup = p_setup and d.requirements <> taskqueue.requirements_of_queue(q)
    union all
    select 'definition', 'definition ' || d.definition_id, d.requirements::text, to_jsonb(d)::text
      from taskqueue.definition d
     where d.setup = p_setup
       and (d.digest, d.family, d.owner_dn, d.owner_group, d.cpu_time, d.min_ram, d.pilot_types, d.sites, d.banned_sites, d.grid_ces, d.platforms, d.job_types, d.tags)
           is distinct from
           (md5(d.requirements::text)::uuid, taskqueue.family_of(d.requirements), d.requirements ->> 'OwnerDN', d.requirements ->> 'OwnerGroup',
            (d.requirements ->> 'CPUTime')::bigint, (d.requirements ->> 'MinRAM')::float8, taskqueue.list_of(d.requirements, 'PilotTypes'),
            taskqueue.list_of(d.requirements, 'Sites'), taskqueue.list_of(d.requirements, 'BannedSites'), taskqueue.list_of(d.requirements, 'GridCEs'),
            taskqueue.list_of(d.requirements, 'Platforms'), taskqueue.list_of(d.requirements, 'JobTypes'), taskqueue.list_of(d.requirements, 'Tags'))
    union all
    select 'posting', format('queue %s at %L', coalesce(w.task_queue_id, p.task_queue_id), coalesce(w.site, p.site)), w::text, p::text
      from (select * from taskqueue.wanted_posting i where i.setup = p_setup) w
      full join (select i.*, count(*) over (partition by i.list_id, i.task_queue_id) as times from taskqueue.posted_queue i where i.setup = p_setup) p
           using (setup, site, cpu_time, band, task_queue_id)
     where (w is null or p is null or p.times > 1)
       and not exists (select from taskqueue.unposted u where u.setup = p_setup and u.task_queue_id = w.task_queue_id)
    union all
    select 'posting', format('queue %s', q.task_queue_id), 'posted', 'not posted'
      from taskqueue.task_queue q
     where q.setup = p_setup
       and q.posted <> exists (select from taskqueue.wanted_posting w where w.setup = q.setup and w.task_queue_id = q.task_queue_id)
       and not exists (select from taskqueue.unposted u where u.setup = q.setup and u.task_queue_id = q.task_queue_id)
    union all
    select 'posting_list', format('list %s, band %s', p.list_id, p.band), 'within ' || coalesce(l.places[array_position(l.bands, p.band)], 0), p.place::text
      from taskqueue.posting p
      left join taskqueue.posting_list l on l.setup = p.setup and l.list_id = p.list_id
     where p.setup = p_setup and p.place > coalesce(l.places[array_position(l.bands, p.band)], 0)
    union all
    select 'posting_list', 'list ' || l.list_id, format('rate %s, top %s, room %s', s.rate, s.top, s.room), format('rate %s, top %s, room %s', l.rate, l.top, l.room)
      from taskqueue.posting_list l
     cross join lateral (select coalesce(sum(b.places * taskqueue.ceiling_of_band(b.band)), 0) as rate, coalesce(max(taskqueue.ceiling_of_band(b.band)), 0) as top,
                                coalesce(sum(b.places), 0) as room
                           from unnest(l.bands, l.places) b (band, places)) s
     where l.setup = p_setup and (l.room <> s.room or l.top <> s.top or abs(l.rate - s.rate) > 1e-9 * s.rate
                                  or l.rate is distinct from coalesce(l.sums[cardinality(l.bands)], 0))
    union all
    select 'job_count', format('queue %s, user priority %s', coalesce(j.task_queue_id, c.task_queue_id), coalesce(j.user_priority, c.user_priority)),
           coalesce(j.jobs, 0)::text, coalesce(c.jobs, 0)::text
      from (select i.task_queue_id, i.user_priority, count(*) as jobs, min(i.job_id) as first_id from taskqueue.job i where i.setup = p_setup and not i.held group by 1, 2) j
      full join (select q.task_queue_id, l.user_priority, l.jobs, l.first_id
                   from taskqueue.task_queue q cross join lateral taskqueue.job_level(q.setup, q.task_queue_id) l
                  where q.setup = p_setup) c using (task_queue_id, user_priority)
     where coalesce(j.jobs, 0) <> coalesce(c.jobs, 0)
    union all
    select 'job_count', format('queue %s, user priority %s, first id', q.task_queue_id, l.user_priority), j.job_id::text, l.first_id::text
      from taskqueue.task_queue q
     cross join lateral taskqueue.job_level(q.setup, q.task_queue_id) l
     cross join lateral (select min(i.job_id) as job_id from taskqueue.job i
                          where i.setup = q.setup and i.task_queue_id = q.task_queue_id and not i.held and i.user_priority = l.user_priority) j
     where q.setup = p_setup and j.job_id < coalesce(l.first_id, 0)
    union all
    select 'owner_weight', format('%s of %s%s', owner_dn, owner_group, case when light then ', light' end), format('%s queues, %s', t.queues, t.weight),
           format('%s queues, %s', w.queues, w.weight)
      from (select q.owner_group, q.owner_dn, taskqueue.is_background(q.mean_weight, true) as light, count(*) as queues, sum(q.mean_weight::numeric) as weight
              from taskqueue.task_queue q where q.setup = p_setup group by 1, 2, 3) t
      full join (select o.owner_group, o.owner_dn, o.light, sum(o.queues) as queues, sum(o.weight) as weight
                   from taskqueue.owner_weight o where o.setup = p_setup group by 1, 2, 3) w using (owner_group, owner_dn, light)
     where coalesce(t.queues, 0) <> coalesce(w.queues, 0) or coalesce(t.weight, 0) <> coalesce(w.weight, 0)
    union all
    select 'limit_use', format('limit %s, job %s', limit_id, job_id),
           case when e.counts then 'a slot' else 'no slot' end, case when u.slot is null then 'no slot' else 'slot ' || u.slot end
      from (select l.limit_id, i.job_id, true as counts
              from taskqueue.site_limit l
              join taskqueue.lease i on i.setup = l.setup and i.site = l.site and (l.grid_ce is null or l.grid_ce = i.grid_ce)
              join taskqueue.definition d on d.setup = i.setup and d.definition_id = i.definition_id
             where l.setup = p_setup and l.kind = 'running' and taskqueue.lists(d.requirements, l.attribute, l.value)) e
      full join (select i.limit_id, i.job_id, i.slot from taskqueue.limit_use i where i.setup = p_setup) u using (limit_id, job_id)
     where e.counts is null or u.slot is null
    union all
    select 'limit_slot', 'limit ' || limit_id, coalesce(l.ceiling::text, 'no limit'), coalesce(s.slots, 0)::text
      from (select i.limit_id, i.ceiling from taskqueue.site_limit i where i.setup = p_setup and i.kind = 'running') l
      full join (select n.limit_id, sum(sign(n.slot))::bigint as slots
                   from (select f.limit_id, f.slot from taskqueue.limit_slot f where f.setup = p_setup
                         union all
                         select i.limit_id, i.slot from taskqueue.limit_use i where i.setup = p_setup) n
                  group by 1) s using (limit_id)
     where l.ceiling is distinct from coalesce(s.slots, 0);
end $$;

ALTER FUNCTION taskqueue.check_matching(p_setup text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.check_matching(p_setup text) IS 'Differences between what matching reads (definitions, postings, counts, weights of owners, limit slots) and the truth it is derived from; no row when all is right. One statement, exact under load. Errors: PB002 (setup not granted).';

CREATE FUNCTION taskqueue.clean_counts(p_setup text) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
declare
  v_horizon taskqueue.job_count_horizon;
  v_gone bigint;
  v_count bigint := 0;
begin
  delete from taskqueue.job_count d where d.ctid = any (array(
    select c.ctid from taskqueue.job_count c
     where c.setup = p_setup
       and (exists (select from taskqueue.job_count n
                     where n.setup = c.setup and n.task_queue_id = c.task_queue_id and (n.known_to, n.count_id) > (c.known_to, c.count_id))
            or not exists (select from taskqueue.task_queue q where q.setup = c.setup and q.task_queue_id = c.task_queue_id)
               and c.known_to < pg_snapshot_xmin(pg_current_snapshot()))
       for update skip locked));
  get diagnostics v_gone = row_count;
  v_count := v_count + v_gone;
  select h.* into v_horizon from taskqueue.job_count_horizon h where h.setup = p_setup;
  if v_horizon.started <= pg_snapshot_xmin(pg_current_snapshot()) then
    delete from taskqueue.job_count_change d where d.ctid = any (array(
      select c.ctid from taskqueue.job_count_change c
       where c.setup = p_setup and c.made_in < v_horizon.finished
         and (exists (select from taskqueue.job_count n
                       where n.setup = c.setup and n.task_queue_id = c.task_queue_id and n.known_to > c.made_in and c.made_in <> all (n.in_flight))
              or not exists (select from taskqueue.task_queue q where q.setup = c.setup and q.task_queue_id = c.task_queue_id))
         for update skip locked));
    get diagnostics v_gone = row_count;
    v_count := v_count + v_gone;
  elsif v_horizon.started is not null then
    return v_count;
  end if;
  insert into taskqueue.job_count_horizon (setup, finished, started)
  values (p_setup, pg_snapshot_xmin(pg_current_snapshot()), pg_snapshot_xmax(pg_current_snapshot()))
  on conflict (setup) do update set finished = excluded.finished, started = excluded.started;
  return v_count;
end $$;

ALTER FUNCTION taskqueue.clean_counts(p_setup text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.clean_counts(p_setup text) IS 'Removes counts and changes that no reader needs any more; returns how many.';

CREATE FUNCTION taskqueue.clear_limit(p_setup text, p_kind text, p_site text, p_ce text, p_attribute text, p_value text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'taskqueue', 'pg_temp'
    AS $$
declare
  v_key text := taskqueue.attribute_key(p_attribute);
  v_id bigint;
begin
  perform resource.identify(p_setup);
  perform taskqueue.reconfigure(p_setup);
  perform taskqueue.forget_offers(p_setup);
  delete from taskqueue.site_limit l
   where l.setup = p_setup and l.kind = p_kind and l.site = p_site and l.grid_ce is not distinct from p_ce
     and l.attribute = v_key and l.value = p_value
  returning l.limit_id into v_id;
  delete from taskqueue.limit_slot s where s.setup = p_setup and s.limit_id = v_id;
  delete from taskqueue.limit_use u where u.setup = p_setup and u.limit_id = v_id;
  return v_id is not null;
end $$;

ALTER FUNCTION taskqueue.clear_limit(p_setup text, p_kind text, p_site text, p_ce text, p_attribute text, p_value text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.clear_limit(p_setup text, p_kind text, p_site text, p_ce text, p_attribute text, p_value text) IS 'Removes a limit; false when there is none like that. Errors: PB001 (attribute), PB002 (setup not granted), PB006 (busy).';

CREATE FUNCTION taskqueue.close_gaps(p_setup text) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
declare
  v_list_id bigint;
  v_band int;
  v_count int;
  v_movable bigint[];
  v_closed bigint := 0;
begin
  v_closed := taskqueue.drop_empty_lists(p_setup, array(
    select l.list_id from taskqueue.posting_list l
     where l.setup = p_setup and not exists (select from taskqueue.posting p where p.setup = l.setup and p.list_id = l.list_id)));
  for v_list_id, v_band in
    select l.list_id, b.band
      from taskqueue.posting_list l
     cross join lateral unnest(l.bands, l.places) b (band, places)
      left join (select p.list_id, p.band, count(*) as queues from taskqueue.posting p where p.setup = p_setup group by p.list_id, p.band) n
             on n.list_id = l.list_id and n.band = b.band
     where l.setup = p_setup and b.places >= 2 * coalesce(n.queues, 0)
     order by l.site, l.cpu_time
  loop
    perform from taskqueue.posting_list l where l.setup = p_setup and l.list_id = v_list_id for update skip locked;
    continue when not found;
    select count(*) into v_count from taskqueue.posting p where p.setup = p_setup and p.list_id = v_list_id and p.band = v_band;
    -- an agent that finds one of these queues empty leaves it, instead of waiting for this transaction
    v_movable := array(select q.task_queue_id from taskqueue.task_queue q
                        where q.setup = p_setup
                          and q.task_queue_id in (select p.task_queue_id from taskqueue.posting p
                                                   where p.setup = p_setup and p.list_id = v_list_id and p.band = v_band and p.place > v_count)
                          for no key update skip locked);
    update taskqueue.posting p set place = g.place
      from (select i.place, row_number() over (order by i.place) as number
              from generate_series(1, v_count) i (place)
             where not exists (select from taskqueue.posting o
                                where o.setup = p_setup and o.list_id = v_list_id and o.band = v_band and o.place = i.place)) g
      join (select o.place, row_number() over (order by o.place) as number
              from taskqueue.posting o
             where o.setup = p_setup and o.list_id = v_list_id and o.band = v_band and o.place > v_count and o.task_queue_id = any (v_movable)) m using (number)
     where p.setup = p_setup and p.list_id = v_list_id and p.band = v_band and p.place = m.place;
    perform taskqueue.measure_lists(p_setup, array[v_list_id], array[v_band]);
    v_closed := v_closed + 1;
  end loop;
  return v_closed;
end $$;

ALTER FUNCTION taskqueue.close_gaps(p_setup text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.close_gaps(p_setup text) IS 'Closes the gaps of lists where half of a band is empty, and removes lists without a queue; returns how many were changed.';

CREATE FUNCTION taskqueue.compatible_platforms(p_setup text, p_platforms text[]) RETURNS text[]
    LANGUAGE sql STABLE
    AS $$
  select case when p_platforms is not null then
           p_platforms || array(select c.accepted from taskqueue.platform_compatibility c where c.setup = p_setup and c.offered = any (p_platforms))
         end
$$;

ALTER FUNCTION taskqueue.compatible_platforms(p_setup text, p_platforms text[]) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.compatible_platforms(p_setup text, p_platforms text[]) IS 'The platforms offered and those compatible with them; null stays null (no condition).';

CREATE FUNCTION taskqueue.condition(d taskqueue.definition, o taskqueue.offer) RETURNS TABLE(condition text, wanted text, offered text, holds boolean)
    LANGUAGE sql STABLE
    AS $$
  select c.condition, coalesce(c.wanted, 'anything'), coalesce(c.offered, 'not offered, no condition'), c.holds
    from (values
      ('CPUTime', 'at least ' || d.cpu_time || ' s', o.cpu_time || ' s', taskqueue.accepts_cpu_time(d, o)),
      ('Owner', d.owner_dn || ' in ' || d.owner_group,
       case when o.owner_dn is null and o.owner_groups is null then 'generic pilot'
            else concat_ws(' in ', coalesce(o.owner_dn, 'any owner'), nullif(array_to_string(o.owner_groups, ', '), '')) end, taskqueue.accepts_owner(d, o)),
      ('MaxRAM', 'at least ' || d.min_ram || ' MB', o.max_ram || ' MB', taskqueue.accepts_ram(d, o)),
      ('Tag', 'all of: ' || nullif(array_to_string(d.tags, ', '), ''), taskqueue.offered_text(o.tags), taskqueue.accepts_tag(d, o)),
      ('RequiredTag', 'tags: ' || nullif(array_to_string(d.tags, ', '), ''), 'requires ' || array_to_string(o.required_tags, ', '), taskqueue.accepts_required_tag(d, o)),
      ('PilotType', 'one of: ' || nullif(array_to_string(d.pilot_types, ', '), ''), taskqueue.offered_text(o.pilot_types), taskqueue.accepts_pilot_type(d, o)),
      ('JobType', 'one of: ' || nullif(array_to_string(d.job_types, ', '), ''), taskqueue.offered_text(o.job_types), taskqueue.accepts_job_type(d, o)),
      ('GridCE', 'one of: ' || nullif(array_to_string(d.grid_ces, ', '), ''), taskqueue.offered_text(o.grid_ces), taskqueue.accepts_grid_ce(d, o)),
      ('Site', nullif(concat_ws('; ', 'one of: ' || nullif(array_to_string(d.sites, ', '), ''), 'none of: ' || nullif(array_to_string(d.banned_sites, ', '), '')), ''),
       taskqueue.offered_text(o.sites), taskqueue.accepts_site(d, o)),
      ('Platform', 'one of: ' || nullif(array_to_string(d.platforms, ', '), ''), taskqueue.offered_text(o.platforms), taskqueue.accepts_platform(d, o)),
      ('BannedSite', 'sites: ' || nullif(array_to_string(d.sites, ', '), ''), 'bans ' || array_to_string(o.banned_sites, ', '), taskqueue.accepts_banned_site(d, o)),
      ('BannedGridCE', 'CEs: ' || nullif(array_to_string(d.grid_ces, ', '), ''), 'bans ' || array_to_string(o.banned_grid_ces, ', '), taskqueue.accepts_banned_grid_ce(d, o)),
      ('BannedPlatform', 'platforms: ' || nullif(array_to_string(d.platforms, ', '), ''), 'bans ' || array_to_string(o.banned_platforms, ', '), taskqueue.accepts_banned_platform(d, o)),
      ('BannedJobType', 'job types: ' || nullif(array_to_string(d.job_types, ', '), ''), 'bans ' || array_to_string(o.banned_job_types, ', '), taskqueue.accepts_banned_job_type(d, o)),
      ('BannedTag', 'tags: ' || nullif(array_to_string(d.tags, ', '), ''), 'bans ' || array_to_string(o.banned_tags, ', '), taskqueue.accepts_banned_tag(d, o)),
      ('Limits', 'a place at the site', case when not o.limited or o.limited is null then 'no limits' else coalesce('limits reached: ' || (
         select string_agg(format('%s %s of %s %s at %s', l.kind, coalesce(l.ceiling::text, l.delay::text), l.attribute, l.value, concat_ws('/', l.site, l.grid_ce)), '; ' order by l.limit_id)
           from taskqueue.site_limit l where l.setup = d.setup and l.limit_id = any (o.reached)), 'limits not reached') end, taskqueue.accepts_limits(d, o))
    ) c (condition, wanted, offered, holds)
$$;

ALTER FUNCTION taskqueue.condition(d taskqueue.definition, o taskqueue.offer) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.condition(d taskqueue.definition, o taskqueue.offer) IS 'Each condition of section 4 for a definition and an offer: what is wanted, what is offered, whether it holds. All hold exactly when taskqueue.accepts says so.';

CREATE FUNCTION taskqueue.correct_shares(p_setup text) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
  v_setting taskqueue.setting;
begin
  select s.* into v_setting from taskqueue.setting s where s.setup = p_setup;
  if v_setting.share_correction is not true then
    delete from taskqueue.share_correction c where c.setup = p_setup;
    return;
  end if;
  insert into taskqueue.share_correction (setup, owner_group, owner_dn, factor)
  with entity as (
    select distinct q.owner_group, case when coalesce(g.job_sharing, false) then '' else q.owner_dn end as owner_dn,
           coalesce(g.share, 1000) as share, coalesce(g.job_sharing, false) as job_sharing
      from taskqueue.task_queue q left join taskqueue.owner_group g on g.setup = q.setup and g.owner_group = q.owner_group
     where q.setup = p_setup
  ), expected as (
    select e.owner_group, e.owner_dn, e.job_sharing, e.share / count(*) over (partition by e.owner_group) as share from entity e
  ), used as (
    select e.owner_group, e.owner_dn, e.share / sum(e.share) over () as expected,
           coalesce(sum(h.cpu_time), 0) / nullif(sum(sum(h.cpu_time)) over (), 0) as used
      from expected e
      left join taskqueue.match h
             on h.setup = p_setup and h.at > resource.clock(p_setup) - v_setting.correction_window
            and h.owner_group = e.owner_group and (e.job_sharing or h.owner_dn = e.owner_dn)
     group by e.owner_group, e.owner_dn, e.share
  )
  select p_setup, u.owner_group, u.owner_dn,
         case when u.used is null then 1 when u.used = 0 then 5 else greatest(0.2, least(5, u.expected / u.used)) end
    from used u order by u.owner_group, u.owner_dn
  on conflict (setup, owner_group, owner_dn) do update set factor = excluded.factor;
end $$;

ALTER FUNCTION taskqueue.correct_shares(p_setup text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.correct_shares(p_setup text) IS 'Keeps the factors of the setting share_correction; without the setting there are none.';

CREATE FUNCTION taskqueue.cpu_bucket_of(p_setup text, p_cpu_time numeric) RETURNS bigint
    LANGUAGE sql STABLE
    AS $$
  select coalesce((select b.cpu_time from taskqueue.cpu_bucket b where b.setup = p_setup and b.cpu_time >= p_cpu_time
                    order by b.cpu_time limit 1),
                  (select b.cpu_time from taskqueue.cpu_bucket b where b.setup = p_setup order by b.cpu_time desc limit 1))
$$;

ALTER FUNCTION taskqueue.cpu_bucket_of(p_setup text, p_cpu_time numeric) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.cpu_bucket_of(p_setup text, p_cpu_time numeric) IS 'The CPU bucket of a CPU time, both in seconds: the next bucket at or above it, else the highest. Null where the setup has no buckets.';

CREATE FUNCTION taskqueue.definition_of(p_setup text, p_requirements jsonb) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
declare
  v_digest uuid := md5(p_requirements::text)::uuid;
  v_definition_id bigint;
begin
  loop
    select d.definition_id into v_definition_id
      from taskqueue.definition d where d.setup = p_setup and d.digest = v_digest for key share;
    exit when found;
    insert into taskqueue.definition (setup, digest, family, requirements, owner_dn, owner_group, cpu_time, min_ram,
                                      pilot_types, sites, banned_sites, grid_ces, platforms, job_types, tags, created_at)
    select p_setup, v_digest, taskqueue.family_of(r), r, r ->> 'OwnerDN', r ->> 'OwnerGroup', (r ->> 'CPUTime')::bigint, (r ->> 'MinRAM')::float8,
           taskqueue.list_of(r, 'PilotTypes'), taskqueue.list_of(r, 'Sites'), taskqueue.list_of(r, 'BannedSites'), taskqueue.list_of(r, 'GridCEs'),
           taskqueue.list_of(r, 'Platforms'), taskqueue.list_of(r, 'JobTypes'), taskqueue.list_of(r, 'Tags'), resource.clock(p_setup)
      from (values (p_requirements)) v (r)
    on conflict (setup, digest) do nothing
    returning definition_id into v_definition_id;
    exit when found;
  end loop;
  return v_definition_id;
end $$;

ALTER FUNCTION taskqueue.definition_of(p_setup text, p_requirements jsonb) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.definition_of(p_setup text, p_requirements jsonb) IS 'The definition of canonical requirements, made where there is none.';

CREATE FUNCTION taskqueue.definition_of_job(p_setup text, p_job_id bigint) RETURNS taskqueue.definition
    LANGUAGE plpgsql STABLE
    AS $$
declare
  v_definition taskqueue.definition;
begin
  select d.* into v_definition
    from (select q.definition_id from taskqueue.job j join taskqueue.task_queue q on q.setup = j.setup and q.task_queue_id = j.task_queue_id
           where j.setup = p_setup and j.job_id = p_job_id
          union all
          select l.definition_id from taskqueue.lease l where l.setup = p_setup and l.job_id = p_job_id) w
    join taskqueue.definition d on d.setup = p_setup and d.definition_id = w.definition_id;
  if not found then
    raise exception 'job % is %: its requirements are not kept', p_job_id, taskqueue.state_of_job(p_setup, p_job_id)
      using errcode = 'PB004', hint = 'Only jobs that wait or are leased have requirements.';
  end if;
  return v_definition;
end $$;

ALTER FUNCTION taskqueue.definition_of_job(p_setup text, p_job_id bigint) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.definition_of_job(p_setup text, p_job_id bigint) IS 'Requirements of a waiting or leased job. Errors: PB004.';

CREATE FUNCTION taskqueue.delete_empty_queues(p_setup text) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'taskqueue', 'pg_temp'
    AS $$
begin
  perform resource.identify(p_setup);
  perform taskqueue.enter(p_setup);
  return (select count(*) filter (where taskqueue.drop_if_empty(p_setup, q.task_queue_id))
            from taskqueue.task_queue q
           where q.setup = p_setup
             and not exists (select from taskqueue.job j where j.setup = q.setup and j.task_queue_id = q.task_queue_id));
end $$;

ALTER FUNCTION taskqueue.delete_empty_queues(p_setup text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.delete_empty_queues(p_setup text) IS 'Removes the TaskQueues without jobs; returns how many. Errors: PB002 (setup not granted).';

CREATE FUNCTION taskqueue.delete_job(p_setup text, p_job_id bigint) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'taskqueue', 'pg_temp'
    AS $$
declare
  v_identity resource.identity := resource.identify(p_setup);
begin
  perform taskqueue.enter(p_setup);
  return taskqueue.end_waiting(p_setup, p_job_id, 'closed', v_identity);
end $$;

ALTER FUNCTION taskqueue.delete_job(p_setup text, p_job_id bigint) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.delete_job(p_setup text, p_job_id bigint) IS 'Takes a waiting job out of the TaskQueues, ended as closed; returns the queue it was in, null when it did not wait. Errors: PB002 (setup or owner not granted).';

CREATE FUNCTION taskqueue.delete_queue_if_empty(p_setup text, p_task_queue_id bigint) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'taskqueue', 'pg_temp'
    AS $$
begin
  perform resource.identify(p_setup);
  perform taskqueue.enter(p_setup);
  return taskqueue.drop_if_empty(p_setup, p_task_queue_id);
end $$;

ALTER FUNCTION taskqueue.delete_queue_if_empty(p_setup text, p_task_queue_id bigint) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.delete_queue_if_empty(p_setup text, p_task_queue_id bigint) IS 'Removes a TaskQueue without jobs; false when it has jobs, is not there, or another transaction works on it. Errors: PB002 (setup not granted).';

CREATE FUNCTION taskqueue.draw(p_id bigint, p_seed bigint) RETURNS double precision
    LANGUAGE sql IMMUTABLE
    AS $$
  select ((hashint8extended(hashint8extended(p_id, p_seed # (p_id >> 32)), p_seed)
           & 9007199254740991) + 0.5::float8) / 9007199254740992.0::float8
$$;

ALTER FUNCTION taskqueue.draw(p_id bigint, p_seed bigint) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.draw(p_id bigint, p_seed bigint) IS 'Uniform within (0, 1): the draw of a candidate under a seed (section 5).';

CREATE FUNCTION taskqueue.draw_key(p_draw double precision, p_count double precision, p_priority double precision, p_policy text, p_above double precision DEFAULT 0) RETURNS double precision
    LANGUAGE sql IMMUTABLE
    AS $$
  select case when p_policy = 'proportional' then p_above - ln(p_draw) / (p_count * p_priority)
              else p_above + (1 / p_priority - p_above) * (1 - power(1 - p_draw, 1 / p_count))
         end
$$;

ALTER FUNCTION taskqueue.draw_key(p_draw double precision, p_count double precision, p_priority double precision, p_policy text, p_above double precision) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.draw_key(p_draw double precision, p_count double precision, p_priority double precision, p_policy text, p_above double precision) IS 'Key of the smallest draw of p_count candidates with the same priority, given that all are above p_above; the smallest key is taken first (section 5).';

CREATE FUNCTION taskqueue.drawn_queues(p_setup text, p_offer taskqueue.offer, p_definition_ids bigint[], p_bucket bigint, p_above double precision, p_passed bigint[], p_policy text, p_seed bigint) RETURNS bigint[]
    LANGUAGE plpgsql STABLE
    AS $$
begin
  return array(
    select c.task_queue_id
      from (select o.task_queue_id, o.definition_id, o.cpu_time, taskqueue.draw_key(o.draw, 1, o.priority, p_policy, o.above) as key
              from (select q.*, taskqueue.draw(q.task_queue_id, p_seed) as draw, case when q.cpu_time = p_bucket then p_above else 0 end as above
                      from unnest(p_definition_ids) i (definition_id)
                      join taskqueue.task_queue q on q.setup = p_setup and q.definition_id = i.definition_id
                     where q.posted and q.cpu_time <= p_bucket and q.task_queue_id <> all (p_passed) offset 0) o  -- a fence, else each use of the draw is a draw of its own
             order by o.cpu_time desc, key offset 0) c
      join taskqueue.definition d on d.setup = p_setup and d.definition_id = c.definition_id
     where taskqueue.accepts(d, p_offer)
     order by c.cpu_time desc, c.key
     limit 3);
end $$;

ALTER FUNCTION taskqueue.drawn_queues(p_setup text, p_offer taskqueue.offer, p_definition_ids bigint[], p_bucket bigint, p_above double precision, p_passed bigint[], p_policy text, p_seed bigint) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.drawn_queues(p_setup text, p_offer taskqueue.offer, p_definition_ids bigint[], p_bucket bigint, p_above double precision, p_passed bigint[], p_policy text, p_seed bigint) IS 'The next three queues that match an offer, in drawn order, of some definitions, those passed left out; p_bucket, p_above: where to go on.';

CREATE FUNCTION taskqueue.drop_empty_lists(p_setup text, p_list_ids bigint[]) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
declare
  v_locked bigint[];
  v_count bigint;
begin
  v_locked := array(select l.list_id from taskqueue.posting_list l
                     where l.setup = p_setup and l.list_id = any (p_list_ids)
                       and not exists (select from taskqueue.posting p where p.setup = l.setup and p.list_id = l.list_id)
                       for update skip locked);
  if v_locked = '{}' then
    return 0;
  end if;
  delete from taskqueue.posting_list l
   where l.setup = p_setup and l.list_id = any (v_locked)
     and not exists (select from taskqueue.posting p where p.setup = l.setup and p.list_id = l.list_id);
  get diagnostics v_count = row_count;
  return v_count;
end $$;

ALTER FUNCTION taskqueue.drop_empty_lists(p_setup text, p_list_ids bigint[]) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.drop_empty_lists(p_setup text, p_list_ids bigint[]) IS 'Removes those of the lists that hold no queue; returns how many.';

CREATE FUNCTION taskqueue.drop_if_empty(p_setup text, p_task_queue_id bigint) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
declare
  v_queue taskqueue.task_queue;
begin
  if exists (select from taskqueue.job j where j.setup = p_setup and j.task_queue_id = p_task_queue_id) then
    return false;
  end if;
  select q.* into v_queue from taskqueue.task_queue q
   where q.setup = p_setup and q.task_queue_id = p_task_queue_id for update skip locked;
  if not found or exists (select from taskqueue.job j where j.setup = p_setup and j.task_queue_id = p_task_queue_id) then
    return false;
  end if;
  perform taskqueue.vacate_places(p_setup, p_task_queue_id);
  delete from taskqueue.task_queue q where q.setup = p_setup and q.task_queue_id = p_task_queue_id;
  perform taskqueue.note_weight(p_setup, v_queue.owner_group, v_queue.owner_dn, v_queue.mean_weight, -1);
  insert into taskqueue.share_mark (setup, owner_group, marked_at) values (p_setup, v_queue.owner_group, resource.clock(p_setup));
  return true;
end $$;

ALTER FUNCTION taskqueue.drop_if_empty(p_setup text, p_task_queue_id bigint) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.drop_if_empty(p_setup text, p_task_queue_id bigint) IS 'Removes a queue without jobs and everything of it; false when it has jobs, is not there, or somebody works on it.';

CREATE FUNCTION taskqueue.dump_configuration(p_setup text) RETURNS jsonb
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'taskqueue', 'pg_temp'
    AS $$
begin
  perform resource.identify(p_setup);
  return (
    select jsonb_build_object(
             'task_queue_settings', jsonb_build_object(
               'ten_first', s.ten_first, 'strict_keys', s.strict_keys, 'required_keys', s.required_keys, 'queue_size', s.queue_size,
               'policy', s.policy, 'lease_time', extract(epoch from s.lease_time)::float8, 'share_delay', extract(epoch from s.share_delay)::float8,
               'share_correction', s.share_correction, 'correction_window', extract(epoch from s.correction_window)::float8,
               'history_kept', extract(epoch from s.history_kept)::float8),
             'cpu_buckets', (
               select coalesce(jsonb_agg(b.cpu_time order by b.cpu_time), '[]') from taskqueue.cpu_bucket b where b.setup = p_setup),
             'groups', (
               select coalesce(jsonb_object_agg(g.owner_group, jsonb_build_object(
                        'share', g.share, 'job_sharing', g.job_sharing, 'allow_background', g.allow_background)), '{}')
                 from taskqueue.owner_group g where g.setup = p_setup),
             'platform_compatibility', (
               select coalesce(jsonb_object_agg(c.offered, c.accepted), '{}')
                 from (select p.offered, jsonb_agg(p.accepted order by p.accepted collate "C") as accepted
                         from taskqueue.platform_compatibility p where p.setup = p_setup group by p.offered) c),
             'limits', (
               select coalesce(jsonb_agg(
                        jsonb_build_object('site', l.site, 'ce', l.grid_ce, 'kind', l.kind, 'attribute', l.attribute, 'value', l.value)
                        || case l.kind when 'running' then jsonb_build_object('limit', l.ceiling)
                                       else jsonb_build_object('seconds', extract(epoch from l.delay)::float8, 'burst', l.burst) end
                        order by l.site collate "C", l.grid_ce collate "C" nulls first, l.kind, l.attribute, l.value collate "C"), '[]')
                 from taskqueue.site_limit l where l.setup = p_setup))
      from taskqueue.setting s
     where s.setup = p_setup);
end $$;

ALTER FUNCTION taskqueue.dump_configuration(p_setup text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.dump_configuration(p_setup text) IS 'Settings (times in seconds), CPU buckets (s), groups, compatible platforms and limits of a setup, in the sections of the world format; null = the setup has none. Errors: PB002 (setup not granted).';

CREATE FUNCTION taskqueue.dump_leases(p_setup text) RETURNS TABLE(lease jsonb)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'taskqueue', 'pg_temp'
    AS $$
begin
  perform resource.identify(p_setup);
  return query
    select jsonb_build_object(
             'id', l.job_id, 'requirements', d.requirements, 'user_priority', l.user_priority, 'state', l.state,
             'attempt', taskqueue.attempt_text(l.attempt, l.token), 'site', l.site, 'ce', l.grid_ce, 'role', l.role_name,
             'matched_at', l.matched_at at time zone 'UTC', 'reported_at', l.reported_at at time zone 'UTC',
             'expires_at', l.expires_at at time zone 'UTC', 'kill_reason', l.kill_reason)
      from taskqueue.lease l
      join taskqueue.definition d on d.setup = l.setup and d.definition_id = l.definition_id
     where l.setup = p_setup
     order by l.job_id;
end $$;

ALTER FUNCTION taskqueue.dump_leases(p_setup text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.dump_leases(p_setup text) IS 'The leases of a setup with the attempts that prove them (keep them secret), as taskqueue.load_leases takes them; times in UTC. Errors: PB002 (setup not granted).';

CREATE FUNCTION taskqueue.dump_task_queues(p_setup text) RETURNS TABLE(task_queue jsonb)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'taskqueue', 'pg_temp'
    AS $$
begin
  perform resource.identify(p_setup);
  return query
    select jsonb_build_object('requirements', d.requirements, 'enabled', q.enabled, 'jobs', n.jobs)
      from taskqueue.task_queue q
      join taskqueue.definition d on d.setup = q.setup and d.definition_id = q.definition_id
     cross join lateral (
            select min(j.job_id) as first_id, jsonb_agg(jsonb_build_array(j.job_id, j.user_priority) order by j.job_id) as jobs
              from taskqueue.job j where j.setup = q.setup and j.task_queue_id = q.task_queue_id) n
     where q.setup = p_setup and n.first_id is not null
     order by d.requirements::text collate "C", n.first_id;
end $$;

ALTER FUNCTION taskqueue.dump_task_queues(p_setup text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.dump_task_queues(p_setup text) IS 'The TaskQueues of a setup with their waiting jobs, one row {requirements, enabled, jobs: [[id, user_priority], ...]} a queue, as taskqueue.load_task_queues takes them. Holds are not part of it. Errors: PB002 (setup not granted).';

CREATE TABLE taskqueue.lease (
    setup text NOT NULL,
    job_id bigint NOT NULL,
    attempt integer NOT NULL,
    token uuid NOT NULL,
    task_queue_id bigint NOT NULL,
    definition_id bigint NOT NULL,
    user_priority smallint NOT NULL,
    state text DEFAULT 'matched'::text NOT NULL,
    site text,
    grid_ce text,
    role_name text NOT NULL,
    matched_at timestamp with time zone NOT NULL,
    reported_at timestamp with time zone,
    expires_at timestamp with time zone NOT NULL,
    kill_reason text,
    CONSTRAINT lease_state_check CHECK ((state = ANY (ARRAY['matched'::text, 'running'::text])))
);
ALTER TABLE ONLY taskqueue.lease ALTER COLUMN setup SET (n_distinct=1);

ALTER TABLE taskqueue.lease OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.lease IS 'Matched jobs that have not ended: who has the job, since when, and the token that later calls must present.';

COMMENT ON COLUMN taskqueue.lease.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.lease.job_id IS 'Job id, the same in every room of the setup.';

COMMENT ON COLUMN taskqueue.lease.attempt IS 'Number of this match of the job, from 1.';

COMMENT ON COLUMN taskqueue.lease.token IS 'Random secret of this attempt.';

COMMENT ON COLUMN taskqueue.lease.task_queue_id IS 'Queue it was taken from.';

COMMENT ON COLUMN taskqueue.lease.definition_id IS 'Requirements it was taken with.';

COMMENT ON COLUMN taskqueue.lease.user_priority IS 'User priority 0..10; 0 is background.';

COMMENT ON COLUMN taskqueue.lease.state IS 'matched: no report yet; running: the agent reported.';

COMMENT ON COLUMN taskqueue.lease.site IS 'Site that took it; null = the resource named none.';

COMMENT ON COLUMN taskqueue.lease.grid_ce IS 'Computing element that took it; null = none named.';

COMMENT ON COLUMN taskqueue.lease.role_name IS 'Database role of the agent.';

COMMENT ON COLUMN taskqueue.lease.matched_at IS 'When it was matched.';

COMMENT ON COLUMN taskqueue.lease.reported_at IS 'Last report.';

COMMENT ON COLUMN taskqueue.lease.expires_at IS 'Until when the next report is awaited.';

COMMENT ON COLUMN taskqueue.lease.kill_reason IS 'Not null: the agent is told to kill the job, and why.';

CREATE FUNCTION taskqueue.end_lease(p_lease taskqueue.lease, p_outcome text) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
  delete from taskqueue.lease l where l.setup = p_lease.setup and l.job_id = p_lease.job_id;
  insert into taskqueue.ended (setup, job_id, attempts, token, task_queue_id, outcome, ended_at)
  values (p_lease.setup, p_lease.job_id, p_lease.attempt, p_lease.token, p_lease.task_queue_id, p_outcome, resource.clock(p_lease.setup));
  perform taskqueue.free_slots(p_lease.setup, p_lease.job_id);
  perform taskqueue.note_end(p_lease, p_outcome);
end $$;

ALTER FUNCTION taskqueue.end_lease(p_lease taskqueue.lease, p_outcome text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.end_lease(p_lease taskqueue.lease, p_outcome text) IS 'Ends a leased job with an outcome, which gives its limit slots back.';

CREATE FUNCTION taskqueue.end_waiting(p_setup text, p_job_id bigint, p_outcome text, p_identity resource.identity) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
declare
  v_job taskqueue.job;
begin
  delete from taskqueue.job j where j.setup = p_setup and j.job_id = p_job_id returning j.* into v_job;
  if not found then
    return null;
  end if;
  perform taskqueue.may_touch(p_identity, p_job_id, q.definition_id) from taskqueue.task_queue q
    where q.setup = p_setup and q.task_queue_id = v_job.task_queue_id;
  insert into taskqueue.ended (setup, job_id, attempts, task_queue_id, outcome, ended_at)
  values (p_setup, p_job_id, v_job.attempts, v_job.task_queue_id, p_outcome, resource.clock(p_setup));
  insert into taskqueue.history (setup, at, job_id, attempt, event, task_queue_id, user_priority, role_name)
  values (p_setup, resource.clock(p_setup), p_job_id, v_job.attempts, p_outcome, v_job.task_queue_id, v_job.user_priority, resource.caller());
  if not v_job.held then
    insert into taskqueue.job_count_change (setup, task_queue_id, user_priority, change) values (p_setup, v_job.task_queue_id, v_job.user_priority, -1);
  end if;
  perform taskqueue.drop_if_empty(p_setup, v_job.task_queue_id);
  return v_job.task_queue_id;
end $$;

ALTER FUNCTION taskqueue.end_waiting(p_setup text, p_job_id bigint, p_outcome text, p_identity resource.identity) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.end_waiting(p_setup text, p_job_id bigint, p_outcome text, p_identity resource.identity) IS 'Ends a waiting job; returns the queue it was in, null when it does not wait. Errors: PB002 (not the caller''s).';

CREATE FUNCTION taskqueue.enter(p_setup text) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    perform taskqueue.require_read_committed();
  end if;
  perform pg_advisory_xact_lock_shared(hashtext('taskqueue'), hashtext(p_setup));
end $$;

ALTER FUNCTION taskqueue.enter(p_setup text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.enter(p_setup text) IS 'Marks the transaction as at work in the setup until it ends; see taskqueue.reconfigure. Errors: PB001 (isolation level).';

CREATE FUNCTION taskqueue.explain_job(p_setup text, p_job_id bigint) RETURNS TABLE(condition text, wanted text, failing bigint, seen bigint, last_seen timestamp with time zone, remark text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'taskqueue', 'pg_temp'
    AS $$
declare
  v_identity resource.identity := resource.look(p_setup);
  v_definition taskqueue.definition := taskqueue.definition_of_job(p_setup, p_job_id);
begin
  v_identity.private := false;
  return query
    with class as materialized (  -- else the offer is made anew for each condition: 33 times
      select r.class, r.last_seen, taskqueue.offer_once_made(p_setup, r.resource, v_identity) as offer from taskqueue.resource_kind r where r.setup = p_setup
    ), verdict as (
      select k.class, k.last_seen, c.condition, c.wanted, c.holds from class k cross join lateral taskqueue.condition(v_definition, k.offer) c
       where k.offer is distinct from null
    )
    select v.condition, min(v.wanted), count(*) filter (where not v.holds), count(*), max(v.last_seen) filter (where not v.holds),
           case when not bool_or(v.holds) then format('no resource seen lately offers %s: %s', v.condition, min(v.wanted))
                when not bool_and(v.holds) then format('%s of %s kinds of resources do not', count(*) filter (where not v.holds), count(*))
           end
      from verdict v group by v.condition
    union all
    select 'all of them', 'job ' || p_job_id || ', ' || taskqueue.state_of_job(p_setup, p_job_id), count(*) filter (where not a.holds), count(*),
           max(a.last_seen) filter (where a.holds),
           case when count(*) = 0 then 'no resource was seen lately'
                when not bool_or(a.holds) then 'no resource seen lately fulfils all conditions'
                else format('%s of %s kinds of resources match', count(*) filter (where a.holds), count(*)) end
      from (select v.class, max(v.last_seen) as last_seen, bool_and(v.holds) as holds from verdict v group by v.class) a
    order by 3 desc, 1;
end $$;

ALTER FUNCTION taskqueue.explain_job(p_setup text, p_job_id bigint) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.explain_job(p_setup text, p_job_id bigint) IS 'Why a job waits: for each condition how many kinds of resources seen lately fail it, out of how many, and when one was last seen; the row "all of them" counts those that fail any, and when one that matches was last seen. Errors: PB002 (setup not granted), PB004 (no such job).';

CREATE FUNCTION taskqueue.explain_match(p_setup text, p_job_id bigint, p_resource jsonb) RETURNS TABLE(condition text, wanted text, offered text, holds boolean)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'taskqueue', 'pg_temp'
    AS $$
declare
  v_offer taskqueue.offer := taskqueue.offer_of(p_setup, p_resource, resource.look(p_setup));
  v_state text := taskqueue.state_of_job(p_setup, p_job_id);
  v_queue taskqueue.task_queue;
  v_definition taskqueue.definition;
begin
  v_definition := taskqueue.definition_of_job(p_setup, p_job_id);
  select q.* into v_queue
    from taskqueue.job j join taskqueue.task_queue q on q.setup = j.setup and q.task_queue_id = j.task_queue_id
   where j.setup = p_setup and j.job_id = p_job_id;
  return query select * from taskqueue.condition(v_definition, v_offer);
  return query values
    ('waiting', 'a job that waits', 'it is ' || v_state, v_state = 'waiting'),
    ('queue', 'enabled, neither queue nor owner held', case when v_queue is null then 'in no queue'
                                           when not v_queue.enabled then format('queue %s is disabled', v_queue.task_queue_id)
                                           when v_queue.held then format('queue %s is held', v_queue.task_queue_id)
                                           when not taskqueue.is_open(v_queue) then format('owner %s is held', v_queue.owner_dn)
                                           else format('queue %s is open', v_queue.task_queue_id) end,
     taskqueue.is_open(v_queue)),
    ('JobID', 'job ' || p_job_id, coalesce('wants job ' || v_offer.job_id, 'any job'), coalesce(v_offer.job_id = p_job_id, true));
end $$;

ALTER FUNCTION taskqueue.explain_match(p_setup text, p_job_id bigint, p_resource jsonb) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.explain_match(p_setup text, p_job_id bigint, p_resource jsonb) IS 'Why a job matches a resource description or not: one row a condition. The job can be matched by the resource exactly when all hold; whether it is the next one is drawn. Errors: PB001 (description), PB002 (setup not granted), PB004 (no such job, or its requirements are forgotten).';

CREATE FUNCTION taskqueue.family_of(p_requirements jsonb) RETURNS uuid
    LANGUAGE sql IMMUTABLE
    AS $$
  select md5((p_requirements - '{Sites,BannedSites,MinRAM,MaxRAM}'::text[])::text)::uuid
$$;

ALTER FUNCTION taskqueue.family_of(p_requirements jsonb) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.family_of(p_requirements jsonb) IS 'The family of canonical requirements: md5 of all but Sites, BannedSites, MinRAM and MaxRAM (section 9).';

CREATE FUNCTION taskqueue.fill_queues(p_setup text, p_task_queue_ids bigint[], p_job_ids bigint[], p_user_priorities integer[], p_identity resource.identity DEFAULT NULL::resource.identity) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
  v_now timestamptz := resource.clock(p_setup);
  v_todo bigint[];
  v_left bigint[];
  v_queue_id bigint;
begin
  loop
    with inserted as (
      insert into taskqueue.job (setup, job_id, task_queue_id, user_priority, inserted_at)
      select p_setup, n.job_id, n.task_queue_id, n.user_priority, v_now
        from unnest(p_task_queue_ids, p_job_ids, p_user_priorities) n (task_queue_id, job_id, user_priority)
       where v_todo is null or n.job_id = any (v_todo)
       order by n.job_id
      on conflict (setup, job_id) do nothing
      returning task_queue_id, job_id, user_priority
    ), counted as (
      insert into taskqueue.job_count_change (setup, task_queue_id, user_priority, change, first_id)
      select p_setup, i.task_queue_id, i.user_priority, count(*), min(i.job_id) from inserted i group by i.task_queue_id, i.user_priority
    )
    select array(select unnest(coalesce(v_todo, p_job_ids)) except select i.job_id from inserted i) into v_todo;
    exit when v_todo = '{}';
    with waiting as (
      select j.job_id, j.task_queue_id, j.user_priority, j.held from taskqueue.job j
       where j.setup = p_setup and j.job_id = any (v_todo) order by j.job_id for update
    ), moved as (
      update taskqueue.job j set task_queue_id = n.task_queue_id, user_priority = n.user_priority
        from waiting w join unnest(p_task_queue_ids, p_job_ids, p_user_priorities) n (task_queue_id, job_id, user_priority) using (job_id)
       where j.setup = p_setup and j.job_id = w.job_id
      returning j.job_id, w.task_queue_id as old_queue_id, w.user_priority as old_priority, j.task_queue_id, j.user_priority, w.held
    ), counted as (
      insert into taskqueue.job_count_change (setup, task_queue_id, user_priority, change, first_id)
      select p_setup, c.queue_id, c.user_priority, sum(c.change), min(m.job_id) filter (where c.change > 0)
        from moved m
       cross join lateral (values (m.old_queue_id, m.old_priority, -1), (m.task_queue_id, m.user_priority, 1)) c (queue_id, user_priority, change)
       where not m.held
       group by c.queue_id, c.user_priority
      having sum(c.change) <> 0 or count(*) filter (where c.change > 0) > 0
    )
    select array_agg(distinct m.old_queue_id), array(select unnest(v_todo) except select m.job_id from moved m)
      into v_left, v_todo from moved m;
    if p_identity.private then  -- the rows are locked, and were moved before this looks at whose they were
      perform taskqueue.may_submit(p_identity, d.requirements)
         from taskqueue.task_queue q join taskqueue.definition d on d.setup = q.setup and d.definition_id = q.definition_id
        where q.setup = p_setup and q.task_queue_id = any (v_left);
    end if;
    foreach v_queue_id in array coalesce(v_left, '{}') loop
      perform taskqueue.drop_if_empty(p_setup, v_queue_id);
    end loop;
    exit when v_todo = '{}';
  end loop;
end $$;

ALTER FUNCTION taskqueue.fill_queues(p_setup text, p_task_queue_ids bigint[], p_job_ids bigint[], p_user_priorities integer[], p_identity resource.identity) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.fill_queues(p_setup text, p_task_queue_ids bigint[], p_job_ids bigint[], p_user_priorities integer[], p_identity resource.identity) IS 'Inserts jobs into queues, one named for each, or moves those that wait already there, with their counts. Errors: PB002 (a private submitter would move the job of another).';

CREATE UNLOGGED TABLE taskqueue.known_offer (
    setup text NOT NULL,
    digest bigint NOT NULL,
    resource jsonb NOT NULL,
    offer taskqueue.offer NOT NULL,
    tests integer NOT NULL,
    cpu_buckets double precision[] NOT NULL,
    ten_first boolean NOT NULL,
    policy text NOT NULL,
    lease_time interval NOT NULL,
    seen_at timestamp with time zone,
    seen bigint[] DEFAULT '{}'::bigint[] NOT NULL,
    matching bigint[],
    matched_at timestamp with time zone,
    known_to xid8,
    in_flight xid8[]
)
WITH (fillfactor='70');
ALTER TABLE ONLY taskqueue.known_offer ALTER COLUMN setup SET (n_distinct=1);
ALTER TABLE ONLY taskqueue.known_offer ALTER COLUMN matching SET STORAGE EXTERNAL;

ALTER TABLE taskqueue.known_offer OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.known_offer IS 'Resource descriptions as they were parsed, so that a resource that asks again is known; unlogged, forgotten when a configuration changes (taskqueue.forget_offers) and when unseen for ten minutes.';

COMMENT ON COLUMN taskqueue.known_offer.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.known_offer.digest IS 'Hash of the description.';

COMMENT ON COLUMN taskqueue.known_offer.resource IS 'The description without CPUTime and JobID, with the owner of a private identity.';

COMMENT ON COLUMN taskqueue.known_offer.offer IS 'What it offers.';

COMMENT ON COLUMN taskqueue.known_offer.tests IS 'Which demands of a definition (its bits) this offer may not meet, Site, BannedSites, Platform and Tag aside; bit 1: all conditions are to be tested.';

COMMENT ON COLUMN taskqueue.known_offer.cpu_buckets IS 'CPU buckets of the setup, ascending.';

COMMENT ON COLUMN taskqueue.known_offer.ten_first IS 'Setting of the setup.';

COMMENT ON COLUMN taskqueue.known_offer.policy IS 'Setting of the setup.';

COMMENT ON COLUMN taskqueue.known_offer.lease_time IS 'Setting of the setup.';

COMMENT ON COLUMN taskqueue.known_offer.seen_at IS 'When taskqueue.see_resource last noted it.';

COMMENT ON COLUMN taskqueue.known_offer.seen IS 'CPU buckets with which it was noted.';

COMMENT ON COLUMN taskqueue.known_offer.matching IS 'Definitions that match it whatever its CPUTime, where they are few; null = not known, or many.';

COMMENT ON COLUMN taskqueue.known_offer.matched_at IS 'When matching was found out.';

COMMENT ON COLUMN taskqueue.known_offer.known_to IS 'Definitions made in this transaction or later are not in matching yet,';

COMMENT ON COLUMN taskqueue.known_offer.in_flight IS 'nor those of these transactions.';

CREATE FUNCTION taskqueue.find_matching(p_setup text, p_known taskqueue.known_offer) RETURNS taskqueue.known_offer
    LANGUAGE plpgsql
    AS $$
declare
  v_offer taskqueue.offer := p_known.offer;
  v_snapshot pg_snapshot;
  v_ids bigint[];
begin
  v_offer.cpu_time := 9223372036854775807;
  v_offer.reached := null;
  if v_offer.owner_groups is not null then  -- a private pilot: by the index of owners
    select pg_current_snapshot(), array(
             select d.definition_id from taskqueue.definition d
              where d.setup = p_setup and d.owner_group = any (v_offer.owner_groups) and taskqueue.accepts(d, v_offer))
      into v_snapshot, v_ids;
  else
    select pg_current_snapshot(), array(select d.definition_id from taskqueue.definition d where d.setup = p_setup and taskqueue.accepts(d, v_offer))
      into v_snapshot, v_ids;
  end if;
  perform taskqueue.keep_matching(p_setup, p_known, v_ids, v_snapshot);
  p_known.matching := case when cardinality(v_ids) <= 500 then v_ids end;
  p_known.matched_at := now();
  return p_known;
end $$;

ALTER FUNCTION taskqueue.find_matching(p_setup text, p_known taskqueue.known_offer) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.find_matching(p_setup text, p_known taskqueue.known_offer) IS 'A known description with the definitions that match it, found out by testing each.';

CREATE FUNCTION taskqueue.finish_job(p_setup text, p_job_id bigint, p_attempt text, p_outcome text DEFAULT 'finished'::text) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'taskqueue', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
begin
  perform resource.identify(p_setup);
  if p_outcome is null or p_outcome not in ('finished', 'failed', 'cancelled', 'closed') then
    raise exception 'outcome is %, which is not an end of a job', coalesce(quote_literal(p_outcome), 'null')
      using errcode = 'PB001', hint = 'Give finished, failed, cancelled or closed.';
  end if;
  perform taskqueue.enter(p_setup);
  -- The lock waits for the same call when it is still running (its client gave up on it); what it did is then to be seen.
  if taskqueue.holds_attempt(p_setup, p_job_id, p_attempt) then
    perform from taskqueue.lease l where l.setup = p_setup and l.job_id = p_job_id for update;
  end if;
  if exists (select from taskqueue.ended e
              where e.setup = p_setup and e.job_id = p_job_id and e.outcome = p_outcome
                and taskqueue.attempt_text(e.attempts, e.token) = p_attempt) then
    return p_outcome;
  end if;
  perform taskqueue.end_lease(taskqueue.lease_of(p_setup, p_job_id, p_attempt), p_outcome);
  return p_outcome;
end $$;

ALTER FUNCTION taskqueue.finish_job(p_setup text, p_job_id bigint, p_attempt text, p_outcome text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.finish_job(p_setup text, p_job_id bigint, p_attempt text, p_outcome text) IS 'Ends a leased job: finished, failed, cancelled or closed. The same call again is no error. Errors: PB001 (outcome), PB002 (setup not granted), PB003 (stale attempt).';

CREATE FUNCTION taskqueue.first_site(p_offered text[], p_sites text[], p_banned_sites text[]) RETURNS text
    LANGUAGE sql IMMUTABLE
    AS $$
  select min(s) from unnest(p_offered) s where (cardinality(p_sites) = 0 or s = any (p_sites)) and not s = any (p_banned_sites)
$$;

ALTER FUNCTION taskqueue.first_site(p_offered text[], p_sites text[], p_banned_sites text[]) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.first_site(p_offered text[], p_sites text[], p_banned_sites text[]) IS 'The first of the offered sites that a queue accepts and does not ban; null = none. It is the site of the lease.';

CREATE FUNCTION taskqueue.fold_counts(p_setup text, p_task_queue_id bigint) RETURNS bigint
    LANGUAGE sql
    AS $$
  insert into taskqueue.job_count (setup, task_queue_id, known_to, in_flight, jobs, first_ids)
  select p_setup, p_task_queue_id, s.known_to,
         array(select x from pg_snapshot_xip(s.snapshot) x union all select s.own where s.own < s.known_to), n.jobs, n.first_ids
    from (select pg_current_snapshot() as snapshot, pg_snapshot_xmax(pg_current_snapshot()) as known_to, pg_current_xact_id() as own) s
   cross join lateral (
          select array_agg(coalesce(l.jobs, 0) order by i.level) as jobs, array_agg(f.job_id order by i.level) as first_ids, sum(l.changes) as changes
            from generate_series(0, 10) i (level)
            left join taskqueue.job_level(p_setup, p_task_queue_id, s.own) l on l.user_priority = i.level
            left join lateral (select j.job_id from taskqueue.job j
                                where j.setup = p_setup and j.task_queue_id = p_task_queue_id and not j.held and j.user_priority = l.user_priority
                                  and j.job_id >= coalesce(l.first_id, 0)
                                order by j.job_id limit 1) f on true) n
   where n.changes > 0
  returning 1::bigint
$$;

ALTER FUNCTION taskqueue.fold_counts(p_setup text, p_task_queue_id bigint) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.fold_counts(p_setup text, p_task_queue_id bigint) IS 'Counts the changes of a queue into a new base; null where there were none. The counts read the same before and after.';

CREATE FUNCTION taskqueue.fold_weights(p_setup text, p_group text) RETURNS void
    LANGUAGE sql
    AS $$
  with gone as (
    delete from taskqueue.owner_weight d where d.ctid = any (array(
      select w.ctid from taskqueue.owner_weight w
       where w.setup = p_setup and w.owner_group = p_group
         and (w.owner_dn, w.light) in (select m.owner_dn, m.light from taskqueue.owner_weight m
                                        where m.setup = p_setup and m.owner_group = p_group group by 1, 2 having count(*) > 1)
         for update skip locked))
    returning d.owner_dn, d.light, d.queues, d.weight
  )
  insert into taskqueue.owner_weight (setup, owner_group, owner_dn, light, queues, weight)
  select p_setup, p_group, g.owner_dn, g.light, sum(g.queues), sum(g.weight) from gone g
   group by g.owner_dn, g.light having sum(g.queues) <> 0 or sum(g.weight) <> 0
$$;

ALTER FUNCTION taskqueue.fold_weights(p_setup text, p_group text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.fold_weights(p_setup text, p_group text) IS 'Makes the rows of taskqueue.owner_weight of an owner group few again, without changing their sums.';

CREATE FUNCTION taskqueue.forget_ended(p_setup text, p_older_than interval DEFAULT '1 day'::interval) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'taskqueue', 'pg_temp'
    AS $$
declare
  v_count bigint;
begin
  perform resource.identify(p_setup);
  if p_older_than is null or p_older_than < interval '0' then
    raise exception 'older_than is %', coalesce(p_older_than::text, 'null') using errcode = 'PB001', hint = 'Give an interval, not negative.';
  end if;
  delete from taskqueue.ended e where e.setup = p_setup and e.ended_at <= resource.clock(p_setup) - p_older_than;
  get diagnostics v_count = row_count;
  return v_count;
end $$;

ALTER FUNCTION taskqueue.forget_ended(p_setup text, p_older_than interval) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.forget_ended(p_setup text, p_older_than interval) IS 'Forgets the jobs that ended at least that long ago; returns how many. Their attempts start at 1 if the ids come again. Errors: PB001, PB002 (setup not granted).';

CREATE FUNCTION taskqueue.forget_offers(p_setup text) RETURNS void
    LANGUAGE sql
    AS $$
  delete from taskqueue.known_offer k where k.setup = p_setup
$$;

ALTER FUNCTION taskqueue.forget_offers(p_setup text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.forget_offers(p_setup text) IS 'Forgets the descriptions that were parsed, because a configuration changes. The caller has called taskqueue.reconfigure.';

CREATE FUNCTION taskqueue.free_slots(p_setup text, p_job_id bigint) RETURNS void
    LANGUAGE sql
    AS $$
  with gone as (
    delete from taskqueue.limit_use u where u.setup = p_setup and u.job_id = p_job_id returning u.limit_id, u.slot
  )
  insert into taskqueue.limit_slot (setup, limit_id, slot) select p_setup, g.limit_id, g.slot from gone g;
$$;

ALTER FUNCTION taskqueue.free_slots(p_setup text, p_job_id bigint) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.free_slots(p_setup text, p_job_id bigint) IS 'Gives back the limit slots of a job.';

CREATE FUNCTION taskqueue.hold(p_setup text, p_kind text, p_name text) RETURNS bigint
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'taskqueue', 'pg_temp'
    AS $$
  select taskqueue.set_held(p_setup, p_kind, p_name, true)
$$;

ALTER FUNCTION taskqueue.hold(p_setup text, p_kind text, p_name text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.hold(p_setup text, p_kind text, p_name text) IS 'Holds a waiting job (id), an owner (OwnerDN; its present and future queues) or a queue (id): not matched until let go. Returns how many jobs or queues changed. Errors: PB001, PB002, PB004, PB005 (leased).';

CREATE FUNCTION taskqueue.holds_attempt(p_setup text, p_job_id bigint, p_attempt text) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
  select exists (select from taskqueue.lease l
                  where l.setup = p_setup and l.job_id = p_job_id and taskqueue.attempt_text(l.attempt, l.token) = p_attempt)
$$;

ALTER FUNCTION taskqueue.holds_attempt(p_setup text, p_job_id bigint, p_attempt text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.holds_attempt(p_setup text, p_job_id bigint, p_attempt text) IS 'Whether the attempt has the job now.';

CREATE FUNCTION taskqueue.insert_job(p_setup text, p_job_id bigint, p_requirements jsonb, p_user_priority integer DEFAULT 1, p_request_id uuid DEFAULT NULL::uuid) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'taskqueue', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
declare
  v_identity resource.identity := resource.identify(p_setup);
  v_requirements jsonb;
  v_asked uuid := md5(jsonb_build_array(p_job_id, p_requirements, p_user_priority)::text)::uuid;
  v_answer jsonb;
  v_made bigint[];
begin
  perform taskqueue.enter(p_setup);
  perform taskqueue.require_setup(p_setup);
  v_answer := taskqueue.answer_given(v_identity, p_request_id, 'insert_job', v_asked);
  if v_answer is not null then
    return v_answer::bigint;
  end if;
  v_requirements := taskqueue.canonical_requirements(p_setup, p_requirements);
  perform taskqueue.may_submit(v_identity, v_requirements);
  -- Batches with the same id may lock crosswise with this: who PostgreSQL picks gives way and begins anew,
  -- a moment later, so that it does not meet the same ones again.
  for v_try in 1..20 loop
    begin
      select to_jsonb(p.task_queue_id), p.made into v_answer, v_made
        from taskqueue.place_jobs(p_setup, v_requirements, array[taskqueue.job_id(to_jsonb(p_job_id))],
                                  array[taskqueue.job_priority(p_job_id, p_user_priority)], v_identity) p;
      exit;
    exception when deadlock_detected then
      if v_try = 20 then
        raise exception 'other calls insert job % again and again', p_job_id using errcode = 'PB006', hint = 'Try again.';
      end if;
      perform pg_sleep(0.2 * random());
    end;
  end loop;
  perform taskqueue.open_queues(p_setup, v_made);
  perform taskqueue.keep_answer(v_identity, p_request_id, 'insert_job', v_asked, v_answer);
  return v_answer::bigint;
end $$;

ALTER FUNCTION taskqueue.insert_job(p_setup text, p_job_id bigint, p_requirements jsonb, p_user_priority integer, p_request_id uuid) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.insert_job(p_setup text, p_job_id bigint, p_requirements jsonb, p_user_priority integer, p_request_id uuid) IS 'Inserts a waiting job and returns its TaskQueue; an id that waits already is moved. The same request id within ten minutes gives the same answer. Errors: PB001 (requirements, id, priority; section 3), PB002 (setup or owner not granted), PB005 (leased), PB006 (others insert the same job again and again).';

CREATE FUNCTION taskqueue.insert_jobs(p_setup text, p_jobs jsonb, p_request_id uuid DEFAULT NULL::uuid) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'taskqueue', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
declare
  v_identity resource.identity := resource.identify(p_setup);
  v_asked uuid := case when p_request_id is not null then md5(p_jobs::text)::uuid end;
  v_answer jsonb;
  v_count bigint;
  v_made bigint[];
begin
  perform taskqueue.enter(p_setup);
  perform taskqueue.require_setup(p_setup);
  v_answer := taskqueue.answer_given(v_identity, p_request_id, 'insert_jobs', v_asked);
  if v_answer is not null then
    return v_answer::bigint;
  end if;
  v_count := taskqueue.check_batch(p_jobs);
  -- Two batches with the same ids under different requirements may lock them crosswise: who PostgreSQL picks gives way and begins anew,
  -- a moment later, so that it does not meet the same ones again.
  for v_try in 1..20 loop
    begin
      v_made := taskqueue.place_batch(v_identity, p_jobs);
      exit;
    exception when deadlock_detected then
      if v_try = 20 then
        raise exception 'other calls insert the same jobs' using errcode = 'PB006', hint = 'Try again.';
      end if;
      perform pg_sleep(0.2 * random());
    end;
  end loop;
  perform taskqueue.open_queues(p_setup, v_made);
  perform taskqueue.keep_answer(v_identity, p_request_id, 'insert_jobs', v_asked, to_jsonb(v_count));
  return v_count;
end $$;

ALTER FUNCTION taskqueue.insert_jobs(p_setup text, p_jobs jsonb, p_request_id uuid) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.insert_jobs(p_setup text, p_jobs jsonb, p_request_id uuid) IS 'Inserts jobs, up to 100,000 a call, all or none, and returns how many. An element is {job_id, requirements, user_priority} or a group {requirements, jobs: [[id, user_priority], ...]}. Errors: PB001, PB002, PB005, naming the job; PB006 (others insert the same jobs again and again).';

CREATE FUNCTION taskqueue.is_background(p_weight double precision, p_allow_background boolean) RETURNS boolean
    LANGUAGE sql IMMUTABLE
    AS $$
  select p_allow_background and p_weight <= 0.1
$$;

ALTER FUNCTION taskqueue.is_background(p_weight double precision, p_allow_background boolean) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.is_background(p_weight double precision, p_allow_background boolean) IS 'Whether a queue of this mean draw weight is background in its group.';

CREATE FUNCTION taskqueue.is_foreign(p_setup text) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
  select exists (select from taskqueue.job_count c where c.setup = p_setup and c.known_to > pg_snapshot_xmax(pg_current_snapshot()))
      or exists (select from taskqueue.definition d where d.setup = p_setup and d.made_in > pg_snapshot_xmax(pg_current_snapshot())
                    and d.made_in is distinct from pg_current_xact_id_if_assigned())
      or exists (select from taskqueue.known_offer k where k.setup = p_setup and k.known_to > pg_snapshot_xmax(pg_current_snapshot()))
$$;

ALTER FUNCTION taskqueue.is_foreign(p_setup text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.is_foreign(p_setup text) IS 'Whether a setup was restored from another server and taskqueue.rebuild_matching was not called since.';

CREATE FUNCTION taskqueue.is_news(p_known taskqueue.known_offer, p_cpu_time bigint, p_matched boolean) RETURNS boolean
    LANGUAGE sql
    AS $$
  select p_known.seen_at is null or random() < case when p_matched then 0.02 else 0.1 end
      or not coalesce(p_known.cpu_buckets[width_bucket(p_cpu_time, p_known.cpu_buckets)], 0)::bigint = any (p_known.seen)
$$;

ALTER FUNCTION taskqueue.is_news(p_known taskqueue.known_offer, p_cpu_time bigint, p_matched boolean) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.is_news(p_known taskqueue.known_offer, p_cpu_time bigint, p_matched boolean) IS 'Whether a call that found a job or not is to note its resource.';

CREATE TABLE taskqueue.task_queue (
    setup text NOT NULL,
    task_queue_id bigint NOT NULL,
    definition_id bigint NOT NULL,
    owner_dn text NOT NULL,
    owner_group text NOT NULL,
    cpu_time bigint NOT NULL,
    min_ram double precision,
    max_ram double precision,
    priority double precision NOT NULL,
    mean_weight double precision NOT NULL,
    enabled boolean DEFAULT true NOT NULL,
    held boolean DEFAULT false NOT NULL,
    posted boolean DEFAULT false NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT task_queue_cpu_time_check CHECK ((cpu_time > 0)),
    CONSTRAINT task_queue_max_ram_check CHECK ((max_ram >= (0)::double precision)),
    CONSTRAINT task_queue_mean_weight_check CHECK ((mean_weight > (0)::double precision)),
    CONSTRAINT task_queue_min_ram_check CHECK ((min_ram >= (0)::double precision)),
    CONSTRAINT task_queue_owner_dn_check CHECK ((owner_dn <> ''::text)),
    CONSTRAINT task_queue_owner_group_check CHECK ((owner_group <> ''::text)),
    CONSTRAINT task_queue_priority_check CHECK (((priority > (0)::double precision) AND (priority < 'Infinity'::double precision))),
    CONSTRAINT task_queue_ram CHECK ((min_ram <= max_ram))
);
ALTER TABLE ONLY taskqueue.task_queue ALTER COLUMN setup SET (n_distinct=1);

ALTER TABLE taskqueue.task_queue OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.task_queue IS 'TaskQueues: all waiting jobs with identical requirements, about queue_size at most; the unit of matching (seed 004). Columns hold the requirements with one value, the tables task_queue_* those with many; these are the truth.';

COMMENT ON COLUMN taskqueue.task_queue.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.task_queue.task_queue_id IS 'TaskQueue.';

COMMENT ON COLUMN taskqueue.task_queue.definition_id IS 'Its requirements as one row, shared with its siblings.';

COMMENT ON COLUMN taskqueue.task_queue.owner_dn IS 'OwnerDN: who submitted the jobs.';

COMMENT ON COLUMN taskqueue.task_queue.owner_group IS 'OwnerGroup: group used for the submission.';

COMMENT ON COLUMN taskqueue.task_queue.cpu_time IS 'Required CPU time, seconds; a trigger rounds it up to its bucket.';

COMMENT ON COLUMN taskqueue.task_queue.min_ram IS 'MinRAM that the resource must offer, MB; null = none asked.';

COMMENT ON COLUMN taskqueue.task_queue.max_ram IS 'MaxRAM, MB; null = none.';

COMMENT ON COLUMN taskqueue.task_queue.priority IS 'Share of its entity (section 9); the draw is random()/priority, the smallest wins.';

COMMENT ON COLUMN taskqueue.task_queue.mean_weight IS 'Mean draw weight of its jobs (tp of section 9) when its priority was computed.';

COMMENT ON COLUMN taskqueue.task_queue.enabled IS 'False: an operator took it out of matching.';

COMMENT ON COLUMN taskqueue.task_queue.held IS 'True: held by an operator.';

COMMENT ON COLUMN taskqueue.task_queue.posted IS 'Whether it is open: enabled, and neither it nor its owner held; exactly then it has postings.';

COMMENT ON COLUMN taskqueue.task_queue.created_at IS 'When it was opened.';

CREATE FUNCTION taskqueue.is_open(p_queue taskqueue.task_queue) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
  select p_queue.posted
      or p_queue.enabled and not p_queue.held
         and exists (select from taskqueue.unposted u where u.setup = p_queue.setup and u.task_queue_id = p_queue.task_queue_id)
         and not exists (select from taskqueue.held_owner h where h.setup = p_queue.setup and h.owner_dn = p_queue.owner_dn)
$$;

ALTER FUNCTION taskqueue.is_open(p_queue taskqueue.task_queue) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.is_open(p_queue taskqueue.task_queue) IS 'Whether a TaskQueue may be matched: enabled, and neither it nor its owner held.';

CREATE FUNCTION taskqueue.job_id(p_value jsonb, p_key text DEFAULT 'job_id'::text) RETURNS bigint
    LANGUAGE plpgsql IMMUTABLE
    AS $$
declare
  v_id numeric;
begin
  if jsonb_typeof(p_value) = 'number' then
    v_id := p_value::numeric;
    if v_id between 1 and 9223372036854775807 and v_id = trunc(v_id) then
      return v_id;
    end if;
  end if;
  raise exception '% is %, which is not a positive bigint', p_key, coalesce(p_value::text, 'missing')
    using errcode = 'PB001', hint = 'Job ids are integers within 1..9223372036854775807.';
end $$;

ALTER FUNCTION taskqueue.job_id(p_value jsonb, p_key text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.job_id(p_value jsonb, p_key text) IS 'A job id from JSON, checked. Errors: PB001.';

CREATE FUNCTION taskqueue.job_level(p_setup text, p_task_queue_id bigint, p_except xid8 DEFAULT NULL::xid8) RETURNS TABLE(user_priority smallint, jobs bigint, changes bigint, first_id bigint)
    LANGUAGE sql STABLE ROWS 3
    AS $$
  select n.user_priority, sum(n.jobs)::bigint, sum(n.changes)::bigint, min(n.first_id)
    from (select b.jobs, b.first_ids, b.known_to, b.in_flight from taskqueue.job_count b
           where b.setup = p_setup and b.task_queue_id = p_task_queue_id
           order by b.known_to desc, b.count_id desc limit 1) t
   cross join lateral (
          select (l.number - 1)::smallint as user_priority, l.jobs, 0 as changes, l.first_id
            from unnest(t.jobs, t.first_ids) with ordinality l (jobs, first_id, number)
           where l.jobs <> 0
          union all
          select c.user_priority, c.change, 1, c.first_id from taskqueue.job_count_change c
           where c.setup = p_setup and c.task_queue_id = p_task_queue_id and c.made_in >= t.known_to and c.made_in is distinct from p_except
          union all
          select c.user_priority, c.change, 1, c.first_id from taskqueue.job_count_change c
           where c.setup = p_setup and c.task_queue_id = p_task_queue_id and c.made_in = any (t.in_flight) and c.made_in is distinct from p_except) n
   group by n.user_priority
$$;

ALTER FUNCTION taskqueue.job_level(p_setup text, p_task_queue_id bigint, p_except xid8) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.job_level(p_setup text, p_task_queue_id bigint, p_except xid8) IS 'Waiting jobs of a queue that are not held by user priority, how many changes had to be read, and an id below which there is none; without what the transaction p_except changed.';

CREATE FUNCTION taskqueue.job_priority(p_job_id bigint, p_user_priority numeric) RETURNS integer
    LANGUAGE plpgsql IMMUTABLE
    AS $$
begin
  if p_user_priority between 0 and 10 and p_user_priority = trunc(p_user_priority) then
    return p_user_priority;
  end if;
  raise exception 'user_priority of job % is %, which is not an integer within 0..10', p_job_id, coalesce(p_user_priority::text, 'null')
    using errcode = 'PB001', hint = '1..10 weigh as they are, 0 is background.';
end $$;

ALTER FUNCTION taskqueue.job_priority(p_job_id bigint, p_user_priority numeric) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.job_priority(p_job_id bigint, p_user_priority numeric) IS 'The user priority of a job, checked. Errors: PB001.';

CREATE FUNCTION taskqueue.jobs_in(p_setup text, p_task_queue_id bigint) RETURNS bigint
    LANGUAGE sql STABLE
    AS $$
  select coalesce(sum(l.jobs), 0)::bigint from taskqueue.job_level(p_setup, p_task_queue_id) l
$$;

ALTER FUNCTION taskqueue.jobs_in(p_setup text, p_task_queue_id bigint) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.jobs_in(p_setup text, p_task_queue_id bigint) IS 'Waiting jobs of a queue that are not held.';

CREATE FUNCTION taskqueue.keep_answer(p_identity resource.identity, p_request_id uuid, p_call text, p_asked uuid, p_answer jsonb) RETURNS void
    LANGUAGE sql
    AS $$
  insert into taskqueue.request (setup, role_name, request_id, call, asked, answer, made_at)
  select p_identity.setup, p_identity.role_name, p_request_id, p_call, p_asked, p_answer, resource.clock(p_identity.setup)
   where p_request_id is not null
  on conflict (setup, role_name, request_id) do update
     set call = excluded.call, asked = excluded.asked, answer = excluded.answer, made_at = excluded.made_at
$$;

ALTER FUNCTION taskqueue.keep_answer(p_identity resource.identity, p_request_id uuid, p_call text, p_asked uuid, p_answer jsonb) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.keep_answer(p_identity resource.identity, p_request_id uuid, p_call text, p_asked uuid, p_answer jsonb) IS 'Keeps the answer of a request for ten minutes (taskqueue.maintain forgets it).';

CREATE FUNCTION taskqueue.keep_matching(p_setup text, p_known taskqueue.known_offer, p_ids bigint[], p_snapshot pg_snapshot) RETURNS void
    LANGUAGE sql
    AS $$
  update taskqueue.known_offer k
     set matching = case when cardinality(p_ids) <= 500 then p_ids end, matched_at = now(),
         known_to = pg_snapshot_xmax(p_snapshot), in_flight = array(select x from pg_snapshot_xip(p_snapshot) x) || pg_current_xact_id_if_assigned()
   where k.ctid = any (array(select i.ctid from taskqueue.known_offer i
                              where i.setup = p_setup and i.digest = p_known.digest and i.resource = p_known.resource for update skip locked))
$$;

ALTER FUNCTION taskqueue.keep_matching(p_setup text, p_known taskqueue.known_offer, p_ids bigint[], p_snapshot pg_snapshot) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.keep_matching(p_setup text, p_known taskqueue.known_offer, p_ids bigint[], p_snapshot pg_snapshot) IS 'Writes down which definitions match a description, as of a snapshot; more than 500 are not written down.';

CREATE FUNCTION taskqueue.known_offer_of(p_setup text, p_resource jsonb, p_identity resource.identity) RETURNS taskqueue.known_offer
    LANGUAGE plpgsql
    AS $$
declare
  v_known taskqueue.known_offer;
  v_resource jsonb;
  v_digest bigint;
  v_cpu_time numeric;
begin
  v_resource := case when jsonb_typeof(p_resource) = 'object' then p_resource - '{CPUTime,JobID}'::text[] end;
  if p_identity.private then
    v_resource := v_resource || jsonb_build_object('OwnerDN', p_identity.owner_dn, 'OwnerGroup', p_identity.owner_group);
  end if;
  v_digest := jsonb_hash_extended(v_resource, 0);
  if jsonb_typeof(p_resource -> 'CPUTime') = 'number' and not p_resource ? 'JobID' then
    v_cpu_time := (p_resource -> 'CPUTime')::numeric;
    select k.* into v_known from taskqueue.known_offer k where k.setup = p_setup and k.digest = v_digest and k.resource = v_resource limit 1;
  end if;
  if v_known.digest is not null and v_cpu_time >= 0 and v_cpu_time < 1e300 then
    v_known.offer.cpu_time := floor(least(v_cpu_time, 9223372036854775807));
    if (v_known.offer).limited then
      v_known.offer := taskqueue.with_limits(p_setup, p_resource, v_known.offer);
    end if;
    return v_known;
  end if;
  v_known.setup := p_setup;
  v_known.digest := v_digest;
  v_known.resource := v_resource;
  v_known.offer := taskqueue.offer_of(p_setup, p_resource, p_identity);
  v_known.seen := '{}';
  v_known.tests := taskqueue.tests_of(v_known.offer);
  v_known.cpu_buckets := array(select b.cpu_time from taskqueue.cpu_bucket b where b.setup = p_setup order by b.cpu_time);
  select coalesce(s.ten_first, false), coalesce(s.policy, 'dirac'), coalesce(s.lease_time, '30 minutes') into v_known.ten_first, v_known.policy, v_known.lease_time
    from (values (1)) one left join taskqueue.setting s on s.setup = p_setup;
  if (v_known.offer).job_id is null and v_cpu_time is not null
     and exists (select from resource.setup s where s.setup = p_setup) and pg_try_advisory_xact_lock(v_digest) then
    insert into taskqueue.known_offer select v_known.*;
  end if;
  return v_known;
end $$;

ALTER FUNCTION taskqueue.known_offer_of(p_setup text, p_resource jsonb, p_identity resource.identity) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.known_offer_of(p_setup text, p_resource jsonb, p_identity resource.identity) IS 'A resource description, parsed or known from before. Errors: PB001, naming key and value (taskqueue.offer_of).';

CREATE FUNCTION taskqueue.lease_batch(p_setup text, p_resource jsonb, p_limit integer, p_seed bigint DEFAULT NULL::bigint) RETURNS TABLE(job_id bigint, task_queue_id bigint, requirements jsonb, user_priority integer, attempt text)
    LANGUAGE plpgsql
    AS $$
declare
  v_known taskqueue.known_offer;
  v_offer taskqueue.offer;
  v_sites text[];
  v_secret uuid := gen_random_uuid();
  v_streams taskqueue.stream[];
  v_leased taskqueue.stream[] := '{}'::taskqueue.stream[];
  v_turn bigint := 0;
  v_stop int;  -- the first stream that is to be gone on with one by one
  v_queue record;
begin
  if p_limit > 2 then
    v_known := taskqueue.known_offer_of(p_setup, p_resource, resource.identify(p_setup));
    v_offer := v_known.offer;
    v_sites := case when v_offer.sites is null then array[''] else v_offer.sites || '*'::text end;
  end if;
  if p_limit <= 2 or v_offer.limited or v_offer.job_id is not null or v_known.matching is not null then
    return query select * from taskqueue.lease_jobs(p_setup, p_resource, p_limit, p_seed);
    return;
  end if;
  with recursive point as (
    select n as number, hashint8extended(n, coalesce(p_seed, uuid_hash_extended(v_secret, 0))) as seed, width_bucket(v_offer.cpu_time, v_known.cpu_buckets) as entry,
           0 as points, 0::float8 as above, null::bigint as task_queue_id, null::bigint as definition_id, 8 as most
      from generate_series(1, p_limit) n
    union all
    select p.number, p.seed, case when o.enough is null then p.entry - 1 else p.entry end,
           case when o.enough is null then 0 else p.points + 1 end, case when o.enough is null then 0 else o.key end,
           case when f.fits then o.task_queue_id end, case when f.fits then (o.definition).definition_id end,
           case when o.enough is null then 8 else greatest(p.most, case when v_known.matched_at is null then least(o.enough, 32) else o.enough end) end
      from point p
      left join lateral taskqueue.queue_point(p_setup, v_sites, v_known.cpu_buckets[p.entry]::bigint, p.above, v_known.policy,
                                              p.seed # ((p.entry * 1000000::bigint + p.points + 1) * 64), v_offer, v_known.tests) o on true
     cross join lateral (
           select o.task_queue_id is not null
                  and coalesce(o.fits, taskqueue.accepts(o.definition, v_offer)
                                       and (cardinality(v_sites) <= 2 or o.site = '*'
                                            or o.site = taskqueue.first_site(v_offer.sites, (o.definition).sites, (o.definition).banned_sites))) as fits offset 0) f
     where p.task_queue_id is null and p.entry > 0 and p.points < p.most)
  select array_agg(e.stream order by (e.stream).number), coalesce(min((e.stream).number) filter (where (e.stream).task_queue_id is null), p_limit + 1)
    into v_streams, v_stop
    from (select row(p.number, p.seed, p.entry, p.points, p.above, p.task_queue_id, p.definition_id, row_number() over (partition by p.task_queue_id order by p.number),
                     null, null, null, null)::taskqueue.stream as stream
            from point p where p.task_queue_id is not null or p.entry = 0 or p.points >= p.most) e;
  loop
    v_turn := v_turn + 1;
    exit when not exists (select from unnest(v_streams) s where s.turn = v_turn and s.number < v_stop);
    with picked as materialized (
      select s.*, f.job_id as picked_id, f.jobs as jobs_now
        from unnest(v_streams) s
        left join lateral taskqueue.pick_job(p_setup, s.task_queue_id, v_known.ten_first, v_known.policy, s.seed # 4) f on true
       where s.turn = v_turn and s.number < v_stop
    ), stop as materialized (
      select least(v_stop, min(s.number)) as number from unnest(v_streams) s
        join picked p on p.task_queue_id = s.task_queue_id where s.turn - v_turn >= coalesce(p.jobs_now, 0)
    ), gone as (
      delete from taskqueue.job j
       where j.setup = p_setup and j.ctid = any (array(select l.ctid from picked p
                                                         join taskqueue.job l on l.setup = p_setup and l.job_id = p.picked_id and l.task_queue_id = p.task_queue_id
                                                        where p.number < (select t.number from stop t) and not l.held for update of l skip locked))
      returning j.job_id, j.task_queue_id, j.user_priority, j.attempts + 1 as attempt
    ), counted as (
      insert into taskqueue.job_count_change (setup, task_queue_id, user_priority, change)
      select p_setup, g.task_queue_id, g.user_priority, -1 from gone g
    ), leased as (
      insert into taskqueue.lease (setup, job_id, attempt, token, task_queue_id, definition_id, user_priority, site, grid_ce, role_name, matched_at, expires_at)
      select p_setup, g.job_id, g.attempt, md5(v_secret || '/' || p.number)::uuid, g.task_queue_id, p.definition_id, g.user_priority,
             case when cardinality(v_offer.sites) = 1 then v_offer.sites[1] else taskqueue.first_site(v_offer.sites, d.sites, d.banned_sites) end,
             case when cardinality(v_offer.grid_ces) = 1 then v_offer.grid_ces[1] else taskqueue.first_site(v_offer.grid_ces, d.grid_ces, '{}') end,
             resource.caller(), t.now, t.now + v_known.lease_time
        from gone g
        join picked p on p.task_queue_id = g.task_queue_id
        join taskqueue.definition d on d.setup = p_setup and d.definition_id = p.definition_id
        join resource.setup_time t on t.setup = p_setup
      returning lease.job_id, lease.task_queue_id, lease.user_priority, taskqueue.attempt_text(lease.attempt, lease.token) as attempt
    )
    select v_leased || array_agg(row(p.number, p.seed, p.entry, p.points, p.above, p.task_queue_id, p.definition_id, p.turn, p.jobs_now,
                                     l.job_id, l.user_priority, l.attempt)::taskqueue.stream),
           (select t.number from stop t)
      into v_leased, v_stop
      from leased l join picked p on p.task_queue_id = l.task_queue_id;
  end loop;
  return query
    select s.job_id, s.task_queue_id, d.requirements, s.user_priority::int, s.attempt
      from unnest(v_leased) s
      join taskqueue.definition d on d.setup = p_setup and d.definition_id = s.definition_id
     order by s.number;
  for v_queue in select s.task_queue_id, s.jobs from unnest(v_leased) s where s.jobs <= 1 or s.seed & 15 = 0 loop
    if v_queue.jobs <= 1 then
      perform taskqueue.drop_if_empty(p_setup, v_queue.task_queue_id);
    else
      perform taskqueue.fold_counts(p_setup, v_queue.task_queue_id);
      perform taskqueue.post_pending(p_setup);
    end if;
  end loop;
  if cardinality(v_leased) < p_limit then
    return query
      select m.* from taskqueue.lease_jobs(p_setup, p_resource, p_limit - cardinality(v_leased), p_seed,
                                           array(select s from unnest(v_streams) s where s.number <> all (array(select l.number from unnest(v_leased) l)) order by s.number)) m;
  end if;
  if taskqueue.is_news(v_known, v_offer.cpu_time, v_leased <> '{}' or found) then
    perform taskqueue.see_resource(p_setup, p_resource, v_known, v_leased <> '{}' or found);
  end if;
end $$;

ALTER FUNCTION taskqueue.lease_batch(p_setup text, p_resource jsonb, p_limit integer, p_seed bigint) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.lease_batch(p_setup text, p_resource jsonb, p_limit integer, p_seed bigint) IS 'Leases up to p_limit jobs to a resource, drawn side by side; given a seed, the draws follow from it. Errors: PB001 (description), PB002 (setup not granted).';

CREATE FUNCTION taskqueue.lease_jobs(p_setup text, p_resource jsonb, p_limit integer, p_seed bigint DEFAULT NULL::bigint, p_streams taskqueue.stream[] DEFAULT NULL::taskqueue.stream[]) RETURNS TABLE(job_id bigint, task_queue_id bigint, requirements jsonb, user_priority integer, attempt text)
    LANGUAGE plpgsql ROWS 1
    AS $$
declare
  v_resource jsonb;
  v_known taskqueue.known_offer;
  v_offer taskqueue.offer;
  v_sites text[];
  v_token uuid;
  v_seed bigint;
  v_entry int;
  v_points int;
  v_most int;  -- points, after which the rest of the bucket is drawn a key a queue
  v_above float8;
  v_definition_ids bigint[];  -- among which a key a queue is drawn; null: by points
  v_next bigint[];
  v_passed bigint[];
  v_queue record;
  v_pick record;
  v_job record;
  v_free boolean := true;
  v_listed boolean := false;  -- there are queues that the sites may see
  v_slots jsonb;
begin
  v_resource := case when jsonb_typeof(p_resource) = 'object' then p_resource - 'CPUTime' end;
  select k.* into v_known
    from resource.identity i
    join taskqueue.known_offer k on k.setup = p_setup and k.digest = jsonb_hash_extended(v_resource, 0) and k.resource = v_resource
   where i.setup = p_setup and i.role_name = resource.caller() and not i.private
   limit 1;
  if v_known.digest is null
     or (case when jsonb_typeof(p_resource -> 'CPUTime') = 'number' then (p_resource -> 'CPUTime')::numeric between 0 and 1e18 end) is not true then
    v_known := taskqueue.known_offer_of(p_setup, p_resource, resource.identify(p_setup));
    v_offer := v_known.offer;
  else
    v_offer := v_known.offer;
    v_offer.cpu_time := floor((p_resource -> 'CPUTime')::numeric);
  end if;
  v_sites := case when v_offer.sites is null then array[''] else v_offer.sites || '*'::text end;
  for v_number in 1..p_limit loop
    job_id := null;
    v_token := gen_random_uuid();
    v_seed := case when p_seed is null then uuid_hash_extended(v_token, 0) else hashint8extended(v_number, p_seed) end;  -- not random(): an agent could set that
    if v_offer.limited then
      v_offer := taskqueue.with_limits(p_setup, p_resource, v_offer);
    end if;
    for v_look in 0..1 loop
      v_entry := width_bucket(v_offer.cpu_time, v_known.cpu_buckets);
      v_points := 0;
      v_most := 8;
      v_above := 0;
      v_passed := '{}'::bigint[];
      v_next := null;
      v_definition_ids := null;
      if p_streams is not null and v_look = 0 then
        v_seed := (p_streams[v_number]).seed;
        v_entry := (p_streams[v_number]).entry;
        v_points := (p_streams[v_number]).points;
        v_above := (p_streams[v_number]).above;
        v_next := array[(p_streams[v_number]).task_queue_id];
        v_most := case when v_next[1] is null then v_points else 100 end;
        v_listed := true;
      end if;
      if v_offer.job_id is not null then
        v_entry := 0;
        v_next := taskqueue.wanted_queue(p_setup, v_offer);
      elsif v_known.matching is not null then
        v_definition_ids := v_known.matching || taskqueue.new_matching(p_setup, v_known);
      end if;
      loop
        if v_next <> '{}' then
          select q.task_queue_id, d.definition_id, d.requirements, d.sites, d.banned_sites, d.grid_ces into v_queue
            from taskqueue.task_queue q
            join taskqueue.definition d on d.setup = p_setup and d.definition_id = q.definition_id
           where q.setup = p_setup and q.task_queue_id = v_next[1] and (q.posted or v_offer.job_id is not null);  -- who wants a job does not need the lists
          v_next := v_next[2:];
          continue when not found;
        elsif v_entry = 0 then
          exit;
        elsif v_definition_ids is not null then
          v_next := taskqueue.drawn_queues(p_setup, v_offer, v_definition_ids, v_known.cpu_buckets[v_entry]::bigint, v_above, v_passed, v_known.policy, v_seed # 8 # v_look);
          if v_next = '{}' then
            exit when v_known.matching is not null;
            v_definition_ids := null;
            v_entry := v_entry - 1;
            v_points := 0;
            v_most := 8;
            v_above := 0;
          end if;
          continue;
        elsif v_points >= v_most then
          if v_points >= 32 and v_known.matched_at is null then
            v_known := taskqueue.find_matching(p_setup, v_known);
          end if;
          v_definition_ids := coalesce(v_known.matching, array(
            select distinct q.definition_id
              from taskqueue.task_queue q
             where q.setup = p_setup and q.task_queue_id = any (array(
                   select p.task_queue_id from taskqueue.posted_queue p
                    where p.setup = p_setup and p.site = any (v_sites) and p.cpu_time = v_known.cpu_buckets[v_entry]::bigint))));
          continue;
        else
          v_points := v_points + 1;
          select o.enough, o.key, o.task_queue_id, o.site, (o.definition).definition_id, (o.definition).requirements, (o.definition).sites, (o.definition).banned_sites,
                 (o.definition).grid_ces, o.task_queue_id <> all (v_passed) and o.fits as fits  -- null: to be looked at more closely
            into v_queue
            from taskqueue.queue_point(p_setup, v_sites, v_known.cpu_buckets[v_entry]::bigint, v_above, v_known.policy, v_seed # ((v_entry * 1000000::bigint + v_points) * 64 + v_look),
                                       v_offer, v_known.tests) o;
          if not found then
            v_entry := v_entry - 1;
            v_points := 0;
            v_most := 8;
            v_above := 0;
            continue;
          end if;
          v_listed := true;
          v_above := v_queue.key;
          v_most := greatest(v_most, case when v_known.matched_at is null then least(v_queue.enough, 32) else v_queue.enough end);
          if v_queue.fits is null and v_queue.task_queue_id is not null then  -- where several sites are offered, a queue counts in the list of one of them
            select taskqueue.accepts(d, v_offer)
                   and (cardinality(v_sites) <= 2 or v_queue.site = '*' or v_queue.site = taskqueue.first_site(v_offer.sites, d.sites, d.banned_sites)) into v_free
              from taskqueue.definition d where d.setup = p_setup and d.definition_id = v_queue.definition_id;
            continue when v_free is not true;
          else
            continue when v_queue.fits is not true;
          end if;
        end if;

        if v_offer.limited then
          select l.taken, l.slots into v_free, v_slots from taskqueue.lock_slots(p_setup, v_queue.requirements, v_offer) l;
          if not v_free then
            v_passed := v_passed || v_queue.task_queue_id;
            continue;
          end if;
        end if;
        if v_offer.job_id is null then
          select f.job_id, f.jobs into v_pick from taskqueue.pick_job(p_setup, v_queue.task_queue_id, v_known.ten_first, v_known.policy, v_seed # 4) f;
        else
          select v_offer.job_id, 0::bigint as jobs into v_pick;
        end if;
        delete from taskqueue.job j
         where j.setup = p_setup and j.ctid = (select l.ctid from taskqueue.job l
                                                where l.setup = p_setup and l.job_id = v_pick.job_id and l.task_queue_id = v_queue.task_queue_id and not l.held
                                                  for update skip locked)
        returning j.job_id, j.user_priority, j.attempts + 1 as attempt into v_job;
        if v_job.job_id is null and v_offer.job_id is null then
          select t.job_id, t.user_priority, t.attempts + 1 as attempt into v_job
            from taskqueue.take_job(p_setup, v_queue.task_queue_id, v_known.ten_first, v_known.policy, v_seed # 4) t;
        end if;
        if v_job.job_id is null then
          perform taskqueue.drop_if_empty(p_setup, v_queue.task_queue_id);
          v_passed := v_passed || v_queue.task_queue_id;
          continue;
        end if;
        insert into taskqueue.job_count_change (setup, task_queue_id, user_priority, change)
        values (p_setup, v_queue.task_queue_id, v_job.user_priority, -1);
        insert into taskqueue.lease (setup, job_id, attempt, token, task_queue_id, definition_id, user_priority, site, grid_ce, role_name, matched_at, expires_at)
        select p_setup, v_job.job_id, v_job.attempt, v_token, v_queue.task_queue_id, v_queue.definition_id, v_job.user_priority,
               case when cardinality(v_offer.sites) = 1 then v_offer.sites[1] else taskqueue.first_site(v_offer.sites, v_queue.sites, v_queue.banned_sites) end,
               case when cardinality(v_offer.grid_ces) = 1 then v_offer.grid_ces[1] else taskqueue.first_site(v_offer.grid_ces, v_queue.grid_ces, '{}') end,
               resource.caller(), t.now, t.now + v_known.lease_time
          from resource.setup_time t where t.setup = p_setup;
        if v_slots <> '[]' then
          perform taskqueue.use_slots(p_setup, v_job.job_id, v_slots);
        end if;
        if coalesce(v_pick.jobs, 0) <= 1 then
          perform taskqueue.drop_if_empty(p_setup, v_queue.task_queue_id);
        elsif v_seed & 15 = 0 then
          perform taskqueue.fold_counts(p_setup, v_queue.task_queue_id);
          perform taskqueue.post_pending(p_setup);
        end if;
        job_id := v_job.job_id;
        task_queue_id := v_queue.task_queue_id;
        requirements := v_queue.requirements;
        user_priority := v_job.user_priority;
        attempt := taskqueue.attempt_text(v_job.attempt, v_token);
        return next;
        exit;
      end loop;
      exit when job_id is not null or v_look = 1 or not taskqueue.post_pending(p_setup);
    end loop;
    if v_number = 1 and p_streams is null and taskqueue.is_news(v_known, v_offer.cpu_time, job_id is not null) then
      v_known.offer := v_offer;
      perform taskqueue.see_resource(p_setup, p_resource, v_known, job_id is not null);
    end if;
    if v_known.matched_at is null and v_listed and job_id is null then
      v_known := taskqueue.find_matching(p_setup, v_known);
    end if;
    exit when job_id is null or v_offer.job_id is not null;
  end loop;
end $$;

ALTER FUNCTION taskqueue.lease_jobs(p_setup text, p_resource jsonb, p_limit integer, p_seed bigint, p_streams taskqueue.stream[]) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.lease_jobs(p_setup text, p_resource jsonb, p_limit integer, p_seed bigint, p_streams taskqueue.stream[]) IS 'Leases up to p_limit jobs to a resource; given a seed, the draws follow from it; given streams, they go on. Errors: PB001 (description), PB002 (setup not granted).';

CREATE FUNCTION taskqueue.lease_of(p_setup text, p_job_id bigint, p_attempt text) RETURNS taskqueue.lease
    LANGUAGE plpgsql
    AS $$
declare
  v_lease taskqueue.lease;
begin
  if taskqueue.holds_attempt(p_setup, p_job_id, p_attempt) then  -- who is stale does not wait for who holds the job
    select l.* into v_lease from taskqueue.lease l where l.setup = p_setup and l.job_id = p_job_id for update;
  end if;
  if taskqueue.attempt_text(v_lease.attempt, v_lease.token) = p_attempt then
    return v_lease;
  end if;
  raise exception 'attempt % of job % is stale', coalesce(split_part(p_attempt, '-', 1), 'null'), coalesce(p_job_id::text, 'null')
    using errcode = 'PB003', hint = 'The job was given back, has ended, or was given to another agent: stop working on it.';
end $$;

ALTER FUNCTION taskqueue.lease_of(p_setup text, p_job_id bigint, p_attempt text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.lease_of(p_setup text, p_job_id bigint, p_attempt text) IS 'The lease of a job, locked, if the attempt is its own. Errors: PB003 (stale).';

CREATE FUNCTION taskqueue.let_go(p_setup text, p_kind text, p_name text) RETURNS bigint
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'taskqueue', 'pg_temp'
    AS $$
  select taskqueue.set_held(p_setup, p_kind, p_name, false)
$$;

ALTER FUNCTION taskqueue.let_go(p_setup text, p_kind text, p_name text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.let_go(p_setup text, p_kind text, p_name text) IS 'Lets go what taskqueue.hold holds. Returns how many jobs or queues changed. Errors: PB001, PB002, PB004, PB005 (leased).';

CREATE FUNCTION taskqueue.list_of(p_requirements jsonb, p_key text) RETURNS text[]
    LANGUAGE plpgsql IMMUTABLE
    AS $$
begin
  if p_requirements ? p_key then
    return array(select e from jsonb_array_elements_text(p_requirements -> p_key) e order by 1);
  end if;
  return '{}'::text[];  -- at once: nine lists are looked for, most are not there
end $$;

ALTER FUNCTION taskqueue.list_of(p_requirements jsonb, p_key text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.list_of(p_requirements jsonb, p_key text) IS 'The values of a list of canonical requirements, sorted; empty where it is absent.';

CREATE FUNCTION taskqueue.lists(p_requirements jsonb, p_attribute text, p_value text) RETURNS boolean
    LANGUAGE sql IMMUTABLE
    AS $$
  select case jsonb_typeof(p_requirements -> p_attribute)
           when 'array' then p_requirements -> p_attribute ? p_value
           else p_requirements ->> p_attribute = p_value
         end
$$;

ALTER FUNCTION taskqueue.lists(p_requirements jsonb, p_attribute text, p_value text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.lists(p_requirements jsonb, p_attribute text, p_value text) IS 'Whether canonical requirements list the value under the key; null where they do not have the key.';

CREATE FUNCTION taskqueue.load_leases(p_setup text, p_leases jsonb) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'taskqueue', 'pg_temp'
    AS $_$
declare
  v_lease record;
  v_count bigint := 0;
begin
  perform resource.identify(p_setup);
  perform taskqueue.reconfigure(p_setup);
  perform taskqueue.require_setup(p_setup);
  if jsonb_typeof(p_leases) is distinct from 'array' then
    raise exception 'leases are %, not a JSON array', coalesce(left(p_leases::text, 100), 'null') using errcode = 'PB001', hint = 'Give leases as taskqueue.dump_leases writes them.';
  end if;
  for v_lease in
    select * from jsonb_to_recordset(p_leases) as l (id bigint, requirements jsonb, user_priority numeric, state text, attempt text, site text,
                                                     ce text, role text, matched_at timestamp, reported_at timestamp, expires_at timestamp, kill_reason text)
     order by l.id
  loop
    if v_lease.attempt is null or v_lease.attempt !~ '^[1-9][0-9]{0,8}-[0-9a-f]{32}$' then
      raise exception 'attempt of lease % is %', v_lease.id, coalesce(quote_literal(v_lease.attempt), 'null')
        using errcode = 'PB001', hint = 'An attempt is <number>-<32 hex digits>, as taskqueue.dump_leases writes it.';
    elsif v_lease.state is null or v_lease.state not in ('matched', 'running') or v_lease.role is null or v_lease.matched_at is null or v_lease.expires_at is null then
      raise exception 'lease % has state %, role %, matched_at %, expires_at %', v_lease.id, coalesce(v_lease.state, 'null'), coalesce(v_lease.role, 'null'),
            coalesce(v_lease.matched_at::text, 'null'), coalesce(v_lease.expires_at::text, 'null')
        using errcode = 'PB001', hint = 'A lease has state (matched or running), role, matched_at and expires_at.';
    elsif exists (select from taskqueue.job j where j.setup = p_setup and j.job_id = v_lease.id) then
      raise exception 'job % waits: it cannot be leased, too', v_lease.id
        using errcode = 'PB005', hint = 'Load leases into a setup where these jobs do not wait.';
    end if;
    perform taskqueue.note_end(l, 'replaced') from taskqueue.lease l
      where l.setup = p_setup and l.job_id = v_lease.id and taskqueue.attempt_text(l.attempt, l.token) <> v_lease.attempt;
    insert into taskqueue.lease (setup, job_id, attempt, token, task_queue_id, definition_id, user_priority, state, site, grid_ce, role_name,
                                 matched_at, reported_at, expires_at, kill_reason)
    values (p_setup, taskqueue.job_id(to_jsonb(v_lease.id)), split_part(v_lease.attempt, '-', 1)::int, split_part(v_lease.attempt, '-', 2)::uuid, 0,
            taskqueue.definition_of(p_setup, taskqueue.canonical_requirements(p_setup, v_lease.requirements)), taskqueue.job_priority(v_lease.id, v_lease.user_priority), v_lease.state,
            v_lease.site, v_lease.ce, v_lease.role, v_lease.matched_at at time zone 'UTC', v_lease.reported_at at time zone 'UTC',
            v_lease.expires_at at time zone 'UTC', v_lease.kill_reason)
    on conflict (setup, job_id) do update
       set attempt = excluded.attempt, token = excluded.token, definition_id = excluded.definition_id, user_priority = excluded.user_priority,
           state = excluded.state, site = excluded.site, grid_ce = excluded.grid_ce, role_name = excluded.role_name, matched_at = excluded.matched_at,
           reported_at = excluded.reported_at, expires_at = excluded.expires_at, kill_reason = excluded.kill_reason;
    delete from taskqueue.ended e where e.setup = p_setup and e.job_id = v_lease.id;
    v_count := v_count + 1;
  end loop;
  perform taskqueue.set_slots(p_setup, l.limit_id) from taskqueue.site_limit l where l.setup = p_setup and l.kind = 'running';
  return v_count;
end $_$;

ALTER FUNCTION taskqueue.load_leases(p_setup text, p_leases jsonb) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.load_leases(p_setup text, p_leases jsonb) IS 'Stores leases as taskqueue.dump_leases gives them, replacing those of the same jobs (in the history: replaced), and returns how many. Errors: PB001, PB002 (setup not granted), PB005 (a job waits), PB006 (busy).';

CREATE FUNCTION taskqueue.load_task_queues(p_setup text, p_task_queues jsonb) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'taskqueue', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
declare
  v_bad jsonb;
  v_count bigint;
  v_ten_first boolean;
  v_queue record;
  v_id bigint;
  v_made bigint[] := '{}'::bigint[];
begin
  perform resource.identify(p_setup);
  perform taskqueue.enter(p_setup);
  perform taskqueue.require_setup(p_setup);
  select e into v_bad from jsonb_array_elements(case jsonb_typeof(p_task_queues) when 'array' then p_task_queues else '[]' end) e
   where jsonb_typeof(e -> 'jobs') is distinct from 'array' or jsonb_typeof(coalesce(e -> 'enabled', 'true')) <> 'boolean'
   limit 1;
  if found then
    raise exception 'this element is not a task queue: %', left(v_bad::text, 200)
      using errcode = 'PB001', hint = 'An element is {requirements, enabled, jobs: [[id, user_priority], ...]}; enabled is true or false.';
  end if;
  v_count := taskqueue.check_batch(case when jsonb_typeof(p_task_queues) <> 'array' then p_task_queues
                                        else (select coalesce(jsonb_agg(e - 'enabled'), '[]') from jsonb_array_elements(p_task_queues) e) end);
  select s.ten_first into strict v_ten_first from taskqueue.setting s where s.setup = p_setup;
  for v_queue in
    select r.requirements, coalesce((e.element ->> 'enabled')::boolean, true) as enabled, j.ids, j.levels
      from jsonb_array_elements(p_task_queues) with ordinality e (element, number)
     cross join lateral (select taskqueue.canonical_requirements(p_setup, e.element -> 'requirements') as requirements) r
     cross join lateral (
            select array_agg((j -> 0)::bigint order by (j -> 0)::bigint) as ids, array_agg(coalesce(j -> 1, '1')::int order by (j -> 0)::bigint) as levels
              from jsonb_array_elements(e.element -> 'jobs') j) j
     where cardinality(j.ids) > 0
     order by md5(r.requirements::text)::uuid, e.number
  loop
    v_id := taskqueue.make_queue(p_setup, taskqueue.definition_of(p_setup, v_queue.requirements),
                                 (select avg(taskqueue.weight(l, v_ten_first)) from unnest(v_queue.levels) l));
    if not v_queue.enabled then
      update taskqueue.task_queue q set enabled = false where q.setup = p_setup and q.task_queue_id = v_id;
    end if;
    v_made := v_made || v_id;
    perform taskqueue.fill_queues(p_setup, array_fill(v_id, array[cardinality(v_queue.ids)]), v_queue.ids, v_queue.levels);
    perform taskqueue.settle_ids(p_setup, v_queue.ids);
  end loop;
  perform taskqueue.open_queues(p_setup, v_made);
  return v_count;
end $$;

ALTER FUNCTION taskqueue.load_task_queues(p_setup text, p_task_queues jsonb) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.load_task_queues(p_setup text, p_task_queues jsonb) IS 'Opens a TaskQueue for each element {requirements, enabled, jobs: [[id, user_priority], ...]}, up to 100,000 jobs a call, all or none; jobs that wait already are moved there. Returns how many jobs. For operators: dumps, workloads. Errors: PB001, PB002 (setup not granted), PB005 (leased).';

CREATE FUNCTION taskqueue.lock_queue(p_setup text, p_task_queue_id bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
  perform from taskqueue.task_queue q where q.setup = p_setup and q.task_queue_id = p_task_queue_id for update;
  if not found then
    raise exception 'there is no TaskQueue % in setup %', coalesce(p_task_queue_id::text, 'null'), p_setup
      using errcode = 'PB004', hint = 'Look into monitor.task_queue; an empty queue disappears.';
  end if;
end $$;

ALTER FUNCTION taskqueue.lock_queue(p_setup text, p_task_queue_id bigint) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.lock_queue(p_setup text, p_task_queue_id bigint) IS 'Locks the row of a TaskQueue until the transaction ends. Errors: PB004 (no such queue).';

CREATE FUNCTION taskqueue.lock_slots(p_setup text, p_requirements jsonb, p_offer taskqueue.offer, OUT taken boolean, OUT slots jsonb) RETURNS record
    LANGUAGE plpgsql
    AS $$
declare
  v_now timestamptz := resource.clock(p_setup);
  v_limit taskqueue.site_limit;
  v_slots int[];
  v_owed int[];
  v_surplus bigint;
begin
  slots := '[]';
  for v_limit in
    select l.* from taskqueue.site_limit l
     where l.setup = p_setup and l.site = p_offer.sites[1] and (l.grid_ce is null or l.grid_ce = any (p_offer.grid_ces))
       and taskqueue.lists(p_requirements, l.attribute, l.value)
     order by l.kind, l.limit_id
  loop
    if v_limit.kind = 'running' then
      -- After a limit was lowered, a match needs as many free slots as are too many and one more, and takes the former away. (Taking
      -- away each slot above the ceiling when its job ends would let jobs in at the others, with too many still running.)
      -- Which are too many are rows, too, so that no two matches take away for the same one: a limit would be left with too few.
      v_surplus := taskqueue.surplus_slots(p_setup, v_limit.limit_id);
      v_slots := array(select s.slot from taskqueue.limit_slot s
                        where s.setup = p_setup and s.limit_id = v_limit.limit_id and s.slot > 0
                        limit v_surplus + 1 for update skip locked);
      taken := cardinality(v_slots) > v_surplus;
      if taken and v_surplus > 0 then
        v_owed := array(select s.slot from taskqueue.limit_slot s
                         where s.setup = p_setup and s.limit_id = v_limit.limit_id and s.slot < 0 for update skip locked);
        taken := cardinality(v_owed) = v_surplus;
        if taken then
          delete from taskqueue.limit_slot s where s.setup = p_setup and s.limit_id = v_limit.limit_id and s.slot = any (v_owed || v_slots[2:]);
        end if;
      end if;
      slots := slots || jsonb_build_object('limit_id', v_limit.limit_id, 'slot', v_slots[1]);
    else
      select true into taken from taskqueue.site_limit l
       where l.setup = p_setup and l.limit_id = v_limit.limit_id and coalesce(l.next_at, v_now) <= v_now + (l.burst - 1) * l.delay
         for no key update skip locked;
      taken := found;
      slots := slots || jsonb_build_object('limit_id', v_limit.limit_id);
    end if;
    if not taken then
      return;
    end if;
  end loop;
  taken := true;
end $$;

ALTER FUNCTION taskqueue.lock_slots(p_setup text, p_requirements jsonb, p_offer taskqueue.offer, OUT taken boolean, OUT slots jsonb) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.lock_slots(p_setup text, p_requirements jsonb, p_offer taskqueue.offer, OUT taken boolean, OUT slots jsonb) IS 'Locks what the limits of the site ask of a job with these requirements; taken = false: one of them is reached. taskqueue.use_slots books it.';

CREATE FUNCTION taskqueue.maintain(p_setup text DEFAULT NULL::text) RETURNS TABLE(step text, changed bigint)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'taskqueue', 'pg_temp'
    AS $$
declare
  v_setting taskqueue.setting;
begin
  for v_setting in select s.* from taskqueue.setting s where p_setup is null or s.setup = p_setup order by s.setup loop
    perform resource.identify(v_setting.setup);
    return query select m.step, m.changed from taskqueue.maintain_setup(v_setting) m;
  end loop;
  if p_setup is null then
    step := 'history partitions';
    changed := 0;
    begin
      changed := taskqueue.make_history_partitions();
    exception when lock_not_available then
      null;  -- somebody reads the history for long: next time
    end;
    return next;
  end if;
end $$;

ALTER FUNCTION taskqueue.maintain(p_setup text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.maintain(p_setup text) IS 'Background work of one setup or all: recomputes the shares of groups whose queues changed, folds counts, removes empty queues and forgotten definitions and requests, rolls up the resources seen; for all setups also makes and drops history partitions. Returns what it did, a row a step. Errors: PB002 (setup not granted).';

CREATE TABLE taskqueue.setting (
    setup text NOT NULL,
    ten_first boolean DEFAULT false NOT NULL,
    strict_keys text[] DEFAULT '{}'::text[] NOT NULL,
    required_keys text[] DEFAULT '{CPUTime}'::text[] NOT NULL,
    queue_size integer DEFAULT 5000 NOT NULL,
    policy text DEFAULT 'dirac'::text NOT NULL,
    lease_time interval DEFAULT '00:30:00'::interval NOT NULL,
    share_delay interval DEFAULT '00:00:10'::interval NOT NULL,
    share_correction boolean DEFAULT false NOT NULL,
    correction_window interval DEFAULT '7 days'::interval NOT NULL,
    history_kept interval DEFAULT '30 days'::interval NOT NULL,
    CONSTRAINT setting_correction_window_check CHECK ((correction_window > '00:00:00'::interval)),
    CONSTRAINT setting_history_kept_check CHECK ((history_kept > '00:00:00'::interval)),
    CONSTRAINT setting_lease_time_check CHECK ((lease_time > '00:00:00'::interval)),
    CONSTRAINT setting_policy_check CHECK ((policy = ANY (ARRAY['dirac'::text, 'proportional'::text]))),
    CONSTRAINT setting_queue_size_check CHECK ((queue_size > 0)),
    CONSTRAINT setting_share_delay_check CHECK ((share_delay >= '00:00:00'::interval))
);

ALTER TABLE taskqueue.setting OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.setting IS 'Settings of matching, one row a setup.';

COMMENT ON COLUMN taskqueue.setting.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.setting.ten_first IS 'User priority 10 is a class of its own before all others (today''s DIRAC).';

COMMENT ON COLUMN taskqueue.setting.strict_keys IS 'Keys of a resource description whose absence counts as offering nothing (Site, GridCE, Platform, JobType).';

COMMENT ON COLUMN taskqueue.setting.required_keys IS 'Keys without which a match request is refused.';

COMMENT ON COLUMN taskqueue.setting.queue_size IS 'Jobs a TaskQueue takes before a sibling with the same definition opens.';

COMMENT ON COLUMN taskqueue.setting.policy IS 'dirac: order by random()/priority (seed 004); proportional: by -ln(random())/priority.';

COMMENT ON COLUMN taskqueue.setting.lease_time IS 'From the match to the agent''s first report.';

COMMENT ON COLUMN taskqueue.setting.share_delay IS 'Within how long the other queues of an entity follow when a queue is new or gone.';

COMMENT ON COLUMN taskqueue.setting.share_correction IS 'Correct shares by the usage in the history.';

COMMENT ON COLUMN taskqueue.setting.correction_window IS 'How far back the correction of shares looks.';

COMMENT ON COLUMN taskqueue.setting.history_kept IS 'How long taskqueue.history is kept.';

CREATE FUNCTION taskqueue.maintain_setup(p_setting taskqueue.setting) RETURNS TABLE(step text, changed bigint)
    LANGUAGE plpgsql
    AS $$
declare
  v_setup text := p_setting.setup;
  v_queue_ids bigint[];
  v_definition_ids bigint[];
  v_now timestamptz := resource.clock(p_setting.setup);
begin
  step := 'shares';
  select coalesce(sum(taskqueue.recompute_shares(v_setup, g.owner_group)), 0) into changed
    from (select m.owner_group from taskqueue.share_mark m where m.setup = v_setup
           group by m.owner_group having min(m.marked_at) <= v_now - p_setting.share_delay / 2) g;
  return next;
  step := 'counts';
  v_queue_ids := array(select distinct i.task_queue_id from taskqueue.job_count_change i where i.setup = v_setup);
  if taskqueue.is_foreign(v_setup) then
    perform taskqueue.rebuild_matching(v_setup);
  end if;
  select coalesce(sum(taskqueue.fold_counts(v_setup, i)), 0) into changed from unnest(v_queue_ids) i;
  changed := changed + taskqueue.clean_counts(v_setup);
  insert into taskqueue.share_mark (setup, owner_group, marked_at)  -- means drift as jobs come and go: a tenth is worth a new price
  select distinct v_setup, q.owner_group, v_now
    from taskqueue.task_queue q
   cross join lateral taskqueue.weight_of_queue(q, p_setting.ten_first) w
   where q.setup = v_setup and q.task_queue_id = any (v_queue_ids) and abs(w.weight - q.mean_weight) > 0.1 * q.mean_weight;
  return next;
  step := 'empty queues';
  changed := taskqueue.delete_empty_queues(v_setup);
  return next;
  step := 'lists';
  changed := taskqueue.post_pending(v_setup, 100000)::int + taskqueue.close_gaps(v_setup);
  return next;
  step := 'definitions';
  -- locked first, looked at then: a job inserted and matched in between is seen
  v_definition_ids := array(select i.definition_id from taskqueue.definition i
                             where i.setup = v_setup and i.created_at < v_now - interval '1 hour'
                               and not exists (select from taskqueue.task_queue q where q.setup = i.setup and q.definition_id = i.definition_id)
                               and not exists (select from taskqueue.lease l where l.setup = i.setup and l.definition_id = i.definition_id)
                               for update skip locked);
  delete from taskqueue.definition d
   where d.setup = v_setup and d.definition_id = any (v_definition_ids)
     and not exists (select from taskqueue.task_queue q where q.setup = d.setup and q.definition_id = d.definition_id)
     and not exists (select from taskqueue.lease l where l.setup = d.setup and l.definition_id = d.definition_id);
  get diagnostics changed = row_count;
  return next;
  step := 'requests';
  delete from taskqueue.request r where r.ctid = any (array(
    select i.ctid from taskqueue.request i where i.setup = v_setup and i.made_at < v_now - interval '10 minutes' for update skip locked));
  get diagnostics changed = row_count;
  return next;
  step := 'known offers';
  delete from taskqueue.known_offer k where k.ctid = any (array(
    select i.ctid from taskqueue.known_offer i where i.setup = v_setup and i.seen_at < v_now - interval '10 minutes' for update skip locked));
  get diagnostics changed = row_count;
  return next;
  step := 'resources seen';
  changed := taskqueue.roll_up_resources(v_setup);
  return next;
end $$;

ALTER FUNCTION taskqueue.maintain_setup(p_setting taskqueue.setting) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.maintain_setup(p_setting taskqueue.setting) IS 'Background work of one setup; see taskqueue.maintain.';

CREATE FUNCTION taskqueue.make_history_partitions(p_days integer DEFAULT 3) RETURNS bigint
    LANGUAGE plpgsql
    SET lock_timeout TO '300ms'
    AS $_$
declare
  v_changed bigint := 0;
  v_day date;
  v_name text;
  v_oldest date := (now() at time zone 'utc')::date - (select coalesce(ceil(extract(epoch from max(s.history_kept)) / 86400), 30)::int from taskqueue.setting s);
begin
  for v_day in select generate_series((now() at time zone 'utc')::date, (now() at time zone 'utc')::date + p_days, interval '1 day')::date loop
    v_name := 'history_' || to_char(v_day, 'YYYYMMDD');
    continue when to_regclass('taskqueue.' || v_name) is not null
               or exists (select from taskqueue.history_default h where h.at >= v_day::timestamp at time zone 'utc' and h.at < (v_day + 1)::timestamp at time zone 'utc');
    execute format('create table taskqueue.%I partition of taskqueue.history for values from (%L) to (%L)', v_name,
                   v_day::timestamp at time zone 'utc', (v_day + 1)::timestamp at time zone 'utc');
    v_changed := v_changed + 1;
  end loop;
  for v_name in
    select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = 'taskqueue.history'::regclass and c.relname ~ '^history_[0-9]{8}$' and to_date(right(c.relname, 8), 'YYYYMMDD') < v_oldest
  loop
    execute format('drop table taskqueue.%I', v_name);
    v_changed := v_changed + 1;
  end loop;
  return v_changed;
end $_$;

ALTER FUNCTION taskqueue.make_history_partitions(p_days integer) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.make_history_partitions(p_days integer) IS 'Makes the partitions of the history for today (UTC) and the days ahead, and drops those beyond the retention; returns how many changed.';

CREATE FUNCTION taskqueue.make_queue(p_setup text, p_definition_id bigint, p_weight double precision) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
declare
  v_definition taskqueue.definition;
  v_id bigint;
begin
  select d.* into strict v_definition from taskqueue.definition d where d.setup = p_setup and d.definition_id = p_definition_id;
  insert into taskqueue.task_queue (setup, definition_id, owner_dn, owner_group, cpu_time, min_ram, max_ram, priority, mean_weight, created_at)
  values (p_setup, p_definition_id, v_definition.owner_dn, v_definition.owner_group, v_definition.cpu_time, v_definition.min_ram,
          (v_definition.requirements ->> 'MaxRAM')::float8, 0.001, p_weight, resource.clock(p_setup))
  returning task_queue_id into v_id;
  perform taskqueue.note_weight(p_setup, v_definition.owner_group, v_definition.owner_dn, p_weight, 1);
  insert into taskqueue.job_count (setup, task_queue_id, known_to, in_flight, jobs, first_ids)
  values (p_setup, v_id, '0', '{}', array_fill(0, array[11]), array_fill(null::bigint, array[11]));
  -- most lists are empty, and inserting nothing takes 8 us each
  if v_definition.sites <> '{}' then
    insert into taskqueue.task_queue_site (setup, task_queue_id, value) select p_setup, v_id, unnest(v_definition.sites);
  end if;
  if v_definition.platforms <> '{}' then
    insert into taskqueue.task_queue_platform (setup, task_queue_id, value) select p_setup, v_id, unnest(v_definition.platforms);
  end if;
  if v_definition.job_types <> '{}' then
    insert into taskqueue.task_queue_job_type (setup, task_queue_id, value) select p_setup, v_id, unnest(v_definition.job_types);
  end if;
  if v_definition.banned_sites <> '{}' then
    insert into taskqueue.task_queue_banned_site (setup, task_queue_id, value) select p_setup, v_id, unnest(v_definition.banned_sites);
  end if;
  if v_definition.grid_ces <> '{}' then
    insert into taskqueue.task_queue_grid_ce (setup, task_queue_id, value) select p_setup, v_id, unnest(v_definition.grid_ces);
  end if;
  if v_definition.pilot_types <> '{}' then
    insert into taskqueue.task_queue_pilot_type (setup, task_queue_id, value) select p_setup, v_id, unnest(v_definition.pilot_types);
  end if;
  if v_definition.tags <> '{}' then
    insert into taskqueue.task_queue_tag (setup, task_queue_id, value) select p_setup, v_id, unnest(v_definition.tags);
  end if;
  if v_definition.requirements ? 'SubmitPools' then
    insert into taskqueue.task_queue_submit_pool (setup, task_queue_id, value)
    select p_setup, v_id, unnest(taskqueue.list_of(v_definition.requirements, 'SubmitPools'));
  end if;
  if v_definition.requirements ? 'GridMiddlewares' then
    insert into taskqueue.task_queue_grid_middleware (setup, task_queue_id, value)
    select p_setup, v_id, unnest(taskqueue.list_of(v_definition.requirements, 'GridMiddlewares'));
  end if;
  return v_id;
end $$;

ALTER FUNCTION taskqueue.make_queue(p_setup text, p_definition_id bigint, p_weight double precision) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.make_queue(p_setup text, p_definition_id bigint, p_weight double precision) IS 'Makes a TaskQueue of the definition; the weight is the mean draw weight of its first jobs. The caller ends with taskqueue.open_queues. Returns its id.';

CREATE FUNCTION taskqueue.match_job(p_setup text, p_resource jsonb, p_request_id uuid DEFAULT NULL::uuid) RETURNS TABLE(job_id bigint, task_queue_id bigint, requirements jsonb, user_priority integer, attempt text)
    LANGUAGE plpgsql SECURITY DEFINER ROWS 1
    SET search_path TO 'taskqueue', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
begin
  perform taskqueue.enter(p_setup);
  if p_request_id is null then
    return query select * from taskqueue.lease_jobs(p_setup, p_resource, 1);
  else
    return query select * from taskqueue.match_once(p_setup, p_resource, 1, p_request_id);
  end if;
end $$;

ALTER FUNCTION taskqueue.match_job(p_setup text, p_resource jsonb, p_request_id uuid) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.match_job(p_setup text, p_resource jsonb, p_request_id uuid) IS 'Leases one waiting job to a resource; no row: nothing matches now. Later calls about the job present the attempt. The same request id within ten minutes gives the same job. Errors: PB001 (description; section 4), PB002 (setup not granted).';

CREATE FUNCTION taskqueue.match_jobs(p_setup text, p_resource jsonb, p_limit integer, p_request_id uuid DEFAULT NULL::uuid) RETURNS TABLE(job_id bigint, task_queue_id bigint, requirements jsonb, user_priority integer, attempt text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'taskqueue', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
begin
  if p_limit is null or p_limit not between 1 and 1000 then
    raise exception 'limit is %, which is not within 1..1000', coalesce(p_limit::text, 'null') using errcode = 'PB001', hint = 'Ask for 1 to 1000 jobs.';
  end if;
  perform taskqueue.enter(p_setup);
  if p_request_id is null then
    return query select * from taskqueue.lease_batch(p_setup, p_resource, p_limit);
  else
    return query select * from taskqueue.match_once(p_setup, p_resource, p_limit, p_request_id);
  end if;
end $$;

ALTER FUNCTION taskqueue.match_jobs(p_setup text, p_resource jsonb, p_limit integer, p_request_id uuid) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.match_jobs(p_setup text, p_resource jsonb, p_limit integer, p_request_id uuid) IS 'Leases up to p_limit (1..1000) waiting jobs to a resource; no row: nothing matches now. The same request id within ten minutes gives the same jobs. Errors: PB001 (description; section 4), PB002 (setup not granted).';

CREATE FUNCTION taskqueue.match_jobs_with_seed(p_setup text, p_resource jsonb, p_limit integer, p_seed bigint) RETURNS TABLE(job_id bigint, task_queue_id bigint, requirements jsonb, user_priority integer, attempt text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'taskqueue', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
begin
  perform taskqueue.enter(p_setup);
  return query select * from taskqueue.lease_batch(p_setup, p_resource, p_limit, p_seed);
end $$;

ALTER FUNCTION taskqueue.match_jobs_with_seed(p_setup text, p_resource jsonb, p_limit integer, p_seed bigint) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.match_jobs_with_seed(p_setup text, p_resource jsonb, p_limit integer, p_seed bigint) IS 'taskqueue.match_jobs with draws that follow from a seed: the same seed over the same queues takes the same jobs. Errors: PB001, PB002.';

CREATE FUNCTION taskqueue.match_once(p_setup text, p_resource jsonb, p_limit integer, p_request_id uuid) RETURNS TABLE(job_id bigint, task_queue_id bigint, requirements jsonb, user_priority integer, attempt text)
    LANGUAGE plpgsql
    AS $$
declare
  v_identity resource.identity := resource.identify(p_setup);
  v_asked uuid;
  v_answer jsonb;
begin
  v_asked := md5(jsonb_build_array(p_resource, p_limit)::text)::uuid;
  v_answer := taskqueue.answer_given(v_identity, p_request_id, 'match_jobs', v_asked);
  if v_answer is null then
    select jsonb_agg(to_jsonb(m)) into v_answer from taskqueue.lease_batch(p_setup, p_resource, p_limit) m;
    if v_answer is null then
      return;
    end if;
    perform taskqueue.keep_answer(v_identity, p_request_id, 'match_jobs', v_asked, v_answer);
  end if;
  return query select * from jsonb_to_recordset(v_answer) as (job_id bigint, task_queue_id bigint, requirements jsonb, user_priority int, attempt text);
end $$;

ALTER FUNCTION taskqueue.match_once(p_setup text, p_resource jsonb, p_limit integer, p_request_id uuid) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.match_once(p_setup text, p_resource jsonb, p_limit integer, p_request_id uuid) IS 'taskqueue.match_jobs for a request that may be repeated. Errors: PB001 (description), PB002 (setup not granted).';

CREATE FUNCTION taskqueue.matching_queues(p_setup text, p_resource jsonb) RETURNS TABLE(task_queue_id bigint, cpu_time bigint, priority double precision, jobs bigint, requirements jsonb)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'taskqueue', 'pg_temp'
    AS $$
declare
  v_offer taskqueue.offer := taskqueue.offer_of(p_setup, p_resource, resource.look(p_setup));
begin
  return query
    select q.task_queue_id, q.cpu_time, q.priority, n.jobs, d.requirements
      from taskqueue.task_queue q
      join taskqueue.definition d on d.setup = q.setup and d.definition_id = q.definition_id
     cross join lateral taskqueue.jobs_in(q.setup, q.task_queue_id) n (jobs)
     where q.setup = p_setup and taskqueue.is_open(q) and n.jobs > 0 and taskqueue.accepts(d, v_offer)
       and (v_offer.job_id is null
            or q.task_queue_id = (select j.task_queue_id from taskqueue.job j where j.setup = p_setup and j.job_id = v_offer.job_id and not j.held))
     order by q.cpu_time desc, q.priority desc, q.task_queue_id;
end $$;

ALTER FUNCTION taskqueue.matching_queues(p_setup text, p_resource jsonb) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.matching_queues(p_setup text, p_resource jsonb) IS 'The open TaskQueues that match a resource description, with their jobs that are not held, highest CPU bucket and priority first. Errors: PB001 (description), PB002 (setup not granted).';

CREATE FUNCTION taskqueue.may_submit(p_identity resource.identity, p_requirements jsonb) RETURNS void
    LANGUAGE plpgsql STABLE
    AS $$
begin
  if p_identity.private and (p_requirements ->> 'OwnerGroup' <> p_identity.owner_group or p_requirements ->> 'OwnerDN' <> p_identity.owner_dn) then
    raise exception 'role % may not submit for OwnerDN % in OwnerGroup %', p_identity.role_name, p_requirements ->> 'OwnerDN', p_requirements ->> 'OwnerGroup'
      using errcode = 'PB002', hint = format('Its identity in setup %s is owner %s, group %s.', p_identity.setup,
                                             coalesce(p_identity.owner_dn, '(any)'), coalesce(p_identity.owner_group, '(any)'));
  end if;
end $$;

ALTER FUNCTION taskqueue.may_submit(p_identity resource.identity, p_requirements jsonb) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.may_submit(p_identity resource.identity, p_requirements jsonb) IS 'Refuses jobs of others than the private submitter is. Errors: PB002.';

CREATE FUNCTION taskqueue.may_touch(p_identity resource.identity, p_job_id bigint, p_definition_id bigint) RETURNS void
    LANGUAGE plpgsql STABLE
    AS $$
begin
  if p_identity.private and not exists (
       select from taskqueue.definition d
        where d.setup = p_identity.setup and d.definition_id = p_definition_id
          and (p_identity.owner_group is null or d.owner_group = p_identity.owner_group)
          and (p_identity.owner_dn is null or d.owner_dn = p_identity.owner_dn)) then
    raise exception 'job % is not one of role %', p_job_id, p_identity.role_name
      using errcode = 'PB002', hint = format('Its identity in setup %s is owner %s, group %s.', p_identity.setup,
                                             coalesce(p_identity.owner_dn, '(any)'), coalesce(p_identity.owner_group, '(any)'));
  end if;
end $$;

ALTER FUNCTION taskqueue.may_touch(p_identity resource.identity, p_job_id bigint, p_definition_id bigint) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.may_touch(p_identity resource.identity, p_job_id bigint, p_definition_id bigint) IS 'Refuses the job of others than the private submitter is; the definition is the job''s. Errors: PB002.';

CREATE FUNCTION taskqueue.measure_lists(p_setup text, p_list_ids bigint[], p_bands integer[]) RETURNS void
    LANGUAGE sql
    AS $$
  with measured as (
    select b.list_id, array_agg(b.band) as bands, array_agg(b.places) as places
      from (select i.list_id, i.band, (select max(p.place) from taskqueue.posting p where p.setup = p_setup and p.list_id = i.list_id and p.band = i.band) as places
              from (select distinct u.list_id, u.band from unnest(p_list_ids, p_bands) u (list_id, band)) i) b
     group by b.list_id
  )
  update taskqueue.posting_list l
     set bands = coalesce(m.bands, '{}'), places = coalesce(m.places, '{}'), ceilings = coalesce(m.ceilings, '{}'), sums = coalesce(m.sums, '{}'),
         rate = coalesce(m.rate, 0), top = coalesce(m.top, 0), room = coalesce(m.room, 0)
    from measured i
    join taskqueue.posting_list o on o.setup = p_setup and o.list_id = i.list_id
   cross join lateral (
          select array_agg(b.band order by b.band) as bands, array_agg(b.places order by b.band) as places, array_agg(b.ceiling order by b.band) as ceilings,
                 array_agg(b.sum order by b.band) as sums, max(b.sum) as rate, max(b.ceiling) as top, sum(b.places) as room
            from (select n.band, n.places, n.ceiling, sum(n.places * n.ceiling) over (order by n.band) as sum
                    from (select k.band, k.places, k.ceiling from unnest(o.bands, o.places, o.ceilings) k (band, places, ceiling)
                           where k.band <> all (i.bands)
                          union all
                          select c.band, c.places, taskqueue.ceiling_of_band(c.band) from unnest(i.bands, i.places) c (band, places)
                           where c.places is not null) n) b) m
   where l.setup = p_setup and l.list_id = i.list_id
$$;

ALTER FUNCTION taskqueue.measure_lists(p_setup text, p_list_ids bigint[], p_bands integer[]) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.measure_lists(p_setup text, p_list_ids bigint[], p_bands integer[]) IS 'Writes down how many places some bands of some lists have (pairs of list and band).';

CREATE FUNCTION taskqueue.new_matching(p_setup text, p_known taskqueue.known_offer) RETURNS bigint[]
    LANGUAGE plpgsql
    AS $$
declare
  v_offer taskqueue.offer := p_known.offer;
  v_snapshot pg_snapshot;
  v_new bigint;
  v_ids bigint[];
begin
  v_offer.cpu_time := 9223372036854775807;
  v_offer.reached := null;
  select pg_current_snapshot(), count(*), coalesce(array_agg(d.definition_id) filter (where taskqueue.accepts(d, v_offer) and d.definition_id <> all (p_known.matching)), '{}')
    into v_snapshot, v_new, v_ids
    from (select n.* from taskqueue.definition n where n.setup = p_setup and n.made_in >= p_known.known_to
          union all
          select n.* from taskqueue.definition n where n.setup = p_setup and n.made_in = any (p_known.in_flight)) d;
  if v_new >= 64 then
    perform taskqueue.keep_matching(p_setup, p_known, p_known.matching || v_ids, v_snapshot);
  end if;
  return v_ids;
end $$;

ALTER FUNCTION taskqueue.new_matching(p_setup text, p_known taskqueue.known_offer) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.new_matching(p_setup text, p_known taskqueue.known_offer) IS 'The definitions made since taskqueue.find_matching that match a description.';

CREATE FUNCTION taskqueue.note_end(p_lease taskqueue.lease, p_event text) RETURNS void
    LANGUAGE sql
    AS $$
  insert into taskqueue.history (setup, at, job_id, attempt, event, task_queue_id, definition_id, cpu_time, owner_group, owner_dn, user_priority, site, grid_ce, role_name)
  select p_lease.setup, p_lease.matched_at, p_lease.job_id, p_lease.attempt, 'matched', p_lease.task_queue_id, p_lease.definition_id, d.cpu_time, d.owner_group, d.owner_dn,
         p_lease.user_priority, p_lease.site, p_lease.grid_ce, p_lease.role_name
    from taskqueue.definition d
   where d.setup = p_lease.setup and d.definition_id = p_lease.definition_id;
  select taskqueue.note_event(p_lease, p_event);
$$;

ALTER FUNCTION taskqueue.note_end(p_lease taskqueue.lease, p_event text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.note_end(p_lease taskqueue.lease, p_event text) IS 'Writes the match and the end of a lease into the history.';

CREATE FUNCTION taskqueue.note_event(p_lease taskqueue.lease, p_event text) RETURNS void
    LANGUAGE sql
    AS $$
  insert into taskqueue.history (setup, at, job_id, attempt, event, task_queue_id, definition_id, user_priority, site, grid_ce, role_name)
  values (p_lease.setup, resource.clock(p_lease.setup), p_lease.job_id, p_lease.attempt, p_event, p_lease.task_queue_id, p_lease.definition_id,
          p_lease.user_priority, p_lease.site, p_lease.grid_ce, resource.caller())
$$;

ALTER FUNCTION taskqueue.note_event(p_lease taskqueue.lease, p_event text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.note_event(p_lease taskqueue.lease, p_event text) IS 'Writes an event of a lease into the history.';

CREATE FUNCTION taskqueue.note_weight(p_setup text, p_group text, p_owner text, p_weight double precision, p_queues integer) RETURNS void
    LANGUAGE sql
    AS $$
  insert into taskqueue.owner_weight (setup, owner_group, owner_dn, light, queues, weight)
  values (p_setup, p_group, p_owner, taskqueue.is_background(p_weight, true), p_queues, p_queues * p_weight::numeric)
$$;

ALTER FUNCTION taskqueue.note_weight(p_setup text, p_group text, p_owner text, p_weight double precision, p_queues integer) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.note_weight(p_setup text, p_group text, p_owner text, p_weight double precision, p_queues integer) IS 'Notes in taskqueue.owner_weight that an owner has a queue of this mean weight more (1) or fewer (-1).';

CREATE FUNCTION taskqueue.offer_of(p_setup text, p_resource jsonb, p_identity resource.identity) RETURNS taskqueue.offer
    LANGUAGE plpgsql STABLE
    AS $$
declare
  v_offer taskqueue.offer;
  v_setting taskqueue.setting;
  v_key text;
  v_value jsonb;
begin
  if jsonb_typeof(p_resource) is distinct from 'object' then
    raise exception 'resource description is %, not a JSON object', coalesce(p_resource::text, 'null')
      using errcode = 'PB001', hint = 'Give an object with CPUTime at least.';
  end if;
  select s.* into v_setting from taskqueue.setting s where s.setup = p_setup;
  v_setting.required_keys := coalesce(v_setting.required_keys, '{CPUTime}');
  if not p_resource ?& v_setting.required_keys or v_setting.required_keys <> '{CPUTime}' and exists (
       select from unnest(v_setting.required_keys) k where p_resource -> k in ('null', '[]')) then
    raise exception '% is missing in the resource description',
          (select string_agg(k, ', ') from unnest(v_setting.required_keys) k where coalesce(p_resource -> k, 'null') in ('null', '[]'))
      using errcode = 'PB001', hint = 'These keys are required in this setup: ' || array_to_string(v_setting.required_keys, ', ') || '.';
  end if;
  v_offer.pilot_types := '{}';
  v_offer.tags := '{}';
  if v_setting.strict_keys <> '{}' then
    v_offer.sites := taskqueue.offered('Site', null, v_setting.strict_keys);
    v_offer.grid_ces := taskqueue.offered('GridCE', null, v_setting.strict_keys);
    v_offer.platforms := taskqueue.offered('Platform', null, v_setting.strict_keys);
    v_offer.job_types := taskqueue.offered('JobType', null, v_setting.strict_keys);
  end if;
  for v_key, v_value in select e.key, e.value from jsonb_each(p_resource) e loop
    case v_key
      when 'CPUTime' then v_offer.cpu_time := floor(least(taskqueue.one_number(v_key, v_value), 9223372036854775807));
      when 'Site' then v_offer.sites := taskqueue.offered(v_key, v_value, v_setting.strict_keys);
      when 'GridCE' then v_offer.grid_ces := taskqueue.offered(v_key, v_value, v_setting.strict_keys);
      when 'JobType' then v_offer.job_types := taskqueue.offered(v_key, v_value, v_setting.strict_keys);
      when 'Platform' then
        v_offer.platforms := taskqueue.compatible_platforms(p_setup, taskqueue.offered(v_key, v_value, v_setting.strict_keys));
      when 'PilotType' then v_offer.pilot_types := taskqueue.texts(v_key, v_value);
      when 'Tag', 'NumberOfProcessors', 'WholeNode' then null;
      when 'RequiredTag' then v_offer.required_tags := nullif(taskqueue.texts(v_key, v_value), '{}');
      when 'BannedSite' then v_offer.banned_sites := nullif(taskqueue.texts(v_key, v_value), '{}');
      when 'BannedGridCE' then v_offer.banned_grid_ces := nullif(taskqueue.texts(v_key, v_value), '{}');
      when 'BannedPlatform' then v_offer.banned_platforms := nullif(taskqueue.texts(v_key, v_value), '{}');
      when 'BannedJobType' then v_offer.banned_job_types := nullif(taskqueue.texts(v_key, v_value), '{}');
      when 'BannedTag' then v_offer.banned_tags := nullif(taskqueue.texts(v_key, v_value), '{}');
      when 'MaxRAM' then v_offer.max_ram := taskqueue.one_number(v_key, v_value);
      when 'OwnerGroup' then v_offer.owner_groups := nullif(taskqueue.texts(v_key, v_value), '{}');
      when 'OwnerDN' then v_offer.owner_dn := taskqueue.one_text(v_key, v_value);
      when 'Setup' then
        if taskqueue.one_text(v_key, v_value) <> p_setup then
          raise exception 'Setup is %, but the match is asked in setup %', v_value, p_setup
            using errcode = 'PB001', hint = 'Leave Setup out of the resource description, or name the same.';
        end if;
      when 'JobID' then
        v_offer.job_id := taskqueue.job_id(v_value, v_key);
      else
        raise exception 'key % (value %) of the resource description is not known', v_key, v_value
          using errcode = 'PB001', hint = 'Known: Setup, OwnerDN, OwnerGroup, CPUTime, PilotType, Site, GridCE, Platform, JobType, Tag, RequiredTag, BannedSite, BannedGridCE, BannedPlatform, BannedJobType, BannedTag, MaxRAM, NumberOfProcessors, WholeNode, JobID.';
    end case;
  end loop;
  v_offer.cpu_time := coalesce(v_offer.cpu_time, 9223372036854775807);
  if p_resource ?| '{Tag,NumberOfProcessors,WholeNode}' then
    v_offer.tags := taskqueue.tags_offered(p_resource);
  end if;
  if not v_offer.required_tags <@ v_offer.tags then
    raise exception 'RequiredTag holds %, which the resource does not offer', p_resource -> 'RequiredTag'
      using errcode = 'PB001', hint = 'RequiredTag must be within what Tag, NumberOfProcessors and WholeNode offer.';
  end if;
  if p_identity.private then
    v_offer.owner_dn := p_identity.owner_dn;
    v_offer.owner_groups := array[p_identity.owner_group];
    if p_identity.owner_group is null then
      v_offer.owner_groups := null;
    end if;
  end if;
  if v_offer.owner_dn is not null and v_offer.owner_groups is not null then
    v_offer.sharing_groups := array(select g.owner_group from taskqueue.owner_group g
                                     where g.setup = p_setup and g.owner_group = any (v_offer.owner_groups) and g.job_sharing);
  end if;
  return taskqueue.with_limits(p_setup, p_resource, v_offer);
end $$;

ALTER FUNCTION taskqueue.offer_of(p_setup text, p_resource jsonb, p_identity resource.identity) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.offer_of(p_setup text, p_resource jsonb, p_identity resource.identity) IS 'A resource description (section 4) as taskqueue.offer; a private identity overrides OwnerDN and OwnerGroup. Errors: PB001, naming key and value.';

CREATE FUNCTION taskqueue.offer_once_made(p_setup text, p_resource jsonb, p_identity resource.identity) RETURNS taskqueue.offer
    LANGUAGE plpgsql STABLE
    AS $$
begin
  return taskqueue.offer_of(p_setup, p_resource, p_identity);
exception when sqlstate 'PB001' then
  return null;
end $$;

ALTER FUNCTION taskqueue.offer_once_made(p_setup text, p_resource jsonb, p_identity resource.identity) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.offer_once_made(p_setup text, p_resource jsonb, p_identity resource.identity) IS 'taskqueue.offer_of for a description seen before; null where it would be refused now.';

CREATE FUNCTION taskqueue.offered(p_key text, p_value jsonb, p_strict_keys text[]) RETURNS text[]
    LANGUAGE plpgsql IMMUTABLE
    AS $$
declare
  v_texts text[] := taskqueue.texts(p_key, p_value);
begin
  if cardinality(v_texts) = 0 then
    return case when p_key = any (p_strict_keys) then '{}'::text[] end;
  end if;
  if taskqueue.says_any(v_texts) then
    return null;
  end if;
  return v_texts;
end $$;

ALTER FUNCTION taskqueue.offered(p_key text, p_value jsonb, p_strict_keys text[]) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.offered(p_key text, p_value jsonb, p_strict_keys text[]) IS 'What a resource offers under a key: null = no condition, empty = nothing. Errors: PB001.';

CREATE FUNCTION taskqueue.offered_text(p_values text[]) RETURNS text
    LANGUAGE sql STABLE
    AS $$
  select case when cardinality(p_values) = 0 then 'offers none' else array_to_string(p_values, ', ') end
$$;

ALTER FUNCTION taskqueue.offered_text(p_values text[]) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.offered_text(p_values text[]) IS 'What is offered, in words.';

CREATE FUNCTION taskqueue.one_number(p_key text, p_value jsonb) RETURNS numeric
    LANGUAGE plpgsql IMMUTABLE
    AS $$
declare
  v_number numeric;
begin
  if jsonb_typeof(p_value) is distinct from 'number' then
    raise exception '% is %, which is not a number', p_key, coalesce(p_value::text, 'missing')
      using errcode = 'PB001', hint = format('Give %s a number, not negative.', p_key);
  end if;
  v_number := p_value::numeric;
  if v_number < 0 or v_number > 1e300 or (v_number > 0 and v_number < 1e-300) then
    raise exception '% is %, which is not within 0..1e300', p_key, p_value
      using errcode = 'PB001', hint = format('Give %s a number, not negative and finite.', p_key);
  end if;
  return v_number;
end $$;

ALTER FUNCTION taskqueue.one_number(p_key text, p_value jsonb) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.one_number(p_key text, p_value jsonb) IS 'The number of a JSON value, within 0..1e300. Errors: PB001, naming the key.';

CREATE FUNCTION taskqueue.one_text(p_key text, p_value jsonb) RETURNS text
    LANGUAGE plpgsql IMMUTABLE
    AS $$
begin
  if jsonb_typeof(p_value) is distinct from 'string' or p_value = '""' then
    raise exception '% is %, which is not a text', p_key, coalesce(p_value::text, 'missing')
      using errcode = 'PB001', hint = format('Give %s one non-empty text.', p_key);
  end if;
  if length(p_value #>> '{}') > 1000 then
    raise exception '% is a text of % characters', p_key, length(p_value #>> '{}') using errcode = 'PB001', hint = 'A text may have 1,000 characters.';
  end if;
  return p_value #>> '{}';
end $$;

ALTER FUNCTION taskqueue.one_text(p_key text, p_value jsonb) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.one_text(p_key text, p_value jsonb) IS 'The text of a JSON value. Errors: PB001, naming the key.';

CREATE FUNCTION taskqueue.open_queues(p_setup text, p_task_queue_ids bigint[]) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
  v_entity record;
  v_owners bigint;
  v_queues bigint;
  v_weight float8;
begin
  if p_task_queue_ids = '{}' then
    return;
  end if;
  for v_entity in
    select q.owner_group, case when coalesce(g.job_sharing, false) then '' else q.owner_dn end as owner_dn, coalesce(g.share, 1000) * coalesce(c.factor, 1) as share,
           coalesce(g.job_sharing, false) as job_sharing, coalesce(g.allow_background, false) as allow_background, s.ten_first,
           array_agg(q.task_queue_id) as ids
      from taskqueue.task_queue q
      join taskqueue.setting s on s.setup = q.setup
      left join taskqueue.owner_group g on g.setup = q.setup and g.owner_group = q.owner_group
      left join taskqueue.share_correction c
             on c.setup = q.setup and c.owner_group = q.owner_group and c.owner_dn = case when coalesce(g.job_sharing, false) then '' else q.owner_dn end
     where q.setup = p_setup and q.task_queue_id = any (p_task_queue_ids)
     group by 1, 2, 3, 4, 5, 6
  loop
    select count(*), sum(o.queues) filter (where o.mine), sum(o.weight) filter (where o.mine) into v_owners, v_queues, v_weight
      from (select sum(w.queues) as queues, sum(w.weight) filter (where not (w.light and v_entity.allow_background)) as weight,
                   v_entity.job_sharing or w.owner_dn = v_entity.owner_dn as mine
              from taskqueue.owner_weight w where w.setup = p_setup and w.owner_group = v_entity.owner_group
             group by w.owner_dn having sum(w.queues) > 0) o;
    if v_queues <= 10 then
      select sum(w.weight) filter (where not taskqueue.is_background(w.weight, v_entity.allow_background)) into v_weight
        from taskqueue.task_queue q
       cross join lateral taskqueue.weight_of_queue(q, v_entity.ten_first) w
       where q.setup = p_setup and q.owner_group = v_entity.owner_group and (v_entity.job_sharing or q.owner_dn = v_entity.owner_dn);
    end if;
    if v_entity.job_sharing then
      v_owners := 1;
    end if;
    update taskqueue.task_queue q set priority = p.priority
      from (select n.task_queue_id,
                   sum(taskqueue.own_priority(v_entity.share / v_owners, w.weight, v_weight, v_entity.allow_background)) as priority
              from taskqueue.task_queue n
              join taskqueue.definition d on d.setup = n.setup and d.definition_id = n.definition_id
              join taskqueue.definition f on f.setup = d.setup and f.family = d.family
              join taskqueue.task_queue m on m.setup = f.setup and m.definition_id = f.definition_id
             cross join lateral (select m.mean_weight as weight where v_queues > 10
                                 union all
                                 select c.weight from taskqueue.weight_of_queue(m, v_entity.ten_first) c where v_queues <= 10) w
             where n.setup = p_setup and n.task_queue_id = any (v_entity.ids)
             group by n.task_queue_id) p
     where q.setup = p_setup and q.task_queue_id = p.task_queue_id;
    insert into taskqueue.share_mark (setup, owner_group, marked_at) values (p_setup, v_entity.owner_group, resource.clock(p_setup));
    if random() < 1.0 / 16 then
      perform taskqueue.fold_weights(p_setup, v_entity.owner_group);
    end if;
  end loop;
  perform taskqueue.post_queues(p_setup, p_task_queue_ids, false);
end $$;

ALTER FUNCTION taskqueue.open_queues(p_setup text, p_task_queue_ids bigint[]) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.open_queues(p_setup text, p_task_queue_ids bigint[]) IS 'Gives queues that taskqueue.make_queue made in this transaction their priorities (section 9) and their postings.';

CREATE FUNCTION taskqueue.own_priority(p_share double precision, p_weight double precision, p_sum double precision, p_allow_background boolean) RETURNS double precision
    LANGUAGE sql IMMUTABLE
    AS $$
  select case when taskqueue.is_background(p_weight, p_allow_background) then 0.001 else greatest(p_share * p_weight / p_sum, 0.001) end
$$;

ALTER FUNCTION taskqueue.own_priority(p_share double precision, p_weight double precision, p_sum double precision, p_allow_background boolean) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.own_priority(p_share double precision, p_weight double precision, p_sum double precision, p_allow_background boolean) IS 'Priority of a queue: its part of the share of its entity by mean draw weight, at least 0.001; background queues get 0.001 (section 9).';

CREATE FUNCTION taskqueue.pick_job(p_setup text, p_task_queue_id bigint, p_ten_first boolean, p_policy text, p_seed bigint) RETURNS TABLE(job_id bigint, user_priority smallint, jobs bigint)
    LANGUAGE sql STABLE ROWS 1
    AS $$
  select f.job_id, o.user_priority, o.jobs
    from (select u.user_priority, u.jobs, u.first_id
            from taskqueue.user_priority_order(p_setup, p_task_queue_id, p_seed, p_ten_first, p_policy) u limit 1) o
   cross join lateral (
         select i.job_id from taskqueue.job i
          where i.setup = p_setup and i.task_queue_id = p_task_queue_id and not i.held and i.user_priority = o.user_priority
            and i.job_id >= coalesce(o.first_id, 0)
          order by i.job_id offset floor(taskqueue.draw(o.user_priority, p_seed # 1) * least(o.jobs, 10)) limit 1) f
$$;

ALTER FUNCTION taskqueue.pick_job(p_setup text, p_task_queue_id bigint, p_ten_first boolean, p_policy text, p_seed bigint) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.pick_job(p_setup text, p_task_queue_id bigint, p_ten_first boolean, p_policy text, p_seed bigint) IS 'The job of a queue that the draws point at, its user priority, and how many jobs it has. No row: the counts are wrong, or it is empty.';

CREATE FUNCTION taskqueue.place_batch(p_identity resource.identity, p_jobs jsonb) RETURNS bigint[]
    LANGUAGE plpgsql
    AS $$
declare
  v_setup text := p_identity.setup;
  v_requirements jsonb[];
  v_digests uuid[];
  v_numbers int[];
  v_job_ids bigint[];
  v_user_priorities int[];
  v_queue_ids bigint[];
  v_batch record;
  v_made bigint[] := '{}'::bigint[];
begin
  with raw as materialized (
    select r.requirements, taskqueue.canonical_requirements(v_setup, r.requirements) as canonical
      from (select distinct e -> 'requirements' as requirements from jsonb_array_elements(p_jobs) e) r
  ), canonical as materialized (
    select c.canonical, c.digest, row_number() over (order by c.digest) as number
      from (select distinct r.canonical, md5(r.canonical::text)::uuid as digest from raw r) c
  ), job as materialized (
    select c.number, n.job_id::bigint as job_id, n.user_priority::int as user_priority
      from jsonb_array_elements(p_jobs) e
      join raw r on r.requirements = e -> 'requirements'
      join canonical c using (canonical)
     cross join lateral (
            select e -> 'job_id' as job_id, coalesce(e -> 'user_priority', '1') as user_priority where not e ? 'jobs'
            union all
            select j -> 0, coalesce(j -> 1, '1') from jsonb_array_elements(e -> 'jobs') j) n
  )
  select array(select c.canonical from canonical c order by c.number), array(select c.digest from canonical c order by c.number),
         array_agg(j.number), array_agg(j.job_id), array_agg(j.user_priority)
    into v_requirements, v_digests, v_numbers, v_job_ids, v_user_priorities from job j;
  perform taskqueue.may_submit(p_identity, r) from unnest(v_requirements) r;
  with wanted as materialized (
    select d.definition_id, r.number, n.jobs
      from unnest(v_digests) with ordinality r (digest, number)
      join (select u.number, count(*) as jobs from unnest(v_numbers) u (number) group by u.number) n using (number)
      join taskqueue.definition d on d.setup = v_setup and d.digest = r.digest
  ), there as materialized (
    select w.number, q.task_queue_id
      from taskqueue.queues_with_room(v_setup, (select array_agg(i.definition_id) from wanted i),
                                      (select s.queue_size from taskqueue.setting s where s.setup = v_setup)) q
      join wanted w using (definition_id)
     where q.room >= w.jobs
  )
  select array_agg(t.task_queue_id order by n.place) into v_queue_ids
    from unnest(v_numbers) with ordinality n (number, place) left join there t using (number);
  for v_batch in
    select array_agg(n.task_queue_id) as queue_ids, array_agg(n.job_id) as job_ids, array_agg(n.user_priority) as user_priorities
      from unnest(v_queue_ids, v_job_ids, v_user_priorities) n (task_queue_id, job_id, user_priority)
     where n.task_queue_id is not null
    having count(*) > 0
  loop
    perform taskqueue.fill_queues(v_setup, v_batch.queue_ids, v_batch.job_ids, v_batch.user_priorities, p_identity);
    perform taskqueue.settle_ids(v_setup, v_batch.job_ids);
  end loop;
  for v_batch in
    select r.canonical, array_agg(n.job_id order by n.job_id) as job_ids, array_agg(n.user_priority order by n.job_id) as user_priorities
      from unnest(v_numbers, v_queue_ids, v_job_ids, v_user_priorities) n (number, task_queue_id, job_id, user_priority)
      join unnest(v_requirements) with ordinality r (canonical, number) using (number)
     where n.task_queue_id is null
     group by r.number, r.canonical order by r.number
  loop
    v_made := v_made || (select p.made from taskqueue.place_jobs(v_setup, v_batch.canonical, v_batch.job_ids, v_batch.user_priorities, p_identity) p);
  end loop;
  return v_made;
end $$;

ALTER FUNCTION taskqueue.place_batch(p_identity resource.identity, p_jobs jsonb) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.place_batch(p_identity resource.identity, p_jobs jsonb) IS 'Puts the jobs of a checked batch into queues; returns the queues made, for taskqueue.open_queues. Errors: PB001, PB002, PB005, naming the job.';

CREATE FUNCTION taskqueue.place_jobs(p_setup text, p_requirements jsonb, p_job_ids bigint[], p_user_priorities integer[], p_identity resource.identity DEFAULT NULL::resource.identity, OUT task_queue_id bigint, OUT made bigint[]) RETURNS record
    LANGUAGE plpgsql
    AS $$
declare
  v_setting taskqueue.setting;
  v_definition_id bigint;
  v_room bigint;
  v_from int := 1;
  v_to int;
begin
  made := '{}'::bigint[];
  select s.* into strict v_setting from taskqueue.setting s where s.setup = p_setup;
  v_definition_id := taskqueue.definition_of(p_setup, p_requirements);
  while v_from <= cardinality(p_job_ids) loop
    select r.task_queue_id, r.room into place_jobs.task_queue_id, v_room from taskqueue.queues_with_room(p_setup, array[v_definition_id], v_setting.queue_size) r;
    if task_queue_id is null then
      perform pg_advisory_xact_lock(hashtextextended(p_setup || p_requirements, 0));
      select r.task_queue_id, r.room into place_jobs.task_queue_id, v_room from taskqueue.queues_with_room(p_setup, array[v_definition_id], v_setting.queue_size) r;
    end if;
    if task_queue_id is null then
      v_room := v_setting.queue_size;
      task_queue_id := taskqueue.make_queue(p_setup, v_definition_id, (
        select avg(taskqueue.weight(p, v_setting.ten_first)) from unnest(p_user_priorities[v_from:v_from + v_setting.queue_size - 1]) p));
      made := made || task_queue_id;
    end if;
    v_to := least(v_from + v_room - 1, cardinality(p_job_ids));
    perform taskqueue.fill_queues(p_setup, array_fill(task_queue_id, array[v_to - v_from + 1]), p_job_ids[v_from:v_to], p_user_priorities[v_from:v_to],
                                  p_identity);
    v_from := v_to + 1;
  end loop;
  perform taskqueue.settle_ids(p_setup, p_job_ids);
end $$;

ALTER FUNCTION taskqueue.place_jobs(p_setup text, p_requirements jsonb, p_job_ids bigint[], p_user_priorities integer[], p_identity resource.identity, OUT task_queue_id bigint, OUT made bigint[]) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.place_jobs(p_setup text, p_requirements jsonb, p_job_ids bigint[], p_user_priorities integer[], p_identity resource.identity, OUT task_queue_id bigint, OUT made bigint[]) IS 'Puts jobs with the same canonical requirements into the newest queue with room, opening queues as needed. Returns the queue of the last, and the queues made, for taskqueue.open_queues. Errors: PB002 (a private submitter would move the job of another), PB005 (leased).';

CREATE FUNCTION taskqueue.post_pending(p_setup text, p_limit integer DEFAULT 20) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
declare
  v_ids bigint[];
begin
  if not exists (select from taskqueue.unposted u where u.setup = p_setup) then
    return false;
  end if;
  with gone as (
    delete from taskqueue.unposted u
     where u.ctid = any (array(select i.ctid from taskqueue.unposted i where i.setup = p_setup limit p_limit for update skip locked))
    returning u.task_queue_id
  )
  select array_agg(distinct g.task_queue_id) into v_ids from gone g;
  insert into taskqueue.unposted (setup, task_queue_id)  -- a queue that somebody is closing or dropping
  select p_setup, i from unnest(v_ids) i
   where i <> all (array(select q.task_queue_id from taskqueue.task_queue q
                          where q.setup = p_setup and q.task_queue_id = any (v_ids) for no key update skip locked))
     and exists (select from taskqueue.task_queue q where q.setup = p_setup and q.task_queue_id = i);
  v_ids := array(select i from unnest(v_ids) i where not exists (select from taskqueue.unposted u where u.setup = p_setup and u.task_queue_id = i));
  return v_ids <> '{}' and taskqueue.post_queues(p_setup, v_ids, false);
end $$;

ALTER FUNCTION taskqueue.post_pending(p_setup text, p_limit integer) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.post_pending(p_setup text, p_limit integer) IS 'Posts the queues that were opened while somebody else worked on their lists; at most p_limit at a time; true when there were any, and it could be done.';

CREATE FUNCTION taskqueue.post_queues(p_setup text, p_task_queue_ids bigint[], p_wait boolean DEFAULT true) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
declare
  v_sites text[];
  v_cpu_times bigint[];
  v_bands int[];
  v_ids bigint[];
  v_list_ids bigint[];
  v_left_lists bigint[];
  v_left_bands int[];
  v_wanted int;
  v_new record;
begin
  if p_task_queue_ids = '{}' then
    return true;
  end if;
  if p_wait then  -- maintenance posts group by group: those who wait do so one after the other, before any list
    perform pg_advisory_xact_lock(hashtextextended(p_setup, 7));
  end if;
  with gone as (
    delete from taskqueue.posting d
     where d.setup = p_setup and d.task_queue_id = any (p_task_queue_ids)
       and not exists (select from taskqueue.posted_queue p
                         join taskqueue.wanted_posting w using (setup, site, cpu_time, band, task_queue_id)
                        where p.setup = p_setup and p.list_id = d.list_id and p.band = d.band and p.place = d.place)
    returning d.list_id, d.band
  )
  select array_agg(g.list_id), array_agg(g.band) into v_left_lists, v_left_bands from gone g;
  select array_agg(w.site), array_agg(w.cpu_time), array_agg(w.band), array_agg(w.task_queue_id), count(distinct (w.site, w.cpu_time))
    into v_sites, v_cpu_times, v_bands, v_ids, v_wanted
    from (select i.* from taskqueue.wanted_posting i
           where i.setup = p_setup and i.task_queue_id = any (p_task_queue_ids)
             and not exists (select from taskqueue.posted_queue p
                              where p.setup = p_setup and p.task_queue_id = i.task_queue_id and (p.site, p.cpu_time, p.band) = (i.site, i.cpu_time, i.band))
           order by i.task_queue_id, i.site) w;
  while v_wanted > 0 loop  -- maintenance may remove a list that is empty before it is locked here
    for v_new in  -- a lock for each list that is to be made, since an insert would wait for another of the same list
      select distinct w.site, w.cpu_time from unnest(v_sites, v_cpu_times) w (site, cpu_time)
       where not exists (select from taskqueue.posting_list l where l.setup = p_setup and l.site = w.site and l.cpu_time = w.cpu_time)
       order by 1, 2
    loop
      if p_wait then
        perform pg_advisory_xact_lock(hashtextextended(p_setup || '/' || v_new.site, v_new.cpu_time));
      end if;
      if p_wait or pg_try_advisory_xact_lock(hashtextextended(p_setup || '/' || v_new.site, v_new.cpu_time)) then
        insert into taskqueue.posting_list (setup, site, cpu_time) values (p_setup, v_new.site, v_new.cpu_time) on conflict do nothing;
      end if;
    end loop;
    if p_wait then
      v_list_ids := array(select l.list_id from taskqueue.posting_list l
                           where l.setup = p_setup and (l.site, l.cpu_time) in (select w.site, w.cpu_time from unnest(v_sites, v_cpu_times) w (site, cpu_time))
                           order by l.site, l.cpu_time
                             for update);
      exit when cardinality(v_list_ids) = v_wanted;
    else
      v_list_ids := array(select l.list_id from taskqueue.posting_list l
                           where l.setup = p_setup and (l.site, l.cpu_time) in (select w.site, w.cpu_time from unnest(v_sites, v_cpu_times) w (site, cpu_time))
                           order by l.site, l.cpu_time
                             for update skip locked);
      exit when cardinality(v_list_ids) = v_wanted;
      insert into taskqueue.unposted (setup, task_queue_id) select p_setup, unnest(p_task_queue_ids);
      return false;
    end if;
  end loop;
  update taskqueue.task_queue q set posted = not q.posted
   where q.setup = p_setup and q.task_queue_id = any (p_task_queue_ids)
     and q.posted <> (q.task_queue_id = any (coalesce(v_ids, '{}'))
                      or exists (select from taskqueue.posting p where p.setup = p_setup and p.task_queue_id = q.task_queue_id));
  if v_left_lists is not null then  -- the ends of bands that were left; gaps are for taskqueue.close_gaps
    select array_agg(g.list_id), array_agg(g.band) into v_left_lists, v_left_bands
      from unnest(v_left_lists, v_left_bands) g (list_id, band)
      join (select l.list_id from taskqueue.posting_list l
             where l.setup = p_setup and l.list_id = any (v_left_lists) order by l.site, l.cpu_time for update skip locked) i using (list_id);
    perform taskqueue.measure_lists(p_setup, v_left_lists, v_left_bands);
  end if;
  if v_ids is null then
    return true;
  end if;
  with posted as (
    insert into taskqueue.posting (setup, list_id, band, place, task_queue_id)
    select p_setup, l.list_id, w.band,
           coalesce(l.places[array_position(l.bands, w.band)], 0) + row_number() over (partition by l.list_id, w.band order by w.task_queue_id), w.task_queue_id
      from unnest(v_sites, v_cpu_times, v_bands, v_ids) w (site, cpu_time, band, task_queue_id)
      join taskqueue.posting_list l on l.setup = p_setup and (l.site, l.cpu_time) = (w.site, w.cpu_time)
    returning list_id, band
  )
  select array_agg(p.list_id), array_agg(p.band) into v_list_ids, v_bands from posted p;
  perform taskqueue.measure_lists(p_setup, v_list_ids, v_bands);
  return true;
end $$;

ALTER FUNCTION taskqueue.post_queues(p_setup text, p_task_queue_ids bigint[], p_wait boolean) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.post_queues(p_setup text, p_task_queue_ids bigint[], p_wait boolean) IS 'Makes the postings of queues what taskqueue.wanted_posting says, changing only what differs; false: left to taskqueue.post_pending.';

CREATE FUNCTION taskqueue.queue_of_job(p_setup text, p_job_id bigint) RETURNS bigint
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'taskqueue', 'pg_temp'
    AS $$
declare
  v_identity resource.identity := resource.identify(p_setup);
  v_queue taskqueue.task_queue;
begin
  select q.* into v_queue
    from taskqueue.job j join taskqueue.task_queue q on q.setup = j.setup and q.task_queue_id = j.task_queue_id
   where j.setup = p_setup and j.job_id = p_job_id;
  if found then
    perform taskqueue.may_touch(v_identity, p_job_id, v_queue.definition_id);
  end if;
  return v_queue.task_queue_id;
end $$;

ALTER FUNCTION taskqueue.queue_of_job(p_setup text, p_job_id bigint) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.queue_of_job(p_setup text, p_job_id bigint) IS 'TaskQueue that a job waits in; null when it does not wait. Errors: PB002 (setup or owner not granted).';

CREATE FUNCTION taskqueue.queue_point(p_setup text, p_sites text[], p_bucket bigint, p_above double precision, p_policy text, p_seed bigint, p_offer taskqueue.offer, p_tests integer) RETURNS TABLE(enough integer, key double precision, fits boolean, site text, task_queue_id bigint, definition taskqueue.definition)
    LANGUAGE sql STABLE ROWS 1
    AS $$
  select case when s.room <= 16 then 8 else greatest(100, s.room / 16)::int end, s.key,
         s.rest - (s.place - 1) * s.ceiling < q.priority * case when p_policy = 'proportional' then 1 else (1 - s.top * s.key) / (1 - q.priority * s.key) end
         and case when d.demands & p_tests = 0
                  then p_sites[1] <> all (d.banned_sites)
                       and (p_offer.platforms is null or cardinality(d.platforms) = 0 or d.platforms && p_offer.platforms)
                       and (p_offer.tags is null or d.tags <@ p_offer.tags)
                       and taskqueue.accepts_owner(d, p_offer)
             end,
         s.site, q.task_queue_id, d
    from (select b.*, 1 + floor(b.rest / b.ceiling)::int as place
            from (select e.room, e.key, e.top, e.site, e.list_id, e.bands[e.entry] as band, e.point - coalesce(e.sums[e.entry - 1], 0) as rest, e.ceilings[e.entry] as ceiling
                    from (select l.*, 1 + width_bucket(l.point, l.sums) as entry
                            from (select i.room, i.top, i.site, i.list_id, i.bands, i.sums, i.ceilings, taskqueue.draw(-1, p_seed) * i.rate as point,
                                         case when p_policy = 'proportional' then p_above - ln(taskqueue.draw(i.list_id, p_seed)) / i.rate
                                              else (1 - (1 - i.top * p_above) * power(taskqueue.draw(i.list_id, p_seed), i.top / i.rate)) / i.top end as key
                                    from taskqueue.posting_list i
                                   where i.setup = p_setup and i.site = any (p_sites) and i.cpu_time = p_bucket and i.room > 0
                                   order by key limit 1) l offset 0) e offset 0) b) s
    left join taskqueue.posting p on p.setup = p_setup and p.list_id = s.list_id and p.band = s.band and p.place = s.place
    left join taskqueue.task_queue q on q.setup = p_setup and q.task_queue_id = p.task_queue_id and q.posted
    left join taskqueue.definition d on d.setup = p_setup and d.definition_id = q.definition_id
$$;

ALTER FUNCTION taskqueue.queue_point(p_setup text, p_sites text[], p_bucket bigint, p_above double precision, p_policy text, p_seed bigint, p_offer taskqueue.offer, p_tests integer) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.queue_point(p_setup text, p_sites text[], p_bucket bigint, p_above double precision, p_policy text, p_seed bigint, p_offer taskqueue.offer, p_tests integer) IS 'The next point above a key over the lists of some sites in a CPU bucket, and the queue at its place; fits = it is the next in the drawn order, if it has not come before, and matches the offer; null: to be looked at more closely. enough = the points that are worth drawing in such a list. No row: there is no list.';

CREATE FUNCTION taskqueue.queues_with_room(p_setup text, p_definition_ids bigint[], p_size bigint) RETURNS TABLE(definition_id bigint, task_queue_id bigint, room bigint)
    LANGUAGE sql
    AS $$
  select d.definition_id, n.task_queue_id, n.room
    from unnest(p_definition_ids) d (definition_id)
   cross join lateral (
          select q.task_queue_id, p_size - c.jobs as room
            from taskqueue.task_queue q
           cross join lateral (select coalesce(sum(l.jobs), 0)::bigint as jobs from taskqueue.job_level(q.setup, q.task_queue_id) l) c
           where q.setup = p_setup and q.definition_id = d.definition_id and c.jobs < p_size
           order by q.task_queue_id desc
           limit 1
             for key share of q skip locked) n
$$;

ALTER FUNCTION taskqueue.queues_with_room(p_setup text, p_definition_ids bigint[], p_size bigint) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.queues_with_room(p_setup text, p_definition_ids bigint[], p_size bigint) IS 'The newest queue of each definition with fewer jobs than the size given, locked against deletion, and how many more it takes; no row = none.';

CREATE FUNCTION taskqueue.reaches(p_requirements jsonb, p_limits bigint[], p_setup text) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
  select exists (select from taskqueue.site_limit l
                  where l.setup = p_setup and l.limit_id = any (p_limits) and taskqueue.lists(p_requirements, l.attribute, l.value))
$$;

ALTER FUNCTION taskqueue.reaches(p_requirements jsonb, p_limits bigint[], p_setup text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.reaches(p_requirements jsonb, p_limits bigint[], p_setup text) IS 'Whether requirements list a value of one of the limits.';

CREATE FUNCTION taskqueue.rebuild_matching(p_setup text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'taskqueue', 'pg_temp'
    AS $$
declare
  v_limit_id bigint;
begin
  perform resource.identify(p_setup);
  perform taskqueue.reconfigure(p_setup);
  perform taskqueue.forget_offers(p_setup);
  delete from taskqueue.unposted u where u.setup = p_setup;
  delete from taskqueue.posting p where p.setup = p_setup;
  delete from taskqueue.posting_list l where l.setup = p_setup;
  -- a definition that was changed by hand, its digest telling what it was
  update taskqueue.definition d set requirements = w.requirements
    from (select t.definition_id, taskqueue.requirements_of_queue(t) as requirements from taskqueue.task_queue t where t.setup = p_setup) w
   where d.setup = p_setup and d.definition_id = w.definition_id and d.requirements <> w.requirements and d.digest = md5(w.requirements::text)::uuid;
  update taskqueue.task_queue q set definition_id = taskqueue.definition_of(p_setup, w.requirements)
    from (select t.task_queue_id, t.definition_id, taskqueue.requirements_of_queue(t) as requirements from taskqueue.task_queue t where t.setup = p_setup) w
    left join taskqueue.definition d on d.setup = p_setup and d.definition_id = w.definition_id
   where q.setup = p_setup and q.task_queue_id = w.task_queue_id and not (d.requirements = w.requirements);
  update taskqueue.definition d
     set made_in = pg_current_xact_id(), family = taskqueue.family_of(r), digest = md5(r::text)::uuid, owner_dn = r ->> 'OwnerDN', owner_group = r ->> 'OwnerGroup',
         cpu_time = (r ->> 'CPUTime')::bigint, min_ram = (r ->> 'MinRAM')::float8,
         pilot_types = taskqueue.list_of(r, 'PilotTypes'), sites = taskqueue.list_of(r, 'Sites'), banned_sites = taskqueue.list_of(r, 'BannedSites'),
         grid_ces = taskqueue.list_of(r, 'GridCEs'), platforms = taskqueue.list_of(r, 'Platforms'), job_types = taskqueue.list_of(r, 'JobTypes'),
         tags = taskqueue.list_of(r, 'Tags')
    from (select i.definition_id, i.requirements as r from taskqueue.definition i where i.setup = p_setup) i
   where d.setup = p_setup and d.definition_id = i.definition_id;
  delete from taskqueue.job_count_change c where c.setup = p_setup;
  delete from taskqueue.job_count c where c.setup = p_setup;
  insert into taskqueue.job_count (setup, task_queue_id, known_to, in_flight, jobs, first_ids)
  select p_setup, q.task_queue_id, '0', '{}', array_agg(coalesce(n.jobs, 0) order by i.level), array_agg(n.first_id order by i.level)
    from taskqueue.task_queue q
   cross join generate_series(0, 10) i (level)
    left join (select j.task_queue_id, j.user_priority, count(*) as jobs, min(j.job_id) as first_id
                 from taskqueue.job j where j.setup = p_setup and not j.held group by 1, 2) n
           on n.task_queue_id = q.task_queue_id and n.user_priority = i.level
   where q.setup = p_setup
   group by q.task_queue_id;
  delete from taskqueue.owner_weight w where w.setup = p_setup;
  perform taskqueue.note_weight(p_setup, q.owner_group, q.owner_dn, q.mean_weight, 1) from taskqueue.task_queue q where q.setup = p_setup;
  perform taskqueue.fold_weights(p_setup, g.owner_group) from (select distinct q.owner_group from taskqueue.task_queue q where q.setup = p_setup) g;
  perform taskqueue.post_queues(p_setup, array(select q.task_queue_id from taskqueue.task_queue q where q.setup = p_setup));
  for v_limit_id in select l.limit_id from taskqueue.site_limit l where l.setup = p_setup and l.kind = 'running' loop
    perform taskqueue.set_slots(p_setup, v_limit_id);
  end loop;
end $$;

ALTER FUNCTION taskqueue.rebuild_matching(p_setup text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.rebuild_matching(p_setup text) IS 'Makes everything that matching reads anew (definitions, postings, counts, weights of owners, limit slots) from TaskQueues, requirement tables, jobs and leases. Errors: PB002 (setup not granted), PB006 (busy).';

CREATE FUNCTION taskqueue.recompute_shares(p_setup text, p_group text DEFAULT NULL::text) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'taskqueue', 'pg_temp'
    AS $$
declare
  v_locked bigint[];
  v_changed bigint;
  v_elsewhere bigint[];
begin
  perform resource.identify(p_setup);
  perform taskqueue.enter(p_setup);
  perform taskqueue.correct_shares(p_setup);
  delete from taskqueue.share_mark m where m.ctid = any (array(
    select k.ctid from taskqueue.share_mark k where k.setup = p_setup and (p_group is null or k.owner_group = p_group) for update skip locked));
  v_locked := array(select q.task_queue_id from taskqueue.task_queue q
                     where q.setup = p_setup and (p_group is null or q.owner_group = p_group) for no key update skip locked);
  insert into taskqueue.share_mark (setup, owner_group, marked_at)  -- those passed over are for the next time
  select distinct p_setup, q.owner_group, resource.clock(p_setup) from taskqueue.task_queue q
   where q.setup = p_setup and (p_group is null or q.owner_group = p_group) and q.task_queue_id <> all (v_locked);
  with changed as (
    update taskqueue.task_queue q set priority = s.priority, mean_weight = s.mean_weight
      from taskqueue.share_of_queue(p_setup, p_group) s
      join taskqueue.task_queue o on o.setup = p_setup and o.task_queue_id = s.task_queue_id
     where q.setup = p_setup and q.task_queue_id = s.task_queue_id and q.task_queue_id = any (v_locked)
       and (q.priority <> s.priority or q.mean_weight <> s.mean_weight)
    returning q.task_queue_id, q.owner_group, q.owner_dn, o.mean_weight as old_weight, q.mean_weight,
              q.posted and taskqueue.band_of(q.priority) <> taskqueue.band_of(o.priority) as elsewhere
  ), noted as (  -- the queues are locked: nobody else changes or drops what is taken away here
    insert into taskqueue.owner_weight (setup, owner_group, owner_dn, light, queues, weight)
    select p_setup, c.owner_group, c.owner_dn, taskqueue.is_background(v.weight, true), sum(v.queues), sum(v.queues * v.weight::numeric)
      from changed c cross join lateral (values (c.old_weight, -1), (c.mean_weight, 1)) v (weight, queues)
     group by 2, 3, 4 having sum(v.queues) <> 0 or sum(v.queues * v.weight::numeric) <> 0
  )
  select count(*), coalesce(array_agg(c.task_queue_id) filter (where c.elsewhere), '{}') into v_changed, v_elsewhere from changed c;
  perform taskqueue.fold_weights(p_setup, g.owner_group)
     from (select distinct w.owner_group from taskqueue.owner_weight w where w.setup = p_setup and (p_group is null or w.owner_group = p_group)) g;
  perform taskqueue.post_queues(p_setup, v_elsewhere);
  return v_changed;
end $$;

ALTER FUNCTION taskqueue.recompute_shares(p_setup text, p_group text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.recompute_shares(p_setup text, p_group text) IS 'Gives the queues of a setup, or of one owner group, the priorities of section 9 as things are now; returns how many queues changed. Errors: PB002 (setup not granted).';

CREATE FUNCTION taskqueue.reconfigure(p_setup text) RETURNS void
    LANGUAGE plpgsql
    SET lock_timeout TO '300ms'
    AS $$
begin
  perform taskqueue.require_read_committed();
  for v_try in 1..10 loop
    begin
      perform pg_advisory_xact_lock(hashtext('taskqueue'), hashtext(p_setup));
      return;
    exception when lock_not_available then
      perform pg_sleep(0.05 + 0.1 * random());
    end;
  end loop;
  raise exception 'setup % is busy: a call has been open there for over 3 s', p_setup
    using errcode = 'PB006', hint = 'Try again; look for transactions that stay open in pg_stat_activity.';
end $$;

ALTER FUNCTION taskqueue.reconfigure(p_setup text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.reconfigure(p_setup text) IS 'Keeps matching, inserting and returning out of the setup until the transaction ends. Errors: PB001 (isolation level), PB006 (open transactions do not end).';

CREATE FUNCTION taskqueue.refresh_statistics() RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'taskqueue', 'pg_temp'
    AS $$
begin
  analyze (skip_locked) taskqueue.definition, taskqueue.task_queue, taskqueue.posting_list, taskqueue.posting, taskqueue.job, taskqueue.job_count, taskqueue.job_count_change;
end $$;

ALTER FUNCTION taskqueue.refresh_statistics() OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.refresh_statistics() IS 'Tells the planner how much the room holds now; after a bulk load, before the agents come. Takes about 50 ms.';

CREATE FUNCTION taskqueue.release_job(p_setup text, p_job_id bigint, p_attempt text) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'taskqueue', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
declare
  v_lease taskqueue.lease;
begin
  perform resource.identify(p_setup);
  perform taskqueue.enter(p_setup);
  v_lease := taskqueue.lease_of(p_setup, p_job_id, p_attempt);
  if v_lease.kill_reason is not null then
    perform taskqueue.end_lease(v_lease, 'cancelled');
    return null;
  end if;
  return taskqueue.return_job(v_lease);
end $$;

ALTER FUNCTION taskqueue.release_job(p_setup text, p_job_id bigint, p_attempt text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.release_job(p_setup text, p_job_id bigint, p_attempt text) IS 'Puts a leased job back into its queue and returns the queue; null when it had been marked for kill: then it ended as cancelled. Errors: PB002 (setup not granted), PB003 (stale attempt).';

CREATE FUNCTION taskqueue.remove_setup(p_setup text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'taskqueue', 'pg_temp'
    AS $$
begin
  perform resource.identify(p_setup);
  perform taskqueue.reconfigure(p_setup);
  delete from taskqueue.job j where j.setup = p_setup;
  delete from taskqueue.job_count_change c where c.setup = p_setup;
  delete from taskqueue.job_count c where c.setup = p_setup;
  delete from taskqueue.lease l where l.setup = p_setup;
  delete from taskqueue.limit_slot s where s.setup = p_setup;
  delete from taskqueue.limit_use u where u.setup = p_setup;
  delete from taskqueue.ended e where e.setup = p_setup;
  delete from taskqueue.history h where h.setup = p_setup;
  delete from taskqueue.request r where r.setup = p_setup;
  perform taskqueue.forget_offers(p_setup);
  delete from taskqueue.resource_seen r where r.setup = p_setup;
  delete from taskqueue.unposted u where u.setup = p_setup;
  delete from taskqueue.owner_weight w where w.setup = p_setup;
  delete from taskqueue.share_mark m where m.setup = p_setup;
  delete from taskqueue.task_queue q where q.setup = p_setup;
  delete from resource.setup s where s.setup = p_setup;
  return found;
end $$;

ALTER FUNCTION taskqueue.remove_setup(p_setup text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.remove_setup(p_setup text) IS 'Deletes a setup with all its TaskQueues, jobs, leases, history, configuration and identities; false when there is none. Errors: PB002 (setup not granted), PB006 (busy).';

CREATE FUNCTION taskqueue.replace_definition(p_setup text, p_old bigint, p_new bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
  v_ids bigint[];
begin
  update taskqueue.lease l set definition_id = p_new where l.setup = p_setup and l.definition_id = p_old;
  if exists (select from taskqueue.task_queue q where q.setup = p_setup and q.definition_id = p_new) then
    v_ids := array(select q.task_queue_id from taskqueue.task_queue q
                    where q.setup = p_setup and q.definition_id in (p_old, p_new) and q.enabled and not q.held order by q.task_queue_id);
    update taskqueue.job j set task_queue_id = v_ids[1] where j.setup = p_setup and j.task_queue_id = any (v_ids[2:]);
    delete from taskqueue.task_queue q where q.setup = p_setup and q.task_queue_id = any (v_ids[2:]);
  end if;
  update taskqueue.task_queue q set definition_id = p_new where q.setup = p_setup and q.definition_id = p_old;
  delete from taskqueue.definition d where d.setup = p_setup and d.definition_id = p_old;
end $$;

ALTER FUNCTION taskqueue.replace_definition(p_setup text, p_old bigint, p_new bigint) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.replace_definition(p_setup text, p_old bigint, p_new bigint) IS 'Gives the queues and leases of one definition to another; where that has queues, all jobs go to the oldest of both; disabled and held queues stay as they are, beside it. Counts and postings are for taskqueue.rebuild_matching.';

CREATE FUNCTION taskqueue.report_job(p_setup text, p_job_id bigint, p_attempt text) RETURNS TABLE(action text, reason text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'taskqueue', 'pg_temp'
    SET enable_seqscan TO 'off'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
declare
  v_lease taskqueue.lease;
  v_now timestamptz := resource.clock(p_setup);
begin
  perform resource.identify(p_setup);
  perform taskqueue.enter(p_setup);
  v_lease := taskqueue.lease_of(p_setup, p_job_id, p_attempt);
  update taskqueue.lease l
     set state = 'running', reported_at = v_now,
         expires_at = v_now + (select s.lease_time from taskqueue.setting s where s.setup = p_setup)
   where l.setup = p_setup and l.job_id = p_job_id;
  if v_lease.state = 'matched' then
    perform taskqueue.note_event(v_lease, 'running');
  end if;
  return query select case when v_lease.kill_reason is null then 'continue' else 'kill' end, v_lease.kill_reason;
end $$;

ALTER FUNCTION taskqueue.report_job(p_setup text, p_job_id bigint, p_attempt text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.report_job(p_setup text, p_job_id bigint, p_attempt text) IS 'An agent says that it works on the job; answers continue, or kill with the reason. Errors: PB002 (setup not granted), PB003 (stale attempt).';

CREATE FUNCTION taskqueue.require_read_committed() RETURNS void
    LANGUAGE plpgsql STABLE
    AS $$
begin
  if current_setting('transaction_isolation') not in ('read committed', 'read uncommitted') then
    raise exception 'the transaction is %', current_setting('transaction_isolation')
      using errcode = 'PB001', hint = 'Call it in READ COMMITTED, PostgreSQL''s default.';
  end if;
end $$;

ALTER FUNCTION taskqueue.require_read_committed() OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.require_read_committed() IS 'Refuses a transaction that keeps one snapshot. Errors: PB001.';

CREATE FUNCTION taskqueue.require_setup(p_setup text) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
  if exists (select from taskqueue.setting s where s.setup = p_setup) then
    return;
  end if;
  perform resource.require_setup(p_setup);
  insert into taskqueue.cpu_bucket (setup, cpu_time)
  select p_setup, b from unnest(array[500, 5000, 50000, 300000]) b
  on conflict do nothing;
  insert into taskqueue.setting (setup) values (p_setup) on conflict do nothing;
end $$;

ALTER FUNCTION taskqueue.require_setup(p_setup text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.require_setup(p_setup text) IS 'Makes the settings of a setup where there are none: the defaults, and the CPU buckets 500, 5000, 50000, 300000 s (seed 004). Errors: PB001.';

CREATE FUNCTION taskqueue.requirements_of_queue(p_queue taskqueue.task_queue) RETURNS jsonb
    LANGUAGE sql STABLE
    AS $$
  select jsonb_strip_nulls(jsonb_build_object(
    'OwnerDN', p_queue.owner_dn, 'OwnerGroup', p_queue.owner_group, 'CPUTime', p_queue.cpu_time, 'MinRAM', p_queue.min_ram, 'MaxRAM', p_queue.max_ram,
    'SubmitPools', (select jsonb_agg(v.value order by v.value) from taskqueue.task_queue_submit_pool v where v.setup = p_queue.setup and v.task_queue_id = p_queue.task_queue_id),
    'GridMiddlewares', (select jsonb_agg(v.value order by v.value) from taskqueue.task_queue_grid_middleware v where v.setup = p_queue.setup and v.task_queue_id = p_queue.task_queue_id),
    'PilotTypes', (select jsonb_agg(v.value order by v.value) from taskqueue.task_queue_pilot_type v where v.setup = p_queue.setup and v.task_queue_id = p_queue.task_queue_id),
    'Sites', (select jsonb_agg(v.value order by v.value) from taskqueue.task_queue_site v where v.setup = p_queue.setup and v.task_queue_id = p_queue.task_queue_id),
    'BannedSites', (select jsonb_agg(v.value order by v.value) from taskqueue.task_queue_banned_site v where v.setup = p_queue.setup and v.task_queue_id = p_queue.task_queue_id),
    'GridCEs', (select jsonb_agg(v.value order by v.value) from taskqueue.task_queue_grid_ce v where v.setup = p_queue.setup and v.task_queue_id = p_queue.task_queue_id),
    'Platforms', (select jsonb_agg(v.value order by v.value) from taskqueue.task_queue_platform v where v.setup = p_queue.setup and v.task_queue_id = p_queue.task_queue_id),
    'JobTypes', (select jsonb_agg(v.value order by v.value) from taskqueue.task_queue_job_type v where v.setup = p_queue.setup and v.task_queue_id = p_queue.task_queue_id),
    'Tags', (select jsonb_agg(v.value order by v.value) from taskqueue.task_queue_tag v where v.setup = p_queue.setup and v.task_queue_id = p_queue.task_queue_id)))
$$;

ALTER FUNCTION taskqueue.requirements_of_queue(p_queue taskqueue.task_queue) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.requirements_of_queue(p_queue taskqueue.task_queue) IS 'Canonical requirements of a TaskQueue, from its columns and requirement tables.';

CREATE FUNCTION taskqueue.return_job(p_lease taskqueue.lease) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
declare
  v_queue_id bigint;
  v_made bigint[];
begin
  delete from taskqueue.lease l where l.setup = p_lease.setup and l.job_id = p_lease.job_id;
  select p.task_queue_id, p.made into v_queue_id, v_made
    from taskqueue.definition d
   cross join lateral taskqueue.place_jobs(p_lease.setup, d.requirements, array[p_lease.job_id], array[p_lease.user_priority::int]) p
   where d.setup = p_lease.setup and d.definition_id = p_lease.definition_id;
  perform taskqueue.open_queues(p_lease.setup, v_made);
  update taskqueue.job j set attempts = p_lease.attempt where j.setup = p_lease.setup and j.job_id = p_lease.job_id;
  perform taskqueue.free_slots(p_lease.setup, p_lease.job_id);
  perform taskqueue.note_end(p_lease, 'released');
  return v_queue_id;
end $$;

ALTER FUNCTION taskqueue.return_job(p_lease taskqueue.lease) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.return_job(p_lease taskqueue.lease) IS 'Puts a leased job back into a queue of its requirements, with its attempts; returns the queue.';

CREATE FUNCTION taskqueue.roll_up_resources(p_setup text) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
declare
  v_count bigint;
begin
  with gone as (
    delete from taskqueue.resource_seen s
     where s.ctid = any (array(select i.ctid from taskqueue.resource_seen i
                                where i.setup = p_setup and i.seen_at < resource.clock(p_setup) - interval '10 seconds' for update skip locked))
    returning s.class, s.seen_at, s.matched, s.resource
  ), kept as (
    insert into taskqueue.resource_class as c (setup, class, resource, first_seen, last_seen, samples, matched)
    select p_setup, g.class, (array_agg(g.resource))[1], min(g.seen_at), max(g.seen_at), count(*), count(*) filter (where g.matched)
      from gone g group by g.class order by g.class
    on conflict (setup, class) do update
       set last_seen = greatest(c.last_seen, excluded.last_seen), samples = c.samples + excluded.samples, matched = c.matched + excluded.matched
  )
  select count(*) into v_count from gone;
  delete from taskqueue.resource_class c
   where c.setup = p_setup
     and c.class in (select o.class from taskqueue.resource_class o where o.setup = p_setup order by o.last_seen desc, o.class offset 10000);
  return v_count;
end $$;

ALTER FUNCTION taskqueue.roll_up_resources(p_setup text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.roll_up_resources(p_setup text) IS 'Moves the resources seen over ten seconds ago into their classes, and keeps the 10,000 classes seen last; returns how many rows moved.';

CREATE FUNCTION taskqueue.round_cpu_time() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
  new.cpu_time := taskqueue.cpu_bucket_of(new.setup, new.cpu_time);
  return new;
end $$;

ALTER FUNCTION taskqueue.round_cpu_time() OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.round_cpu_time() IS 'Trigger: rounds the CPU time of a TaskQueue up to its bucket, by taskqueue.cpu_bucket_of.';

CREATE FUNCTION taskqueue.says_any(p_texts text[]) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE
    AS $_$
begin
  return array_to_string(p_texts, ' ') ilike '%any%'
         and exists (select from unnest(p_texts) t where t ~* '^[[:punct:][:space:]]*any[[:punct:][:space:]]*$');
end $_$;

ALTER FUNCTION taskqueue.says_any(p_texts text[]) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.says_any(p_texts text[]) IS 'Whether one of the texts is "any".';

CREATE FUNCTION taskqueue.see_resource(p_setup text, p_resource jsonb, p_known taskqueue.known_offer, p_matched boolean) RETURNS void
    LANGUAGE plpgsql
    AS $_$
declare
  v_offer taskqueue.offer;
  v_resource jsonb;
  v_class uuid;
  v_now timestamptz := resource.clock(p_setup);
  v_bucket bigint := p_known.cpu_buckets[width_bucket((p_known.offer).cpu_time, p_known.cpu_buckets)];
begin
  if coalesce(v_bucket, 0) = any (p_known.seen) and p_known.seen_at > v_now - interval '10 seconds' then
    return;
  end if;
  v_offer := p_known.offer;
  v_resource := p_resource - '{JobID,Setup,OwnerDN,OwnerGroup}'::text[];
  if v_resource ? 'CPUTime' then
    v_resource := v_resource || jsonb_build_object('CPUTime', coalesce(v_bucket, 0));
  end if;
  if v_offer.owner_dn is not null then
    v_resource := v_resource || jsonb_build_object('OwnerDN', v_offer.owner_dn);
  end if;
  if v_offer.owner_groups is not null then
    v_resource := v_resource || jsonb_build_object('OwnerGroup', v_offer.owner_groups);
  end if;
  if v_resource @? 'strict $.* ? (@.type() == "array")' then  -- lists are sets; one value is the value, none is no key
    select jsonb_object_agg(e.key, case when v.texts is null then e.value when cardinality(v.texts) = 1 then to_jsonb(v.texts[1]) else to_jsonb(v.texts) end)
      into v_resource
      from jsonb_each(v_resource) e
     cross join lateral (select case when jsonb_typeof(e.value) = 'array' then taskqueue.texts(e.key, e.value) end as texts) v
     where v.texts is distinct from '{}';
  end if;
  v_class := md5(v_resource::text)::uuid;
  if not exists (select from taskqueue.resource_seen s
                  where s.setup = p_setup and s.class = v_class and s.seen_at > v_now - interval '10 seconds')
     and pg_try_advisory_xact_lock(hashtextextended(p_setup || v_class, 2)) then
    insert into taskqueue.resource_seen (setup, class, seen_at, matched, resource) values (p_setup, v_class, v_now, p_matched, v_resource);
  end if;
  update taskqueue.known_offer k
     set seen_at = v_now, seen = case when coalesce(v_bucket, 0) = any (k.seen) then k.seen else k.seen || coalesce(v_bucket, 0) end
   where k.ctid = any (array(select i.ctid from taskqueue.known_offer i
                              where i.setup = p_setup and i.digest = p_known.digest and i.resource = p_known.resource for update skip locked));
end $_$;

ALTER FUNCTION taskqueue.see_resource(p_setup text, p_resource jsonb, p_known taskqueue.known_offer, p_matched boolean) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.see_resource(p_setup text, p_resource jsonb, p_known taskqueue.known_offer, p_matched boolean) IS 'Notes the class of a resource description: CPUTime as the highest bucket it covers (s), lists as sets, the owner as the identity has it, JobID left out.';

CREATE FUNCTION taskqueue.set_cpu_buckets(p_setup text, p_buckets bigint[]) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'taskqueue', 'pg_temp'
    AS $$
declare
  v_changed bigint;
  v_queue record;
begin
  perform resource.identify(p_setup);
  if coalesce(cardinality(p_buckets), 0) = 0 or array_position(p_buckets, null) is not null or exists (select from unnest(p_buckets) b where b <= 0) then
    raise exception 'buckets are %, which are not positive seconds', coalesce(p_buckets::text, 'null') using errcode = 'PB001', hint = 'Give at least one bucket, seconds.';
  end if;
  perform taskqueue.reconfigure(p_setup);
  perform taskqueue.require_setup(p_setup);
  delete from taskqueue.cpu_bucket b where b.setup = p_setup and b.cpu_time <> all (p_buckets);
  insert into taskqueue.cpu_bucket (setup, cpu_time) select distinct p_setup, b from unnest(p_buckets) b on conflict do nothing;
  update taskqueue.task_queue q set cpu_time = q.cpu_time
   where q.setup = p_setup and q.cpu_time <> taskqueue.cpu_bucket_of(p_setup, q.cpu_time);
  get diagnostics v_changed = row_count;
  for v_queue in
    select d.definition_id, d.requirements || jsonb_build_object('CPUTime', taskqueue.cpu_bucket_of(p_setup, d.cpu_time)) as requirements
      from taskqueue.definition d
     where d.setup = p_setup and d.cpu_time <> taskqueue.cpu_bucket_of(p_setup, d.cpu_time)
     order by d.definition_id
  loop
    perform taskqueue.replace_definition(p_setup, v_queue.definition_id, taskqueue.definition_of(p_setup, v_queue.requirements));
  end loop;
  perform taskqueue.rebuild_matching(p_setup);
  perform taskqueue.recompute_shares(p_setup);
  return v_changed;
end $$;

ALTER FUNCTION taskqueue.set_cpu_buckets(p_setup text, p_buckets bigint[]) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.set_cpu_buckets(p_setup text, p_buckets bigint[]) IS 'Sets the CPU buckets of a setup (seconds) and re-buckets its queues, merging those that become equal; returns how many queues changed their bucket. Errors: PB001, PB002 (setup not granted), PB006 (busy).';

CREATE FUNCTION taskqueue.set_group(p_setup text, p_group text, p_share double precision DEFAULT 1000, p_job_sharing boolean DEFAULT false, p_allow_background boolean DEFAULT false) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'taskqueue', 'pg_temp'
    AS $$
begin
  perform resource.identify(p_setup);
  if p_group is null or p_group = '' then
    raise exception 'group is %', coalesce(quote_literal(p_group), 'null') using errcode = 'PB001', hint = 'Name the owner group.';
  elsif p_share is null or not (p_share > 0 and p_share < 'infinity') or p_job_sharing is null or p_allow_background is null then
    raise exception 'group % cannot have share %, job_sharing %, allow_background %', p_group, coalesce(p_share::text, 'null'),
          coalesce(p_job_sharing::text, 'null'), coalesce(p_allow_background::text, 'null')
      using errcode = 'PB001', hint = 'The share is a positive number, the properties are true or false.';
  end if;
  perform taskqueue.reconfigure(p_setup);
  perform taskqueue.require_setup(p_setup);
  perform taskqueue.forget_offers(p_setup);
  insert into taskqueue.owner_group (setup, owner_group, share, job_sharing, allow_background)
  values (p_setup, p_group, p_share, p_job_sharing, p_allow_background)
  on conflict (setup, owner_group) do update
     set share = excluded.share, job_sharing = excluded.job_sharing, allow_background = excluded.allow_background;
  perform taskqueue.recompute_shares(p_setup, p_group);
end $$;

ALTER FUNCTION taskqueue.set_group(p_setup text, p_group text, p_share double precision, p_job_sharing boolean, p_allow_background boolean) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.set_group(p_setup text, p_group text, p_share double precision, p_job_sharing boolean, p_allow_background boolean) IS 'Sets the share and the properties of an owner group, and recomputes its priorities. Errors: PB001, PB002 (setup not granted), PB006 (busy).';

CREATE FUNCTION taskqueue.set_held(p_setup text, p_kind text, p_name text, p_held boolean) RETURNS bigint
    LANGUAGE plpgsql
    AS $_$
begin
  perform resource.identify(p_setup);
  perform taskqueue.require_setup(p_setup);
  if p_kind is null or p_kind not in ('job', 'owner', 'queue') then
    raise exception 'kind is %, which is not job, owner or queue', coalesce(quote_literal(p_kind), 'null')
      using errcode = 'PB001', hint = 'Hold a job by its id, an owner by OwnerDN, a queue by its id.';
  elsif p_name is null or p_name = '' or p_kind <> 'owner' and (p_name !~ '^[0-9]{1,19}$' or p_name::numeric > 9223372036854775807) then
    raise exception 'name of the % is %', p_kind, coalesce(quote_literal(p_name), 'null')
      using errcode = 'PB001', hint = 'A job or queue is named by its id, an owner by OwnerDN.';
  end if;
  if p_kind = 'owner' then
    return taskqueue.set_owner_held(p_setup, p_name, p_held);
  end if;
  perform taskqueue.enter(p_setup);
  if p_kind = 'job' then
    return taskqueue.set_job_held(p_setup, p_name::bigint, p_held);
  end if;
  perform taskqueue.lock_queue(p_setup, p_name::bigint);
  update taskqueue.task_queue q set held = p_held where q.setup = p_setup and q.task_queue_id = p_name::bigint and q.held <> p_held;
  if not found then
    return 0;
  end if;
  perform taskqueue.post_queues(p_setup, array[p_name::bigint]);
  return 1;
end $_$;

ALTER FUNCTION taskqueue.set_held(p_setup text, p_kind text, p_name text, p_held boolean) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.set_held(p_setup text, p_kind text, p_name text, p_held boolean) IS 'Holds or lets go a job, an owner or a queue; returns how many jobs or queues changed. Each is held on its own: letting a queue go does not let its owner go. Errors: PB001, PB002, PB004, PB005.';

CREATE FUNCTION taskqueue.set_job_held(p_setup text, p_job_id bigint, p_held boolean) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
declare
  v_job taskqueue.job;
begin
  update taskqueue.job j set held = p_held where j.setup = p_setup and j.job_id = p_job_id and j.held <> p_held returning j.* into v_job;
  if found then
    insert into taskqueue.job_count_change (setup, task_queue_id, user_priority, change, first_id)
    values (p_setup, v_job.task_queue_id, v_job.user_priority, case when p_held then -1 else 1 end, case when not p_held then p_job_id end);
    return 1;
  end if;
  if exists (select from taskqueue.job j where j.setup = p_setup and j.job_id = p_job_id) then
    return 0;
  elsif exists (select from taskqueue.lease l where l.setup = p_setup and l.job_id = p_job_id) then
    raise exception 'job % is leased', p_job_id using errcode = 'PB005', hint = 'Only a waiting job can be held; cancel_job asks its agent to kill it.';
  end if;
  raise exception 'job % does not wait in setup %', p_job_id, p_setup using errcode = 'PB004', hint = 'It has ended, or was never inserted.';
end $$;

ALTER FUNCTION taskqueue.set_job_held(p_setup text, p_job_id bigint, p_held boolean) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.set_job_held(p_setup text, p_job_id bigint, p_held boolean) IS 'Holds or lets go a waiting job; 1 = changed. Errors: PB004 (does not wait), PB005 (leased).';

CREATE FUNCTION taskqueue.set_limit(p_setup text, p_kind text, p_site text, p_ce text, p_attribute text, p_value text, p_limit numeric, p_burst integer DEFAULT 1) RETURNS bigint
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'taskqueue', 'pg_temp'
    AS $$
declare
  v_key text := taskqueue.attribute_key(p_attribute);
  v_id bigint;
begin
  perform resource.identify(p_setup);
  if p_kind is null or p_kind not in ('running', 'delay') then
    raise exception 'kind is %, which is not running or delay', coalesce(quote_literal(p_kind), 'null') using errcode = 'PB001', hint = 'Give running or delay.';
  elsif p_site is null or p_site = '' or p_ce = '' or p_value is null or p_value = '' then
    raise exception 'site is %, CE is %, value is %', coalesce(quote_literal(p_site), 'null'), coalesce(quote_literal(p_ce), 'null'), coalesce(quote_literal(p_value), 'null')
      using errcode = 'PB001', hint = 'Name a site and a value; CE null = the whole site.';
  elsif p_limit is null or p_limit not between 0 and 100000 or p_kind = 'running' and p_limit <> trunc(p_limit) then
    raise exception 'limit is %, which is not % within 0..100000', coalesce(p_limit::text, 'null'),
          case p_kind when 'running' then 'an integer' else 'a number of seconds' end
      using errcode = 'PB001', hint = 'A running limit is jobs at a time, a delay is seconds between two matches.';
  elsif p_burst is null or p_burst not between 1 and 100000 then
    raise exception 'burst is %, which is not within 1..100000', coalesce(p_burst::text, 'null') using errcode = 'PB001', hint = 'Matches that may come at once after a pause.';
  end if;
  perform taskqueue.reconfigure(p_setup);
  perform taskqueue.require_setup(p_setup);
  perform taskqueue.forget_offers(p_setup);
  insert into taskqueue.site_limit as l (setup, kind, site, grid_ce, attribute, value, ceiling, delay, burst)
  values (p_setup, p_kind, p_site, p_ce, v_key, p_value, case p_kind when 'running' then p_limit::int end,
          case p_kind when 'delay' then make_interval(secs => p_limit::float8) end, case p_kind when 'delay' then p_burst end)
  on conflict on constraint site_limit_once do update
     set ceiling = excluded.ceiling, delay = excluded.delay, burst = excluded.burst,
         -- the last match was one delay before the clock; it counts with the new delay. No match yet: no clock
         next_at = case when l.next_at is not null
                        then least(l.next_at - l.delay + excluded.delay, resource.clock(p_setup) + excluded.burst * excluded.delay) end
  returning l.limit_id into v_id;
  if p_kind = 'running' then
    perform taskqueue.set_slots(p_setup, v_id);
  end if;
  return v_id;
end $$;

ALTER FUNCTION taskqueue.set_limit(p_setup text, p_kind text, p_site text, p_ce text, p_attribute text, p_value text, p_limit numeric, p_burst integer) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.set_limit(p_setup text, p_kind text, p_site text, p_ce text, p_attribute text, p_value text, p_limit numeric, p_burst integer) IS 'Limits the jobs with a value of an attribute at a site or CE: how many may be matched or running there (kind running; 0 blocks), or seconds between two matches (kind delay, p_burst at once after a pause). Existing leases count; lowering evicts nobody. Returns the limit. Errors: PB001, PB002 (setup not granted), PB006 (busy).';

CREATE FUNCTION taskqueue.set_owner_held(p_setup text, p_owner_dn text, p_held boolean) RETURNS bigint
    LANGUAGE plpgsql
    AS $$
declare
  v_ids bigint[] := '{}'::bigint[];
begin
  perform taskqueue.reconfigure(p_setup);
  if p_held then
    insert into taskqueue.held_owner (setup, owner_dn, held_at) values (p_setup, p_owner_dn, resource.clock(p_setup)) on conflict do nothing;
  else
    delete from taskqueue.held_owner h where h.setup = p_setup and h.owner_dn = p_owner_dn;
  end if;
  if found then
    v_ids := array(select q.task_queue_id from taskqueue.task_queue q where q.setup = p_setup and q.owner_dn = p_owner_dn);
    perform taskqueue.post_queues(p_setup, v_ids);
  end if;
  return cardinality(v_ids);
end $$;

ALTER FUNCTION taskqueue.set_owner_held(p_setup text, p_owner_dn text, p_held boolean) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.set_owner_held(p_setup text, p_owner_dn text, p_held boolean) IS 'Holds or lets go the queues of an owner, those to come included; returns how many queues there are now, 0 when nothing changed. Errors: PB006 (busy).';

CREATE FUNCTION taskqueue.set_platform_compatibility(p_setup text, p_offered text, p_accepted text[]) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'taskqueue', 'pg_temp'
    AS $$
begin
  perform resource.identify(p_setup);
  if p_offered is null or p_offered = '' or p_accepted is null or '' = any (p_accepted) or array_position(p_accepted, null) is not null then
    raise exception 'platform % cannot be compatible with %', coalesce(quote_literal(p_offered), 'null'), coalesce(p_accepted::text, 'null')
      using errcode = 'PB001', hint = 'Name platforms by non-empty texts; an empty list clears.';
  end if;
  perform taskqueue.reconfigure(p_setup);
  perform taskqueue.require_setup(p_setup);
  perform taskqueue.forget_offers(p_setup);
  delete from taskqueue.platform_compatibility c where c.setup = p_setup and c.offered = p_offered and c.accepted <> all (p_accepted);
  insert into taskqueue.platform_compatibility (setup, offered, accepted) select p_setup, p_offered, unnest(p_accepted) on conflict do nothing;
end $$;

ALTER FUNCTION taskqueue.set_platform_compatibility(p_setup text, p_offered text, p_accepted text[]) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.set_platform_compatibility(p_setup text, p_offered text, p_accepted text[]) IS 'Says which platforms a resource offers besides the one it names; replaces what was said, an empty list clears. Errors: PB001, PB002 (setup not granted), PB006 (busy).';

CREATE FUNCTION taskqueue.set_queue_enabled(p_setup text, p_task_queue_id bigint, p_enabled boolean) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'taskqueue', 'pg_temp'
    AS $$
begin
  perform resource.identify(p_setup);
  perform taskqueue.enter(p_setup);
  if p_enabled is null then
    raise exception 'enabled is null' using errcode = 'PB001', hint = 'Give true or false.';
  end if;
  perform taskqueue.lock_queue(p_setup, p_task_queue_id);
  update taskqueue.task_queue q set enabled = p_enabled where q.setup = p_setup and q.task_queue_id = p_task_queue_id;
  perform taskqueue.post_queues(p_setup, array[p_task_queue_id]);
end $$;

ALTER FUNCTION taskqueue.set_queue_enabled(p_setup text, p_task_queue_id bigint, p_enabled boolean) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.set_queue_enabled(p_setup text, p_task_queue_id bigint, p_enabled boolean) IS 'Takes a TaskQueue out of matching, or back in. Errors: PB001, PB002 (setup not granted), PB004 (no such queue).';

CREATE FUNCTION taskqueue.set_settings(p_setup text, p_settings jsonb) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'taskqueue', 'pg_temp'
    AS $$
declare
  v_key text;
  v_value jsonb;
  v_new taskqueue.setting;
begin
  perform resource.identify(p_setup);
  perform taskqueue.reconfigure(p_setup);
  perform taskqueue.require_setup(p_setup);
  perform taskqueue.forget_offers(p_setup);
  if jsonb_typeof(p_settings) is distinct from 'object' then
    raise exception 'settings are %, not a JSON object', coalesce(p_settings::text, 'null') using errcode = 'PB001', hint = 'Give an object, for example {"ten_first": true}.';
  end if;
  select s.* into v_new from taskqueue.setting s where s.setup = p_setup;
  for v_key, v_value in select e.key, e.value from jsonb_each(p_settings) e loop
    begin
      case v_key
        when 'ten_first' then v_new.ten_first := v_value::boolean;
        when 'share_correction' then v_new.share_correction := v_value::boolean;
        when 'strict_keys' then v_new.strict_keys := taskqueue.texts(v_key, v_value);
        when 'required_keys' then v_new.required_keys := taskqueue.texts(v_key, v_value);
        when 'queue_size' then v_new.queue_size := v_value::int;
        when 'policy' then v_new.policy := taskqueue.one_text(v_key, v_value);
        when 'lease_time' then v_new.lease_time := make_interval(secs => v_value::float8);
        when 'share_delay' then v_new.share_delay := make_interval(secs => v_value::float8);
        when 'correction_window' then v_new.correction_window := make_interval(secs => v_value::float8);
        when 'history_kept' then v_new.history_kept := make_interval(secs => v_value::float8);
        else
          raise exception 'setting % (value %) is not known', v_key, v_value
            using errcode = 'PB001', hint = 'Known: ten_first, strict_keys, required_keys, queue_size, policy, lease_time, share_delay, share_correction, correction_window, history_kept (times in seconds).';
      end case;
      update taskqueue.setting s
         set ten_first = v_new.ten_first, share_correction = v_new.share_correction, strict_keys = v_new.strict_keys,
             required_keys = v_new.required_keys, queue_size = v_new.queue_size, policy = v_new.policy, lease_time = v_new.lease_time,
             share_delay = v_new.share_delay, correction_window = v_new.correction_window, history_kept = v_new.history_kept
       where s.setup = p_setup;
    exception when invalid_parameter_value or check_violation or not_null_violation or cannot_coerce or invalid_text_representation
                or numeric_value_out_of_range or datetime_field_overflow then
      raise exception 'setting % is %, which it cannot be', v_key, v_value using errcode = 'PB001', hint = 'See the comments of taskqueue.setting.';
    end;
  end loop;
  if not v_new.strict_keys <@ '{Site,GridCE,Platform,JobType}' or not v_new.required_keys <@
     '{OwnerDN,OwnerGroup,CPUTime,PilotType,Site,GridCE,Platform,JobType,Tag,RequiredTag,BannedSite,BannedGridCE,BannedPlatform,BannedJobType,BannedTag,MaxRAM,NumberOfProcessors,WholeNode,JobID,Setup}' then
    raise exception 'strict_keys is %, required_keys is %: not keys for that', v_new.strict_keys, v_new.required_keys
      using errcode = 'PB001', hint = 'strict_keys: Site, GridCE, Platform, JobType. required_keys: keys of a resource description.';
  end if;
  perform taskqueue.recompute_shares(p_setup);
end $$;

ALTER FUNCTION taskqueue.set_settings(p_setup text, p_settings jsonb) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.set_settings(p_setup text, p_settings jsonb) IS 'Changes settings of matching (columns of taskqueue.setting; times in seconds), all or none, and recomputes the shares. Errors: PB001 (key or value), PB002, PB006 (busy).';

CREATE FUNCTION taskqueue.set_slots(p_setup text, p_limit_id bigint) RETURNS void
    LANGUAGE sql
    AS $$
  delete from taskqueue.limit_slot s where s.setup = p_setup and s.limit_id = p_limit_id;
  delete from taskqueue.limit_use u where u.setup = p_setup and u.limit_id = p_limit_id;
  insert into taskqueue.limit_use (setup, job_id, limit_id, slot)
  select p_setup, e.job_id, p_limit_id, row_number() over (order by e.job_id)
    from taskqueue.lease e
    join taskqueue.site_limit l on l.setup = p_setup and l.limit_id = p_limit_id
    join taskqueue.definition d on d.setup = e.setup and d.definition_id = e.definition_id
   where e.setup = p_setup and e.site = l.site and (l.grid_ce is null or l.grid_ce = e.grid_ce)
     and taskqueue.lists(d.requirements, l.attribute, l.value);
  insert into taskqueue.limit_slot (setup, limit_id, slot)
  select p_setup, p_limit_id, n.slot
    from taskqueue.site_limit l
   cross join lateral (select count(*)::int as used from taskqueue.limit_use u where u.setup = p_setup and u.limit_id = p_limit_id) c
   cross join lateral (select generate_series(c.used + 1, l.ceiling) union all select generate_series(l.ceiling - c.used, -1)) n (slot)
   where l.setup = p_setup and l.limit_id = p_limit_id;
$$;

ALTER FUNCTION taskqueue.set_slots(p_setup text, p_limit_id bigint) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.set_slots(p_setup text, p_limit_id bigint) IS 'Makes the slots of a running limit anew from the leases there are.';

CREATE FUNCTION taskqueue.settle_ids(p_setup text, p_job_ids bigint[]) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
  v_leased bigint;
  v_ended record;
begin
  select min(l.job_id) into v_leased from taskqueue.lease l where l.setup = p_setup and l.job_id = any (p_job_ids);
  if v_leased is not null then
    raise exception 'job % is leased', v_leased using errcode = 'PB005', hint = 'A leased job cannot be inserted; cancel it, or wait until it has ended.';
  end if;
  for v_ended in delete from taskqueue.ended e where e.setup = p_setup and e.job_id = any (p_job_ids) returning e.job_id, e.attempts loop
    update taskqueue.job j set attempts = v_ended.attempts where j.setup = p_setup and j.job_id = v_ended.job_id;
  end loop;
end $$;

ALTER FUNCTION taskqueue.settle_ids(p_setup text, p_job_ids bigint[]) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.settle_ids(p_setup text, p_job_ids bigint[]) IS 'Refuses ids just inserted that are leased, and lets those that had ended go on counting their attempts. Errors: PB005 (leased).';

CREATE FUNCTION taskqueue.share_of_queue(p_setup text, p_group text DEFAULT NULL::text) RETURNS TABLE(task_queue_id bigint, mean_weight double precision, priority double precision)
    LANGUAGE sql STABLE
    AS $$
  with queue as (
    select q.task_queue_id, q.owner_group, case when coalesce(g.job_sharing, false) then '' else q.owner_dn end as entity, d.family, w.weight as mean_weight,
           coalesce(g.share, 1000) as share, coalesce(g.job_sharing, false) as job_sharing, coalesce(g.allow_background, false) as allow_background
      from taskqueue.task_queue q
      join taskqueue.setting s on s.setup = q.setup
     cross join lateral taskqueue.weight_of_queue(q, s.ten_first) w
      join taskqueue.definition d on d.setup = q.setup and d.definition_id = q.definition_id
      left join taskqueue.owner_group g on g.setup = q.setup and g.owner_group = q.owner_group
     where q.setup = p_setup and (p_group is null or q.owner_group = p_group)
  ), owner as (
    select o.owner_group, count(distinct o.owner_dn) as owners
      from taskqueue.task_queue o where o.setup = p_setup and (p_group is null or o.owner_group = p_group)
     group by o.owner_group
  ), own as (
    select q.task_queue_id, q.family, q.mean_weight,
           taskqueue.own_priority(q.share * coalesce(c.factor, 1) / case when q.job_sharing then 1 else o.owners end,
                                  q.mean_weight,
                                  sum(q.mean_weight) filter (where not taskqueue.is_background(q.mean_weight, q.allow_background))
                                    over (partition by q.owner_group, q.entity),
                                  q.allow_background) as priority
      from queue q join owner o using (owner_group)
      left join taskqueue.share_correction c on c.setup = p_setup and c.owner_group = q.owner_group and c.owner_dn = q.entity
  )
  select w.task_queue_id, w.mean_weight, sum(w.priority) over (partition by w.family) from own w
$$;

ALTER FUNCTION taskqueue.share_of_queue(p_setup text, p_group text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.share_of_queue(p_setup text, p_group text) IS 'Mean draw weight and priority of each TaskQueue of a setup or of one owner group, from the shares, the jobs as they are and the corrections (section 9).';

CREATE FUNCTION taskqueue.state_of_job(p_setup text, p_job_id bigint) RETURNS text
    LANGUAGE plpgsql STABLE
    AS $$
declare
  v_state text;
begin
  select case when j.held then 'held' else 'waiting' end into v_state from taskqueue.job j where j.setup = p_setup and j.job_id = p_job_id;
  if v_state is null then
    select 'leased (' || l.state || ')' into v_state from taskqueue.lease l where l.setup = p_setup and l.job_id = p_job_id;
  end if;
  if v_state is null then
    select 'ended (' || e.outcome || ')' into v_state from taskqueue.ended e where e.setup = p_setup and e.job_id = p_job_id;
  end if;
  if v_state is null then
    raise exception 'there is no job % in setup %', coalesce(p_job_id::text, 'null'), p_setup using errcode = 'PB004', hint = 'It was never inserted, or ended and forgotten.';
  end if;
  return v_state;
end $$;

ALTER FUNCTION taskqueue.state_of_job(p_setup text, p_job_id bigint) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.state_of_job(p_setup text, p_job_id bigint) IS 'State of a job, in words. Errors: PB004 (no such job).';

CREATE FUNCTION taskqueue.surplus_slots(p_setup text, p_limit_id bigint) RETURNS bigint
    LANGUAGE sql STABLE
    AS $$
  select count(*) from taskqueue.limit_slot s where s.setup = p_setup and s.limit_id = p_limit_id and s.slot < 0
$$;

ALTER FUNCTION taskqueue.surplus_slots(p_setup text, p_limit_id bigint) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.surplus_slots(p_setup text, p_limit_id bigint) IS 'How many slots a running limit has above its ceiling, since it was lowered.';

CREATE FUNCTION taskqueue.tags_offered(p_resource jsonb) RETURNS text[]
    LANGUAGE plpgsql IMMUTABLE
    AS $$
declare
  v_tags text[] := taskqueue.texts('Tag', p_resource -> 'Tag');
  v_any boolean := taskqueue.says_any(v_tags);
  v_number numeric;
begin
  if p_resource ? 'NumberOfProcessors' then
    v_number := taskqueue.one_number('NumberOfProcessors', p_resource -> 'NumberOfProcessors');
    if v_number < 1 or v_number > 1024 or v_number <> trunc(v_number) then
      raise exception 'NumberOfProcessors is %, which is not an integer within 1..1024', p_resource -> 'NumberOfProcessors'
        using errcode = 'PB001', hint = 'Give the number of processors of the slot.';
    end if;
    v_tags := v_tags || array(select i || 'Processors' from generate_series(1, v_number::int) i);
    if v_number > 1 then
      v_tags := v_tags || 'MultiProcessor'::text;
    end if;
  end if;
  if p_resource ? 'WholeNode' then
    if jsonb_typeof(p_resource -> 'WholeNode') <> 'boolean' then
      raise exception 'WholeNode is %, which is not true or false', p_resource -> 'WholeNode' using errcode = 'PB001', hint = 'Give true or false.';
    end if;
    if (p_resource -> 'WholeNode')::boolean then
      v_tags := v_tags || 'WholeNode'::text;
    end if;
  end if;
  return case when not v_any then v_tags end;
end $$;

ALTER FUNCTION taskqueue.tags_offered(p_resource jsonb) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.tags_offered(p_resource jsonb) IS 'The tags that a resource offers by Tag, NumberOfProcessors and WholeNode; null = no condition (Tag says any). Errors: PB001.';

CREATE TABLE taskqueue.job (
    setup text NOT NULL,
    job_id bigint NOT NULL,
    task_queue_id bigint NOT NULL,
    user_priority smallint NOT NULL,
    held boolean DEFAULT false NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    inserted_at timestamp with time zone NOT NULL,
    CONSTRAINT job_job_id_check CHECK ((job_id > 0)),
    CONSTRAINT job_user_priority_check CHECK (((user_priority >= 0) AND (user_priority <= 10)))
)
WITH (fillfactor='100', autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_cost_delay='0');
ALTER TABLE ONLY taskqueue.job ALTER COLUMN setup SET (n_distinct=1);

ALTER TABLE taskqueue.job OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.job IS 'Waiting jobs.';

COMMENT ON COLUMN taskqueue.job.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.job.job_id IS 'Job id, the same in every room of the setup.';

COMMENT ON COLUMN taskqueue.job.task_queue_id IS 'TaskQueue it waits in.';

COMMENT ON COLUMN taskqueue.job.user_priority IS 'User priority 0..10; 0 is background.';

COMMENT ON COLUMN taskqueue.job.held IS 'True: not matched until it is let go.';

COMMENT ON COLUMN taskqueue.job.attempts IS 'How often it was matched before.';

COMMENT ON COLUMN taskqueue.job.inserted_at IS 'Since when it waits.';

CREATE FUNCTION taskqueue.take_job(p_setup text, p_task_queue_id bigint, p_ten_first boolean, p_policy text, p_seed bigint) RETURNS taskqueue.job
    LANGUAGE plpgsql
    AS $$
declare
  v_job taskqueue.job;
  v_level record;
  v_ids bigint[];
  v_id bigint;
  v_after bigint;
begin
  for v_level in select u.user_priority, u.first_id from taskqueue.user_priority_order(p_setup, p_task_queue_id, p_seed, p_ten_first, p_policy) u loop
    v_after := coalesce(v_level.first_id, 1) - 1;
    loop
      v_ids := array(select j.job_id from taskqueue.job j
                      where j.setup = p_setup and j.task_queue_id = p_task_queue_id and j.user_priority = v_level.user_priority and not j.held
                        and j.job_id > v_after
                      order by j.job_id limit 10);
      for v_id in select i from unnest(v_ids) i order by taskqueue.draw(i, p_seed # 1) loop
        delete from taskqueue.job j
         where j.setup = p_setup and j.ctid = (
               select l.ctid from taskqueue.job l
                where l.setup = p_setup and l.job_id = v_id and l.task_queue_id = p_task_queue_id and l.user_priority = v_level.user_priority and not l.held
                  for update skip locked)
        returning j.* into v_job;
        if found then
          return v_job;
        end if;
      end loop;
      exit when cardinality(v_ids) < 10;
      v_after := v_ids[10];
    end loop;
  end loop;
  return null;
end $$;

ALTER FUNCTION taskqueue.take_job(p_setup text, p_task_queue_id bigint, p_ten_first boolean, p_policy text, p_seed bigint) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.take_job(p_setup text, p_task_queue_id bigint, p_ten_first boolean, p_policy text, p_seed bigint) IS 'Takes a job of a queue out of waiting; null when there is none that is not locked.';

CREATE FUNCTION taskqueue.tests_of(p_offer taskqueue.offer) RETURNS integer
    LANGUAGE sql IMMUTABLE
    AS $$
  select case when p_offer.required_tags is not null or p_offer.banned_sites is not null
                   or p_offer.banned_grid_ces is not null or p_offer.banned_platforms is not null or p_offer.banned_job_types is not null
                   or p_offer.banned_tags is not null or p_offer.limited or cardinality(p_offer.sites) <> 1 or cardinality(p_offer.grid_ces) <> 1 then 1 else 0 end
         | case when p_offer.max_ram is null then 0 else 2 end | 4 | case when p_offer.job_types is null then 0 else 8 end
         | case when p_offer.grid_ces is null then 0 else 16 end
$$;

ALTER FUNCTION taskqueue.tests_of(p_offer taskqueue.offer) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.tests_of(p_offer taskqueue.offer) IS 'Which demands of a definition an offer may not meet, as bits of taskqueue.definition.demands; bit 1: all conditions are to be tested.';

CREATE FUNCTION taskqueue.texts(p_key text, p_value jsonb) RETURNS text[]
    LANGUAGE plpgsql IMMUTABLE
    AS $_$
declare
  v_texts text[];
begin
  case coalesce(jsonb_typeof(p_value), 'null')
    when 'null' then
      return '{}'::text[];
    when 'string' then
      v_texts := array[p_value #>> '{}'];
    when 'array' then
      if jsonb_array_length(p_value) = 0 then
        return '{}'::text[];
      end if;
      if p_value @? 'strict $[*] ? (@.type() != "string")' then  -- lax would look into lists within the list
        raise exception '% holds %, which is not a text', p_key, jsonb_path_query_first(p_value, 'strict $[*] ? (@.type() != "string")')
          using errcode = 'PB001', hint = format('Give %s one text or a list of texts.', p_key);
      end if;
      select array_agg(distinct t order by t) into v_texts from jsonb_array_elements_text(p_value) t;
    else
      raise exception '% is %, which is not a text or a list of texts', p_key, p_value
        using errcode = 'PB001', hint = format('Give %s one text or a list of texts.', p_key);
  end case;
  if length(array_to_string(v_texts, '')) > 1000 and exists (select from unnest(v_texts) t where length(t) > 1000) then
    raise exception '% holds a text of % characters', p_key, (select max(length(t)) from unnest(v_texts) t)
      using errcode = 'PB001', hint = 'A text may have 1,000 characters.';
  end if;
  if '' = any (v_texts) then
    raise exception '% holds an empty text: %', p_key, p_value
      using errcode = 'PB001', hint = format('Leave %s out where nothing is asked.', p_key);
  end if;
  return v_texts;
end $_$;

ALTER FUNCTION taskqueue.texts(p_key text, p_value jsonb) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.texts(p_key text, p_value jsonb) IS 'The texts of a JSON value (one text or a list; null, [] and nothing at all give none), sorted and without duplicates. Errors: PB001, naming the key.';

CREATE FUNCTION taskqueue.use_slots(p_setup text, p_job_id bigint, p_slots jsonb) RETURNS void
    LANGUAGE sql
    AS $$
  with gone as (
    delete from taskqueue.limit_slot s
     using jsonb_to_recordset(p_slots) as l (limit_id bigint, slot int)
     where s.setup = p_setup and s.limit_id = l.limit_id and s.slot = l.slot
    returning s.limit_id, s.slot
  )
  insert into taskqueue.limit_use (setup, job_id, limit_id, slot) select p_setup, p_job_id, g.limit_id, g.slot from gone g;
  update taskqueue.site_limit d set next_at = greatest(d.next_at, resource.clock(p_setup)) + d.delay
    from jsonb_to_recordset(p_slots) as l (limit_id bigint, slot int)
   where d.setup = p_setup and d.limit_id = l.limit_id and l.slot is null;
$$;

ALTER FUNCTION taskqueue.use_slots(p_setup text, p_job_id bigint, p_slots jsonb) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.use_slots(p_setup text, p_job_id bigint, p_slots jsonb) IS 'Gives the slots locked by taskqueue.lock_slots to a job, and moves the clocks of its delays.';

CREATE FUNCTION taskqueue.user_priority_order(p_setup text, p_task_queue_id bigint, p_seed bigint, p_ten_first boolean, p_policy text) RETURNS TABLE(user_priority smallint, jobs bigint, changes bigint, first_id bigint)
    LANGUAGE sql STABLE ROWS 3
    AS $$
  select n.user_priority, n.jobs, n.changes, n.first_id
    from (select l.*, taskqueue.draw(l.user_priority, p_seed) as draw, greatest(l.jobs, 1)::float8 as count, greatest(l.user_priority, 1)::float8 as weight
            from taskqueue.job_level(p_setup, p_task_queue_id) l offset 0) n  -- a fence, else taskqueue.draw_key is not inlined
   order by case when n.jobs <= 0 then 3 when n.user_priority = 0 then 2 when n.user_priority = 10 and p_ten_first then 0 else 1 end,
            taskqueue.draw_key(n.draw, n.count, n.weight, p_policy)
$$;

ALTER FUNCTION taskqueue.user_priority_order(p_setup text, p_task_queue_id bigint, p_seed bigint, p_ten_first boolean, p_policy text) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.user_priority_order(p_setup text, p_task_queue_id bigint, p_seed bigint, p_ten_first boolean, p_policy text) IS 'User priorities of a queue in drawn order, with the jobs counted there and how many changes of counts are not folded; those counted empty come last.';

CREATE FUNCTION taskqueue.vacate_places(p_setup text, p_task_queue_id bigint) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
  v_list_ids bigint[];
  v_bands int[];
  v_places int[];
  v_movable bigint[];
begin
  v_list_ids := array(select l.list_id from taskqueue.posting_list l
                       where l.setup = p_setup
                         and l.list_id in (select p.list_id from taskqueue.posting p where p.setup = p_setup and p.task_queue_id = p_task_queue_id)
                       order by l.site, l.cpu_time
                         for update skip locked);
  with gone as (
    delete from taskqueue.posting p where p.setup = p_setup and p.task_queue_id = p_task_queue_id returning p.list_id, p.band, p.place
  )
  select array_agg(g.list_id), array_agg(g.band), array_agg(g.place) into v_list_ids, v_bands, v_places from gone g where g.list_id = any (v_list_ids);
  if v_list_ids is null then
    return;
  end if;
  v_movable := array(select q.task_queue_id from taskqueue.task_queue q
                      where q.setup = p_setup
                        and q.task_queue_id in (select o.task_queue_id from unnest(v_list_ids, v_bands) g (list_id, band)
                                                 cross join lateral (select p.task_queue_id from taskqueue.posting p
                                                                      where p.setup = p_setup and p.list_id = g.list_id and p.band = g.band
                                                                      order by p.place desc limit 1) o)
                        for no key update skip locked);
  update taskqueue.posting p set place = g.place
    from unnest(v_list_ids, v_bands, v_places) g (list_id, band, place)
   cross join lateral (select i.place, i.task_queue_id from taskqueue.posting i
                        where i.setup = p_setup and i.list_id = g.list_id and i.band = g.band
                        order by i.place desc limit 1) o
   where p.setup = p_setup and p.list_id = g.list_id and p.band = g.band and p.place = o.place and o.place > g.place and o.task_queue_id = any (v_movable);
  perform taskqueue.measure_lists(p_setup, v_list_ids, v_bands);
end $$;

ALTER FUNCTION taskqueue.vacate_places(p_setup text, p_task_queue_id bigint) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.vacate_places(p_setup text, p_task_queue_id bigint) IS 'Removes the postings of a queue that goes, and closes the gaps.';

CREATE FUNCTION taskqueue.wanted_queue(p_setup text, p_offer taskqueue.offer) RETURNS bigint[]
    LANGUAGE sql STABLE
    AS $$
  select array(
    select j.task_queue_id
      from taskqueue.job j
      join taskqueue.task_queue q on q.setup = j.setup and q.task_queue_id = j.task_queue_id
      join taskqueue.definition d on d.setup = q.setup and d.definition_id = q.definition_id
     where j.setup = p_setup and j.job_id = p_offer.job_id and not j.held and taskqueue.is_open(q) and taskqueue.accepts(d, p_offer))
$$;

ALTER FUNCTION taskqueue.wanted_queue(p_setup text, p_offer taskqueue.offer) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.wanted_queue(p_setup text, p_offer taskqueue.offer) IS 'The queue of the job that an offer wants; none: the job does not wait or is held, or its queue does not match.';

CREATE FUNCTION taskqueue.weight(p_user_priority integer, p_ten_first boolean) RETURNS double precision
    LANGUAGE sql IMMUTABLE
    AS $$
  select case when p_user_priority = 0 then 1e-5 when p_user_priority = 10 and p_ten_first then 1e6 else p_user_priority end::float8
$$;

ALTER FUNCTION taskqueue.weight(p_user_priority integer, p_ten_first boolean) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.weight(p_user_priority integer, p_ten_first boolean) IS 'Draw weight of a user priority for the shares (section 9).';

CREATE FUNCTION taskqueue.weight_of_queue(p_queue taskqueue.task_queue, p_ten_first boolean) RETURNS TABLE(weight double precision)
    LANGUAGE sql STABLE ROWS 1
    AS $$
  select coalesce(sum(c.jobs * taskqueue.weight(c.user_priority, p_ten_first)) / nullif(sum(c.jobs), 0), p_queue.mean_weight)
    from taskqueue.job_level(p_queue.setup, p_queue.task_queue_id) c
$$;

ALTER FUNCTION taskqueue.weight_of_queue(p_queue taskqueue.task_queue, p_ten_first boolean) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.weight_of_queue(p_queue taskqueue.task_queue, p_ten_first boolean) IS 'Mean draw weight of the jobs of a TaskQueue, as they are now.';

CREATE FUNCTION taskqueue.with_limits(p_setup text, p_resource jsonb, p_offer taskqueue.offer) RETURNS taskqueue.offer
    LANGUAGE plpgsql STABLE
    AS $$
declare
  v_named text[] := taskqueue.texts('Site', p_resource -> 'Site');
  v_key text;
begin
  p_offer.limited := exists (select from taskqueue.site_limit l where l.setup = p_setup and l.site = any (v_named));
  if not p_offer.limited then
    return p_offer;
  end if;
  v_key := case when cardinality(p_offer.sites) is distinct from 1 then 'Site'
                when cardinality(p_offer.grid_ces) is distinct from 1
                     and exists (select from taskqueue.site_limit l where l.setup = p_setup and l.site = any (v_named) and l.grid_ce is not null) then 'GridCE' end;
  if v_key is not null then
    raise exception '% is %, and limits are set at %', v_key, coalesce((p_resource -> v_key)::text, 'missing'), array_to_string(v_named, ', ')
      using errcode = 'PB001', hint = 'Name exactly one site, and one CE where limits are set for CEs.';
  end if;
  p_offer.reached := array(
    select l.limit_id
      from taskqueue.site_limit l
     where l.setup = p_setup and l.site = p_offer.sites[1]
       and (l.grid_ce is null or l.grid_ce = any (p_offer.grid_ces))
       and case l.kind
             when 'running' then not exists (select from taskqueue.limit_slot s
                                              where s.setup = l.setup and s.limit_id = l.limit_id and s.slot > 0
                                             offset taskqueue.surplus_slots(l.setup, l.limit_id))
             else l.next_at > resource.clock(p_setup) + (l.burst - 1) * l.delay
           end);
  return p_offer;
end $$;

ALTER FUNCTION taskqueue.with_limits(p_setup text, p_resource jsonb, p_offer taskqueue.offer) OWNER TO broker_owner;

COMMENT ON FUNCTION taskqueue.with_limits(p_setup text, p_resource jsonb, p_offer taskqueue.offer) IS 'The offer with the limits of its site that are reached (section 7). Errors: PB001 (not exactly one site or CE named where limits are set).';

CREATE VIEW monitor.health_session AS
 WITH here(database_id, sees_all) AS (
         SELECT d.oid,
            pg_has_role(CURRENT_USER, 'pg_read_all_stats'::name, 'usage'::text) AS pg_has_role
           FROM pg_database d
          WHERE (d.datname = current_database())
        ), session AS (
         SELECT a.pid,
            COALESCE(a.usename, 'the server'::name) AS usename,
            a.state,
            a.state_change,
            a.datid AS database_id
           FROM (pg_stat_activity a
             JOIN here h ON ((h.database_id = a.datid)))
          WHERE (a.pid <> pg_backend_pid())
        ), waiting AS (
         SELECT s.pid,
            s.usename,
            l.locktype,
            l.relation,
            (clock_timestamp() - l.waitstart) AS waits
           FROM (pg_locks l
             JOIN session s ON ((s.pid = l.pid)))
          WHERE ((NOT l.granted) AND (l.waitstart < (clock_timestamp() - '00:00:03'::interval)))
        ), left_open AS (
         SELECT s.pid,
            s.usename,
            (clock_timestamp() - s.state_change) AS idle
           FROM session s
          WHERE ((s.state ~~ 'idle in transaction%'::text) AND (s.state_change < (clock_timestamp() - '00:00:03'::interval)) AND (EXISTS ( SELECT
                   FROM pg_locks l
                  WHERE ((l.pid = s.pid) AND (l.locktype = 'advisory'::text) AND l.granted AND (l.database = s.database_id)))))
        ), connected AS (
         SELECT sum(d.numbackends) AS used,
            ( SELECT sum((
                        CASE s.name
                            WHEN 'max_connections'::text THEN 1
                            ELSE '-1'::integer
                        END * (s.setting)::integer)) AS sum
                   FROM pg_settings s
                  WHERE (s.name = ANY (ARRAY['max_connections'::text, 'superuser_reserved_connections'::text, 'reserved_connections'::text]))) AS free
           FROM pg_stat_database d
        ), traffic AS (
         SELECT d.sessions,
            d.xact_commit AS commits,
            ((d.xact_commit)::numeric / GREATEST(EXTRACT(epoch FROM (now() - COALESCE(d.stats_reset, b.stats_reset))), (1)::numeric)) AS commits_per_second
           FROM (pg_stat_database d
             CROSS JOIN pg_stat_bgwriter b)
          WHERE (d.datname = current_database())
        )
 SELECT 'lock'::text AS area,
    format('session %s of %s'::text, w.pid, w.usename) AS object,
    format('waits %s for %s'::text, date_trunc('second'::text, w.waits), COALESCE(((w.relation)::regclass)::text, w.locktype)) AS value,
    'problem'::text AS verdict,
    'no call of an agent waits that long for another; what changes limits or CPU buckets gives up with PB006'::text AS cost,
    format('look at what holds it: select * from pg_stat_activity where pid = any (pg_blocking_pids(%s))'::text, w.pid) AS remedy
   FROM waiting w
UNION ALL
 SELECT 'lock'::text AS area,
    'sessions that wait for one'::text AS object,
    '0'::text AS value,
    'ok'::text AS verdict,
    NULL::text AS cost,
    NULL::text AS remedy
  WHERE (NOT (EXISTS ( SELECT
           FROM waiting)))
UNION ALL
 SELECT 'open call'::text AS area,
    format('session %s of %s'::text, o.pid, o.usename) AS object,
    format('idle in its transaction for %s'::text, date_trunc('second'::text, o.idle)) AS value,
    'advice'::text AS verdict,
    'limits that it counts at look reached, and set_limit and set_cpu_buckets fail with PB006 until it ends'::text AS cost,
    format('commit after each call; to bound it: alter role %I set idle_in_transaction_session_timeout = ''60s'''::text, o.usename) AS remedy
   FROM left_open o
UNION ALL
 SELECT 'open call'::text AS area,
    'transactions left open'::text AS object,
    '0'::text AS value,
    'ok'::text AS verdict,
    NULL::text AS cost,
    NULL::text AS remedy
   FROM here h
  WHERE (h.sees_all AND (NOT (EXISTS ( SELECT
           FROM left_open))))
UNION ALL
 SELECT 'connection'::text AS area,
    'connections'::text AS object,
    format('%s of %s'::text, c.used, c.free) AS value,
    v.verdict,
        CASE
            WHEN (v.verdict <> 'ok'::text) THEN 'agents are refused when there is none left'::text
            ELSE NULL::text
        END AS cost,
        CASE
            WHEN (v.verdict <> 'ok'::text) THEN 'put PgBouncer in transaction mode before the server: few connections serve many agents, and better'::text
            ELSE NULL::text
        END AS remedy
   FROM (connected c
     CROSS JOIN LATERAL ( SELECT
                CASE
                    WHEN ((c.used)::numeric >= (0.95 * (c.free)::numeric)) THEN 'problem'::text
                    WHEN ((c.used)::numeric >= (0.8 * (c.free)::numeric)) THEN 'advice'::text
                    ELSE 'ok'::text
                END AS verdict) v)
UNION ALL
 SELECT 'connection'::text AS area,
    'calls a connection'::text AS object,
    format('%s transactions in %s connections'::text, t.commits, t.sessions) AS value,
    v.verdict,
        CASE
            WHEN (v.verdict <> 'ok'::text) THEN 'a connection reads the catalogue and plans anew: its first match takes 10 times as long as the following'::text
            ELSE NULL::text
        END AS cost,
        CASE
            WHEN (v.verdict <> 'ok'::text) THEN 'keep connections open between calls (JobAgent does), or put PgBouncer in transaction mode before the server'::text
            ELSE NULL::text
        END AS remedy
   FROM (traffic t
     CROSS JOIN LATERAL ( SELECT
                CASE
                    WHEN ((t.sessions >= 200) AND (t.commits < (10 * t.sessions))) THEN 'advice'::text
                    ELSE 'ok'::text
                END AS verdict) v)
UNION ALL
 SELECT 'setting'::text AS area,
    'commit_delay'::text AS object,
    format('%s us at %s transactions/s'::text, s.setting, round(t.commits_per_second)) AS value,
    v.verdict,
        CASE
            WHEN (v.verdict <> 'ok'::text) THEN 'each commit waits for the disk alone: many clients that commit at a time get up to a half more done with a delay'::text
            ELSE NULL::text
        END AS cost,
        CASE
            WHEN (v.verdict <> 'ok'::text) THEN 'alter system set commit_delay = 100, then select pg_reload_conf(); try it, and compare'::text
            ELSE NULL::text
        END AS remedy
   FROM ((traffic t
     JOIN pg_settings s ON ((s.name = 'commit_delay'::text)))
     CROSS JOIN LATERAL ( SELECT
                CASE
                    WHEN ((s.setting = '0'::text) AND (t.commits >= 1000) AND (t.commits_per_second >= (500)::numeric)) THEN 'advice'::text
                    ELSE 'ok'::text
                END AS verdict) v);

ALTER VIEW monitor.health_session OWNER TO broker_owner;

COMMENT ON VIEW monitor.health_session IS 'Waits for locks, transactions left open, connections, commits. Part of monitor.health.';

COMMENT ON COLUMN monitor.health_session.area IS 'lock, open call, connection or setting.';

COMMENT ON COLUMN monitor.health_session.object IS 'Session, or what was looked at.';

COMMENT ON COLUMN monitor.health_session.value IS 'What was found.';

COMMENT ON COLUMN monitor.health_session.verdict IS 'ok, advice or problem.';

COMMENT ON COLUMN monitor.health_session.cost IS 'What it costs; null where it is ok.';

COMMENT ON COLUMN monitor.health_session.remedy IS 'What to do; null where it is ok.';

CREATE TABLE resource.house_role (
    kind text NOT NULL,
    role_name text NOT NULL,
    CONSTRAINT house_role_kind_check CHECK ((kind = ANY (ARRAY['owner'::text, 'agent'::text, 'submitter'::text, 'operator'::text, 'viewer'::text])))
);

ALTER TABLE resource.house_role OWNER TO broker_owner;

COMMENT ON TABLE resource.house_role IS 'What the roles of the house are called here; functions look the names up.';

COMMENT ON COLUMN resource.house_role.kind IS 'owner, agent, submitter, operator or viewer.';

COMMENT ON COLUMN resource.house_role.role_name IS 'Name of the role in this cluster.';

CREATE VIEW monitor.health_setting AS
 WITH rule(name, good, at_least, at_most, wanted, verdict, cost) AS (
         VALUES ('fsync'::text,ARRAY['on'::text],NULL::double precision,NULL::double precision,'on'::text,'problem'::text,'after a crash of the machine the database may be beyond repair: all jobs are lost'::text), ('full_page_writes'::text,ARRAY['on'::text],NULL::double precision,NULL::double precision,'on'::text,'problem'::text,'a page that a crash left half written stays so: jobs are lost, or the server does not start'::text), ('synchronous_commit'::text,ARRAY['on'::text, 'local'::text, 'remote_write'::text, 'remote_apply'::text],NULL::double precision,NULL::double precision,'on'::text,'problem'::text,'a crash takes back the last matches and ends: a job that is at work is handed out again'::text), ('default_transaction_isolation'::text,ARRAY['read committed'::text],NULL::double precision,NULL::double precision,'read committed'::text,'problem'::text,'calls that match, insert or return jobs are refused (PB001)'::text), ('default_transaction_read_only'::text,ARRAY['off'::text],NULL::double precision,NULL::double precision,'off'::text,'problem'::text,'no job can be inserted or matched'::text), ('autovacuum'::text,ARRAY['on'::text],NULL::double precision,NULL::double precision,'on'::text,'problem'::text,'tables grow, statistics get stale (a match by wrong ones takes 6 ms instead of 0.5), and matches walk over dead rows'::text), ('track_counts'::text,ARRAY['on'::text],NULL::double precision,NULL::double precision,'on'::text,'problem'::text,'autovacuum does not learn what to clean, as if it were off'::text), ('autovacuum_naptime'::text,NULL::text[],NULL::double precision,15,'10s'::text,'advice'::text,'at 1,000 matches a second 60,000 rows of each queue table are dead after a minute: a match takes a quarter longer'::text), ('autovacuum_vacuum_cost_delay'::text,NULL::text[],NULL::double precision,2,'0'::text,'advice'::text,'cleaning sleeps more than it works: leases and requests leave dead rows faster than it takes them away'::text), ('max_wal_size'::text,NULL::text[],2048,NULL::double precision,'4GB'::text,'advice'::text,'a checkpoint comes every few minutes under load, and after each the whole of each page of the queues is written again'::text), ('checkpoint_timeout'::text,NULL::text[],600,NULL::double precision,'15min'::text,'advice'::text,'a checkpoint comes every few minutes, and after each the whole of each page of the queues is written again'::text), ('wal_compression'::text,ARRAY['on'::text, 'pglz'::text, 'lz4'::text, 'zstd'::text],NULL::double precision,NULL::double precision,'on'::text,'advice'::text,'the pages of the queues are written to the log as they are, after each checkpoint'::text), ('log_statement'::text,ARRAY['none'::text, 'ddl'::text, 'mod'::text],NULL::double precision,NULL::double precision,'none'::text,'advice'::text,'each call is a line: 25 GB a day at 1,000 calls a second, with the attempts, which are secret'::text), ('log_duration'::text,ARRAY['off'::text],NULL::double precision,NULL::double precision,'off'::text,'advice'::text,'each call is a line: 10 GB a day at 1,000 calls a second'::text), ('log_min_duration_statement'::text,ARRAY['-1'::text],10,NULL::double precision,'-1'::text,'advice'::text,'each call is a line: 25 GB a day at 1,000 calls a second, with the attempts, which are secret'::text)
        ), given(name, role_name, database_id, value) AS (
         SELECT s.name,
            NULL::name AS name,
            NULL::oid AS oid,
            s.setting
           FROM pg_settings s
        UNION ALL
         SELECT split_part(c.entry, '='::text, 1) AS split_part,
            o.rolname,
            r.setdatabase,
            substr(c.entry, (strpos(c.entry, '='::text) + 1)) AS substr
           FROM ((pg_db_role_setting r
             JOIN pg_roles o ON (((o.oid = r.setrole) AND (o.rolname <> CURRENT_USER))))
             CROSS JOIN LATERAL unnest(r.setconfig) c(entry))
          WHERE ((r.setdatabase = ANY (ARRAY[(0)::oid, ( SELECT d.oid
                   FROM pg_database d
                  WHERE (d.datname = current_database()))])) AND (EXISTS ( SELECT
                   FROM (resource.house_role h
                     JOIN pg_roles m ON ((m.rolname = h.role_name)))
                  WHERE pg_has_role(o.oid, m.oid, 'member'::text))))
        ), judged AS (
         SELECT s.name,
            g.role_name,
            g.database_id,
            s.context,
            s.source,
            r.wanted,
            r.cost,
                CASE
                    WHEN (g.role_name IS NULL) THEN current_setting(s.name)
                    ELSE g.value
                END AS value,
                CASE
                    WHEN ((v.value = ANY (r.good)) OR (((r.at_least IS NOT NULL) OR (r.at_most IS NOT NULL)) AND (((v.value)::double precision >= COALESCE(r.at_least, '-Infinity'::double precision)) AND ((v.value)::double precision <= COALESCE(r.at_most, 'Infinity'::double precision))))) THEN 'ok'::text
                    ELSE r.verdict
                END AS verdict
           FROM (((rule r
             JOIN pg_settings s ON ((s.name = r.name)))
             JOIN given g ON (((g.name = r.name) AND ((g.role_name IS NULL) OR ((r.good IS NOT NULL) AND (s.vartype = ANY (ARRAY['bool'::text, 'enum'::text])))))))
             CROSS JOIN LATERAL ( SELECT
                        CASE
                            WHEN ((s.vartype <> 'bool'::text) AND (lower(g.value) <> ALL (ARRAY['off'::text, 'false'::text, 'no'::text]))) THEN g.value
                            WHEN (lower(g.value) = ANY (ARRAY['off'::text, 'false'::text, 'no'::text, '0'::text])) THEN 'off'::text
                            ELSE 'on'::text
                        END AS value) v)
        )
 SELECT 'setting'::text AS area,
    (name || COALESCE((' of role '::text || (role_name)::text), ''::text)) AS object,
    value,
    verdict,
        CASE
            WHEN (verdict <> 'ok'::text) THEN cost
            ELSE NULL::text
        END AS cost,
        CASE
            WHEN (verdict = 'ok'::text) THEN NULL::text
            WHEN ((role_name IS NOT NULL) AND (database_id <> (0)::oid)) THEN format('alter role %I in database %I reset %s'::text, role_name, current_database(), name)
            WHEN (role_name IS NOT NULL) THEN format('alter role %I reset %s'::text, role_name, name)
            WHEN (source = 'database'::text) THEN format('alter database %I reset %s'::text, current_database(), name)
            WHEN (source = 'user'::text) THEN format('alter role %I reset %s'::text, CURRENT_USER, name)
            WHEN (source = 'database user'::text) THEN format('alter role %I in database %I reset %s'::text, CURRENT_USER, current_database(), name)
            WHEN (source = ANY (ARRAY['session'::text, 'client'::text, 'environment variable'::text])) THEN 'set in this session alone: look at PGOPTIONS and the DSN'::text
            WHEN (source = 'command line'::text) THEN format('take it off the command line that starts the server, then alter system set %s = %L'::text, name, wanted)
            ELSE (format('alter system set %s = %L, then '::text, name, wanted) ||
            CASE context
                WHEN 'postmaster'::text THEN 'restart the server'::text
                ELSE 'select pg_reload_conf()'::text
            END)
        END AS remedy
   FROM judged j;

ALTER VIEW monitor.health_setting OWNER TO broker_owner;

COMMENT ON VIEW monitor.health_setting IS 'Settings that cost jobs or time, as they are for who looks, and as they are set for roles that use pgbroker. Part of monitor.health.';

COMMENT ON COLUMN monitor.health_setting.area IS 'setting.';

COMMENT ON COLUMN monitor.health_setting.object IS 'Name of the setting, and of the role where it is the role''s own.';

COMMENT ON COLUMN monitor.health_setting.value IS 'Its value.';

COMMENT ON COLUMN monitor.health_setting.verdict IS 'ok, advice or problem.';

COMMENT ON COLUMN monitor.health_setting.cost IS 'What it costs; null where it is ok.';

COMMENT ON COLUMN monitor.health_setting.remedy IS 'What to do; null where it is ok.';

CREATE VIEW monitor.health_snapshot AS
 WITH session AS (
         SELECT a.pid,
            a.datid,
            a.usename,
            a.state,
            a.xact_start,
            a.backend_xid,
            a.backend_xmin,
            a.application_name,
            d.oid AS database_id
           FROM (pg_stat_activity a
             JOIN pg_database d ON ((d.datname = current_database())))
          WHERE (a.pid <> pg_backend_pid())
        ), holder(object, transactions, since, detail, remedy) AS (
         SELECT
                CASE
                    WHEN (s.datid IS NULL) THEN format('process %s for standby %s'::text, s.pid, s.application_name)
                    ELSE format('session %s of %s'::text, s.pid, COALESCE(s.usename, 'the server'::name))
                END AS format,
            GREATEST(age(s.backend_xmin), age(s.backend_xid)) AS "greatest",
            s.xact_start,
            s.state,
                CASE
                    WHEN (s.datid IS NULL) THEN 'end the long query on the standby, or set hot_standby_feedback = off there'::text
                    WHEN (s.usename IS NULL) THEN format('select pg_terminate_backend(%s)'::text, s.pid)
                    ELSE format('select pg_terminate_backend(%s); to bound it: alter role %I set idle_in_transaction_session_timeout = ''60s'''::text, s.pid, s.usename)
                END AS format
           FROM session s
          WHERE ((COALESCE(s.backend_xmin, s.backend_xid) IS NOT NULL) AND ((s.datid IS NULL) OR (s.datid = s.database_id) OR (s.backend_xid IS NOT NULL)) AND (NOT (s.pid IN ( SELECT p.pid
                   FROM pg_stat_progress_vacuum p))))
        UNION ALL
         SELECT format('prepared transaction %s'::text, p.gid) AS format,
            age(p.transaction) AS age,
            p.prepared,
            p.owner,
            format('in database %I: commit prepared %L, or rollback prepared %L'::text, p.database, p.gid, p.gid) AS format
           FROM pg_prepared_xacts p
        UNION ALL
         SELECT format('replication slot %s'::text, r.slot_name) AS format,
            age(r.xmin) AS age,
            NULL::timestamp with time zone AS timestamptz,
                CASE
                    WHEN r.active THEN 'active'::text
                    ELSE 'inactive'::text
                END AS "case",
            format('start its standby, or select pg_drop_replication_slot(%L)'::text, r.slot_name) AS format
           FROM pg_replication_slots r
          WHERE (r.xmin IS NOT NULL)
        ), snapshot AS (
         SELECT h.object,
            h.transactions,
            h.since,
            h.detail,
            h.remedy,
                CASE
                    WHEN (h.transactions >= 100000) THEN 'problem'::text
                    WHEN (h.transactions >= 10000) THEN 'advice'::text
                    ELSE 'ok'::text
                END AS verdict,
            row_number() OVER (ORDER BY h.transactions DESC, h.object) AS place
           FROM holder h
        )
 SELECT 'snapshot'::text AS area,
    s.object,
    concat_ws(', '::text, (s.transactions || ' transactions'::text), date_trunc('second'::text, (clock_timestamp() - s.since)), s.detail) AS value,
    s.verdict,
        CASE
            WHEN (s.verdict <> 'ok'::text) THEN 'rows deleted since then cannot be cleaned: tables and indexes grow with every match'::text
            ELSE NULL::text
        END AS cost,
        CASE
            WHEN (s.verdict <> 'ok'::text) THEN s.remedy
            ELSE NULL::text
        END AS remedy
   FROM snapshot s
  WHERE ((s.place = 1) OR (s.verdict <> 'ok'::text))
UNION ALL
 SELECT 'snapshot'::text AS area,
    'oldest transaction'::text AS object,
    'none'::text AS value,
    'ok'::text AS verdict,
    NULL::text AS cost,
    NULL::text AS remedy
  WHERE (NOT (EXISTS ( SELECT
           FROM snapshot)))
UNION ALL
 SELECT 'slot'::text AS area,
    r.slot_name AS object,
    'inactive'::text AS value,
    'advice'::text AS verdict,
    'all WAL since it was last used is kept, until the disk is full and the server stops'::text AS cost,
    format('start what reads it, or select pg_drop_replication_slot(%L)'::text, r.slot_name) AS remedy
   FROM pg_replication_slots r
  WHERE ((NOT r.active) AND (r.restart_lsn IS NOT NULL));

ALTER VIEW monitor.health_snapshot OWNER TO broker_owner;

COMMENT ON VIEW monitor.health_snapshot IS 'Old snapshots: of sessions, prepared transactions, replication slots and standbys; and slots that nobody reads. Part of monitor.health.';

COMMENT ON COLUMN monitor.health_snapshot.area IS 'snapshot or slot.';

COMMENT ON COLUMN monitor.health_snapshot.object IS 'Session, prepared transaction or slot.';

COMMENT ON COLUMN monitor.health_snapshot.value IS 'What was found.';

COMMENT ON COLUMN monitor.health_snapshot.verdict IS 'ok, advice or problem.';

COMMENT ON COLUMN monitor.health_snapshot.cost IS 'What it costs; null where it is ok.';

COMMENT ON COLUMN monitor.health_snapshot.remedy IS 'What to do; null where it is ok.';

CREATE VIEW monitor.health_table AS
 WITH relation AS (
         SELECT c.oid,
            c.relname AS name,
            c.relkind AS kind,
            c.reltuples,
            c.reloptions,
            c.relowner,
            pg_relation_size((c.oid)::regclass) AS bytes,
            i.indrelid AS table_id
           FROM (pg_class c
             LEFT JOIN pg_index i ON ((i.indexrelid = c.oid)))
          WHERE ((c.relnamespace = ('taskqueue'::regnamespace)::oid) AND (c.relkind = ANY (ARRAY['r'::"char", 'i'::"char"])))
        ), hot AS (
         SELECT r.oid,
            r.name,
            r.kind,
            r.reltuples,
            r.reloptions,
            r.relowner,
            r.bytes,
            r.table_id
           FROM relation r
          WHERE ((r.kind = 'r'::"char") AND (r.name = ANY (ARRAY['definition'::name, 'task_queue'::name, 'posting_list'::name, 'posting'::name, 'known_offer'::name, 'job'::name, 'job_count'::name, 'job_count_change'::name, 'lease'::name, 'limit_slot'::name])))
        ), used AS (
         SELECT s.relid,
            s.relname AS name,
            s.n_live_tup AS live,
            s.n_dead_tup AS dead,
            GREATEST(s.last_vacuum, s.last_autovacuum) AS cleaned,
            (COALESCE(s.last_analyze, s.last_autoanalyze) IS NULL) AS never_analyzed,
                CASE
                    WHEN ((s.n_dead_tup < 50000) OR (s.n_dead_tup <= s.n_live_tup)) THEN 'ok'::text
                    WHEN (s.n_dead_tup < 500000) THEN 'advice'::text
                    ELSE 'problem'::text
                END AS verdict
           FROM pg_stat_user_tables s
          WHERE (s.schemaname = 'taskqueue'::name)
        ), swollen AS (
         SELECT r.name,
            r.kind,
            r.bytes,
            u.live
           FROM ((relation r
             JOIN hot t ON (((t.oid = COALESCE(r.table_id, r.oid)) AND (t.name <> ALL (ARRAY['definition'::name, 'task_queue'::name])))))
             JOIN used u ON ((u.relid = t.oid)))
          WHERE (((r.bytes)::double precision >= ((16)::double precision * ((1024)::double precision ^ (2)::double precision))) AND (r.bytes > (1000 * u.live)))
        ), memory AS (
         SELECT ( SELECT sum(pg_total_relation_size((h.oid)::regclass)) AS sum
                   FROM hot h) AS needed,
            ((s.setting)::bigint * 8192) AS given
           FROM pg_settings s
          WHERE (s.name = 'shared_buffers'::text)
        )
 SELECT 'bloat'::text AS area,
    ('table '::text || (u.name)::text) AS object,
    format('%s dead rows, %s live, last cleaned %s'::text, u.dead, u.live, COALESCE((date_trunc('second'::text, u.cleaned))::text, 'never'::text)) AS value,
    u.verdict,
    'matches walk over them: a third longer for each 100,000'::text AS cost,
    format('vacuum taskqueue.%I; where they stay, an old snapshot holds them; where they come back, let autovacuum run more often'::text, u.name) AS remedy
   FROM used u
  WHERE (u.verdict <> 'ok'::text)
UNION ALL
 SELECT 'bloat'::text AS area,
    'dead rows'::text AS object,
    format('%s at most, in table %s'::text, u.dead, u.name) AS value,
    'ok'::text AS verdict,
    NULL::text AS cost,
    NULL::text AS remedy
   FROM ( SELECT used.relid,
            used.name,
            used.live,
            used.dead,
            used.cleaned,
            used.never_analyzed,
            used.verdict
           FROM used
          ORDER BY used.dead DESC, used.name
         LIMIT 1) u
  WHERE ((u.verdict = 'ok'::text) AND (NOT (EXISTS ( SELECT
           FROM used o
          WHERE (o.verdict <> 'ok'::text)))))
UNION ALL
 SELECT 'bloat'::text AS area,
    (
        CASE w.kind
            WHEN 'i'::"char" THEN 'index '::text
            ELSE 'table '::text
        END || (w.name)::text) AS object,
    format('%s for %s rows'::text, pg_size_pretty(w.bytes), w.live) AS value,
    'advice'::text AS verdict,
    'it takes memory from the rows that matches read, and cleaning reads all of it'::text AS cost,
        CASE w.kind
            WHEN 'i'::"char" THEN format('reindex index concurrently taskqueue.%I'::text, w.name)
            ELSE format('vacuum (full, analyze) taskqueue.%I, while no agents work: it locks the table'::text, w.name)
        END AS remedy
   FROM swollen w
UNION ALL
 SELECT 'bloat'::text AS area,
    'size of tables and indexes'::text AS object,
    'as their rows need'::text AS value,
    'ok'::text AS verdict,
    NULL::text AS cost,
    NULL::text AS remedy
  WHERE (NOT (EXISTS ( SELECT
           FROM swollen)))
UNION ALL
 SELECT 'statistics'::text AS area,
    ('table '::text || (h.name)::text) AS object,
    'never analyzed'::text AS value,
    'advice'::text AS verdict,
    'the planner takes a setup for a selective key: a match takes 6 ms instead of 0.5'::text AS cost,
    format('analyze taskqueue.%I, or select taskqueue.refresh_statistics()'::text, h.name) AS remedy
   FROM (hot h
     JOIN used u ON ((u.relid = h.oid)))
  WHERE ((h.reltuples < (0)::double precision) AND u.never_analyzed AND (h.bytes >= (64 * 1024)))
UNION ALL
 SELECT 'autovacuum'::text AS area,
    ('table '::text || (r.name)::text) AS object,
    'switched off'::text AS value,
    'problem'::text AS verdict,
    'it grows, and its statistics get stale: a match by wrong ones takes 6 ms instead of 0.5'::text AS cost,
    format('alter table taskqueue.%I reset (autovacuum_enabled)'::text, r.name) AS remedy
   FROM relation r
  WHERE ((r.kind = 'r'::"char") AND (EXISTS ( SELECT
           FROM pg_options_to_table(r.reloptions) o(option_name, option_value)
          WHERE ((o.option_name = 'autovacuum_enabled'::text) AND (lower(o.option_value) = ANY (ARRAY['off'::text, 'false'::text, 'no'::text, '0'::text]))))))
UNION ALL
 SELECT 'trigger'::text AS area,
    format('%s on %s'::text, t.tgname, r.name) AS object,
    format('calls %s'::text, (t.tgfoid)::regproc) AS value,
    'advice'::text AS verdict,
    'it runs inside each call that writes the table: it slows matches down, and an error in it fails them'::text AS cost,
    format('drop trigger %I on taskqueue.%I, and let one background process read what it told'::text, t.tgname, r.name) AS remedy
   FROM ((pg_trigger t
     JOIN relation r ON ((r.oid = t.tgrelid)))
     JOIN pg_proc p ON (((p.oid = t.tgfoid) AND (p.proowner <> r.relowner))))
  WHERE ((NOT t.tgisinternal) AND (t.tgparentid = (0)::oid) AND (t.tgenabled <> 'D'::"char"))
UNION ALL
 SELECT 'setting'::text AS area,
    'shared_buffers'::text AS object,
    format('%s for %s that matches read'::text, pg_size_pretty(m.given), pg_size_pretty(m.needed)) AS value,
    v.verdict,
        CASE
            WHEN (v.verdict <> 'ok'::text) THEN 'pages of the queues are read and written again and again'::text
            ELSE NULL::text
        END AS cost,
        CASE
            WHEN (v.verdict <> 'ok'::text) THEN format('alter system set shared_buffers = ''%sMB'', then restart the server'::text, ceil((((m.needed * 1.5))::double precision / ((1024)::double precision ^ (2)::double precision))))
            ELSE NULL::text
        END AS remedy
   FROM (memory m
     CROSS JOIN LATERAL ( SELECT
                CASE
                    WHEN (m.needed > (m.given)::numeric) THEN 'advice'::text
                    ELSE 'ok'::text
                END AS verdict) v)
UNION ALL
 SELECT 'transaction ids'::text AS area,
    'age of the oldest'::text AS object,
    format('%s million'::text, (age(d.datfrozenxid) / 1000000)) AS value,
    v.verdict,
        CASE
            WHEN (v.verdict <> 'ok'::text) THEN 'at 2,000 million the server takes no more transactions'::text
            ELSE NULL::text
        END AS cost,
        CASE
            WHEN (v.verdict <> 'ok'::text) THEN format('end old snapshots and let autovacuum work; else vacuum (freeze) database %I'::text, d.datname)
            ELSE NULL::text
        END AS remedy
   FROM (pg_database d
     CROSS JOIN LATERAL ( SELECT
                CASE
                    WHEN (age(d.datfrozenxid) >= 1200000000) THEN 'problem'::text
                    WHEN (age(d.datfrozenxid) >= 600000000) THEN 'advice'::text
                    ELSE 'ok'::text
                END AS verdict) v)
  WHERE (d.datname = current_database());

ALTER VIEW monitor.health_table OWNER TO broker_owner;

COMMENT ON VIEW monitor.health_table IS 'Dead rows, size, statistics, foreign triggers of the tables of taskqueue, and the memory for them. Part of monitor.health.';

COMMENT ON COLUMN monitor.health_table.area IS 'bloat, statistics, autovacuum, trigger, setting or transaction ids.';

COMMENT ON COLUMN monitor.health_table.object IS 'Table, index, trigger or setting.';

COMMENT ON COLUMN monitor.health_table.value IS 'What was found.';

COMMENT ON COLUMN monitor.health_table.verdict IS 'ok, advice or problem.';

COMMENT ON COLUMN monitor.health_table.cost IS 'What it costs; null where it is ok.';

COMMENT ON COLUMN monitor.health_table.remedy IS 'What to do; null where it is ok.';

CREATE TABLE resource.setup (
    setup text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    simulated timestamp with time zone,
    CONSTRAINT setup_setup_check CHECK ((setup <> ''::text))
);

ALTER TABLE resource.setup OWNER TO broker_owner;

COMMENT ON TABLE resource.setup IS 'Setups (tenants). A setup comes into being with its first job or configuration.';

COMMENT ON COLUMN resource.setup.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN resource.setup.created_at IS 'When the setup came into being.';

COMMENT ON COLUMN resource.setup.simulated IS 'The moment that resource.clock() answers for a simulated setup; null = real time.';

CREATE VIEW resource.setup_time AS
 SELECT setup,
    COALESCE(simulated, now()) AS now
   FROM resource.setup s;

ALTER VIEW resource.setup_time OWNER TO broker_owner;

COMMENT ON VIEW resource.setup_time IS 'The time of each setup: now(), or, for a simulated one, what resource.set_clock said.';

COMMENT ON COLUMN resource.setup_time.setup IS 'Tenant.';

COMMENT ON COLUMN resource.setup_time.now IS 'Its time.';

CREATE TABLE taskqueue.history (
    setup text NOT NULL,
    at timestamp with time zone NOT NULL,
    job_id bigint NOT NULL,
    attempt integer NOT NULL,
    event text NOT NULL,
    task_queue_id bigint NOT NULL,
    definition_id bigint,
    cpu_time bigint,
    owner_group text,
    owner_dn text,
    user_priority smallint,
    site text,
    grid_ce text,
    role_name text NOT NULL
)
PARTITION BY RANGE (at);

ALTER TABLE taskqueue.history OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.history IS 'What happened to jobs, one row an event, partitioned by day. A match is written when its lease ends (taskqueue.match).';

COMMENT ON COLUMN taskqueue.history.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.history.at IS 'When.';

COMMENT ON COLUMN taskqueue.history.job_id IS 'Job id, the same in every room of the setup.';

COMMENT ON COLUMN taskqueue.history.attempt IS 'Attempt number; 0 = never matched.';

COMMENT ON COLUMN taskqueue.history.event IS 'matched, running, released, kill asked, finished, failed, cancelled or closed.';

COMMENT ON COLUMN taskqueue.history.task_queue_id IS 'TaskQueue.';

COMMENT ON COLUMN taskqueue.history.definition_id IS 'Requirements.';

COMMENT ON COLUMN taskqueue.history.cpu_time IS 'CPU bucket, seconds; of matches.';

COMMENT ON COLUMN taskqueue.history.owner_group IS 'Owner group; of matches.';

COMMENT ON COLUMN taskqueue.history.owner_dn IS 'Owner; of matches.';

COMMENT ON COLUMN taskqueue.history.user_priority IS 'User priority 0..10; 0 is background.';

COMMENT ON COLUMN taskqueue.history.site IS 'Site of the lease.';

COMMENT ON COLUMN taskqueue.history.grid_ce IS 'Computing element of the lease.';

COMMENT ON COLUMN taskqueue.history.role_name IS 'Database role that caused it.';

CREATE TABLE taskqueue.history_default (
    setup text CONSTRAINT history_setup_not_null NOT NULL,
    at timestamp with time zone CONSTRAINT history_at_not_null NOT NULL,
    job_id bigint CONSTRAINT history_job_id_not_null NOT NULL,
    attempt integer CONSTRAINT history_attempt_not_null NOT NULL,
    event text CONSTRAINT history_event_not_null NOT NULL,
    task_queue_id bigint CONSTRAINT history_task_queue_id_not_null NOT NULL,
    definition_id bigint,
    cpu_time bigint,
    owner_group text,
    owner_dn text,
    user_priority smallint,
    site text,
    grid_ce text,
    role_name text CONSTRAINT history_role_name_not_null NOT NULL
);

ALTER TABLE taskqueue.history_default OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.history_default IS 'Catches events of days that have no partition yet.';

COMMENT ON COLUMN taskqueue.history_default.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.history_default.at IS 'When.';

COMMENT ON COLUMN taskqueue.history_default.job_id IS 'Job id, the same in every room of the setup.';

COMMENT ON COLUMN taskqueue.history_default.attempt IS 'Attempt number; 0 = never matched.';

COMMENT ON COLUMN taskqueue.history_default.event IS 'matched, running, released, kill asked, finished, failed, cancelled or closed.';

COMMENT ON COLUMN taskqueue.history_default.task_queue_id IS 'TaskQueue.';

COMMENT ON COLUMN taskqueue.history_default.definition_id IS 'Requirements.';

COMMENT ON COLUMN taskqueue.history_default.cpu_time IS 'CPU bucket, seconds; of matches.';

COMMENT ON COLUMN taskqueue.history_default.owner_group IS 'Owner group; of matches.';

COMMENT ON COLUMN taskqueue.history_default.owner_dn IS 'Owner; of matches.';

COMMENT ON COLUMN taskqueue.history_default.user_priority IS 'User priority 0..10; 0 is background.';

COMMENT ON COLUMN taskqueue.history_default.site IS 'Site of the lease.';

COMMENT ON COLUMN taskqueue.history_default.grid_ce IS 'Computing element of the lease.';

COMMENT ON COLUMN taskqueue.history_default.role_name IS 'Database role that caused it.';

CREATE TABLE taskqueue.job_count (
    setup text NOT NULL,
    task_queue_id bigint NOT NULL,
    known_to xid8 NOT NULL,
    count_id bigint NOT NULL,
    jobs bigint[] NOT NULL,
    first_ids bigint[] NOT NULL,
    in_flight xid8[] NOT NULL,
    CONSTRAINT job_count_first_ids_check CHECK ((cardinality(first_ids) = 11)),
    CONSTRAINT job_count_jobs_check CHECK ((cardinality(jobs) = 11))
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_cost_delay='0');
ALTER TABLE ONLY taskqueue.job_count ALTER COLUMN setup SET (n_distinct=1);

ALTER TABLE taskqueue.job_count OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.job_count IS 'Waiting jobs that are not held, by queue and user priority, as of a snapshot; the newest of a queue counts, job_count_change is added to it (taskqueue.job_level). Appended, never updated, so that a match reads one however many there were. Derived from job.';

COMMENT ON COLUMN taskqueue.job_count.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.job_count.task_queue_id IS 'TaskQueue.';

COMMENT ON COLUMN taskqueue.job_count.known_to IS 'Changes made in this transaction or later are not counted here,';

COMMENT ON COLUMN taskqueue.job_count.count_id IS 'Tells counts with the same snapshot apart.';

COMMENT ON COLUMN taskqueue.job_count.jobs IS 'Jobs with user priority 0, 1, .. 10.';

COMMENT ON COLUMN taskqueue.job_count.first_ids IS 'Of each user priority, no job known here has a lower id; null = there was none. A match looks from there on, not through what was taken before.';

COMMENT ON COLUMN taskqueue.job_count.in_flight IS 'nor those of these transactions.';

CREATE TABLE taskqueue.job_count_change (
    setup text NOT NULL,
    task_queue_id bigint NOT NULL,
    made_in xid8 DEFAULT pg_current_xact_id() NOT NULL,
    user_priority smallint NOT NULL,
    change bigint NOT NULL,
    first_id bigint
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_cost_delay='0');
ALTER TABLE ONLY taskqueue.job_count_change ALTER COLUMN setup SET (n_distinct=1);

ALTER TABLE taskqueue.job_count_change OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.job_count_change IS 'Changes of the waiting jobs of a queue, appended so that no agent waits for another on a counter; counted by taskqueue.fold_counts.';

COMMENT ON COLUMN taskqueue.job_count_change.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.job_count_change.task_queue_id IS 'TaskQueue.';

COMMENT ON COLUMN taskqueue.job_count_change.made_in IS 'Transaction that wrote the row.';

COMMENT ON COLUMN taskqueue.job_count_change.user_priority IS 'User priority 0..10; 0 is background.';

COMMENT ON COLUMN taskqueue.job_count_change.change IS 'Jobs added (taken, when negative).';

COMMENT ON COLUMN taskqueue.job_count_change.first_id IS 'Lowest id of the jobs added; null = none added.';

CREATE UNLOGGED TABLE taskqueue.resource_seen (
    setup text NOT NULL,
    class uuid NOT NULL,
    seen_at timestamp with time zone NOT NULL,
    matched boolean NOT NULL,
    resource jsonb NOT NULL
);
ALTER TABLE ONLY taskqueue.resource_seen ALTER COLUMN setup SET (n_distinct=1);

ALTER TABLE taskqueue.resource_seen OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.resource_seen IS 'Resource descriptions as they came, a sample, at most one row per class in ten seconds; unlogged, rolled up by taskqueue.maintain.';

COMMENT ON COLUMN taskqueue.resource_seen.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.resource_seen.class IS 'md5 of the canonical description, CPUTime as bucket, without JobID.';

COMMENT ON COLUMN taskqueue.resource_seen.seen_at IS 'When.';

COMMENT ON COLUMN taskqueue.resource_seen.matched IS 'Whether the sampled request got a job.';

COMMENT ON COLUMN taskqueue.resource_seen.resource IS 'Canonical description.';

CREATE TABLE taskqueue.share_mark (
    setup text NOT NULL,
    owner_group text NOT NULL,
    marked_at timestamp with time zone NOT NULL
);

ALTER TABLE taskqueue.share_mark OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.share_mark IS 'Groups whose priorities are to be recomputed; appended, and eaten by taskqueue.maintain.';

COMMENT ON COLUMN taskqueue.share_mark.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.share_mark.owner_group IS 'Group.';

COMMENT ON COLUMN taskqueue.share_mark.marked_at IS 'When its queues changed.';

CREATE VIEW monitor.health_work AS
 WITH today(day, days) AS (
         SELECT ((now() AT TIME ZONE 'utc'::text))::date AS timezone,
            ( SELECT (COALESCE(ceil((EXTRACT(epoch FROM max(s.history_kept)) / (86400)::numeric)), (30)::numeric))::integer AS "coalesce"
                   FROM taskqueue.setting s) AS "coalesce"
        ), partition AS (
         SELECT to_date("right"((c.relname)::text, 8), 'YYYYMMDD'::text) AS day
           FROM (pg_inherits i
             JOIN pg_class c ON ((c.oid = i.inhrelid)))
          WHERE ((i.inhparent = ('taskqueue.history'::regclass)::oid) AND (c.relname ~ '^history_[0-9]{8}$'::text))
        ), ahead AS (
         SELECT (count(*) - 1) AS days
           FROM ( SELECT ((p_1.day - (row_number() OVER (ORDER BY p_1.day))::integer) + 1) AS begins
                   FROM partition p_1,
                    today t_1
                  WHERE (p_1.day >= t_1.day)) p,
            today t
          WHERE (p.begins = t.day)
        ), late AS (
         SELECT t.setup,
            GREATEST(((t.now - ( SELECT min(m.marked_at) AS min
                   FROM taskqueue.share_mark m
                  WHERE (m.setup = t.setup))) - s.share_delay), ((t.now - ( SELECT min(r.seen_at) AS min
                   FROM taskqueue.resource_seen r
                  WHERE (r.setup = t.setup))) - '00:00:10'::interval), '00:00:00'::interval) AS by
           FROM (resource.setup_time t
             JOIN taskqueue.setting s ON ((s.setup = t.setup)))
        ), unfolded AS (
         SELECT c.setup,
            c.task_queue_id,
            count(*) AS changes
           FROM (taskqueue.job_count_change c
             CROSS JOIN LATERAL ( SELECT b.known_to,
                    b.in_flight
                   FROM taskqueue.job_count b
                  WHERE ((b.setup = c.setup) AND (b.task_queue_id = c.task_queue_id))
                  ORDER BY b.known_to DESC, b.count_id DESC
                 LIMIT 1) t)
          WHERE ((c.made_in >= t.known_to) OR (c.made_in = ANY (t.in_flight)))
          GROUP BY c.setup, c.task_queue_id
          ORDER BY (count(*)) DESC, c.setup, c.task_queue_id
         LIMIT 1
        ), stray AS (
         SELECT count(*) AS events
           FROM ( SELECT
                   FROM taskqueue.history_default
                 LIMIT 100000) h
        )
 SELECT 'maintenance'::text AS area,
    ('setup '::text || l.setup) AS object,
        CASE
            WHEN (v.verdict = 'ok'::text) THEN 'done'::text
            ELSE format('not done for %s'::text, date_trunc('second'::text, l.by))
        END AS value,
    v.verdict,
        CASE
            WHEN (v.verdict <> 'ok'::text) THEN 'shares are those of queues that were, counts take longer to read, and explain_job knows no new resources'::text
            ELSE NULL::text
        END AS cost,
        CASE
            WHEN (v.verdict <> 'ok'::text) THEN 'call taskqueue.maintain every few seconds: broker maintain --every 5, or pg_cron'::text
            ELSE NULL::text
        END AS remedy
   FROM (late l
     CROSS JOIN LATERAL ( SELECT
                CASE
                    WHEN (l.by > '00:01:00'::interval) THEN 'advice'::text
                    ELSE 'ok'::text
                END AS verdict) v)
UNION ALL
 SELECT 'maintenance'::text AS area,
    'changes of counts'::text AS object,
        CASE
            WHEN (u.changes IS NULL) THEN '0'::text
            ELSE format('%s of queue %s in setup %s'::text, u.changes, u.task_queue_id, u.setup)
        END AS value,
    v.verdict,
        CASE
            WHEN (v.verdict <> 'ok'::text) THEN 'each match from the queue adds them up'::text
            ELSE NULL::text
        END AS cost,
        CASE
            WHEN (v.verdict <> 'ok'::text) THEN 'call taskqueue.maintain every few seconds: broker maintain --every 5, or pg_cron'::text
            ELSE NULL::text
        END AS remedy
   FROM ((( SELECT) one
     LEFT JOIN unfolded u ON (true))
     CROSS JOIN LATERAL ( SELECT
                CASE
                    WHEN (u.changes >= 500) THEN 'advice'::text
                    ELSE 'ok'::text
                END AS verdict) v)
UNION ALL
 SELECT 'history'::text AS area,
    'partitions made ahead'::text AS object,
        CASE
            WHEN (a.days < 0) THEN 'none for today'::text
            ELSE format('%s days'::text, a.days)
        END AS value,
    v.verdict,
        CASE
            WHEN (v.verdict <> 'ok'::text) THEN 'events go into history_default, which retention does not clear'::text
            ELSE NULL::text
        END AS cost,
        CASE
            WHEN (v.verdict <> 'ok'::text) THEN 'call taskqueue.maintain() without a setup at least once a day'::text
            ELSE NULL::text
        END AS remedy
   FROM (ahead a
     CROSS JOIN LATERAL ( SELECT
                CASE
                    WHEN ((a.days < 1) AND (EXISTS ( SELECT
                       FROM resource.setup))) THEN 'advice'::text
                    ELSE 'ok'::text
                END AS verdict) v)
UNION ALL
 SELECT 'history'::text AS area,
    'events in history_default'::text AS object,
    (s.events ||
        CASE
            WHEN (s.events = 100000) THEN ' or more'::text
            ELSE ''::text
        END) AS value,
    v.verdict,
        CASE
            WHEN (v.verdict <> 'ok'::text) THEN 'they stay beyond the retention, and their days get no partition'::text
            ELSE NULL::text
        END AS cost,
        CASE
            WHEN (v.verdict <> 'ok'::text) THEN 'let taskqueue.maintain() run; delete those beyond the retention by hand, as broker_owner'::text
            ELSE NULL::text
        END AS remedy
   FROM (stray s
     CROSS JOIN LATERAL ( SELECT
                CASE
                    WHEN (s.events > 0) THEN 'advice'::text
                    ELSE 'ok'::text
                END AS verdict) v)
UNION ALL
 SELECT 'history'::text AS area,
    'partitions beyond the retention'::text AS object,
    format('%s, retention is %s days'::text, o.partitions, t.days) AS value,
    v.verdict,
        CASE
            WHEN (v.verdict <> 'ok'::text) THEN 'disk: 7 GB a day at a thousand matches a second'::text
            ELSE NULL::text
        END AS cost,
        CASE
            WHEN (v.verdict <> 'ok'::text) THEN 'call taskqueue.maintain(); where it cannot drop them, somebody reads the history for long'::text
            ELSE NULL::text
        END AS remedy
   FROM ((today t
     CROSS JOIN LATERAL ( SELECT count(*) AS partitions
           FROM partition p
          WHERE (p.day < ((t.day - t.days) - 1))) o)
     CROSS JOIN LATERAL ( SELECT
                CASE
                    WHEN (o.partitions > 0) THEN 'advice'::text
                    ELSE 'ok'::text
                END AS verdict) v);

ALTER VIEW monitor.health_work OWNER TO broker_owner;

COMMENT ON VIEW monitor.health_work IS 'Whether the background work is done: shares, counts, resources seen, partitions of the history. Part of monitor.health.';

COMMENT ON COLUMN monitor.health_work.area IS 'maintenance or history.';

COMMENT ON COLUMN monitor.health_work.object IS 'Setup, or what was looked at.';

COMMENT ON COLUMN monitor.health_work.value IS 'What was found.';

COMMENT ON COLUMN monitor.health_work.verdict IS 'ok, advice or problem.';

COMMENT ON COLUMN monitor.health_work.cost IS 'What it costs; null where it is ok.';

COMMENT ON COLUMN monitor.health_work.remedy IS 'What to do; null where it is ok.';

CREATE VIEW monitor.health AS
 SELECT area,
    object,
    value,
    verdict,
    cost,
    remedy
   FROM ( SELECT health_setting.area,
            health_setting.object,
            health_setting.value,
            health_setting.verdict,
            health_setting.cost,
            health_setting.remedy
           FROM monitor.health_setting
        UNION ALL
         SELECT health_snapshot.area,
            health_snapshot.object,
            health_snapshot.value,
            health_snapshot.verdict,
            health_snapshot.cost,
            health_snapshot.remedy
           FROM monitor.health_snapshot
        UNION ALL
         SELECT health_session.area,
            health_session.object,
            health_session.value,
            health_session.verdict,
            health_session.cost,
            health_session.remedy
           FROM monitor.health_session
        UNION ALL
         SELECT health_table.area,
            health_table.object,
            health_table.value,
            health_table.verdict,
            health_table.cost,
            health_table.remedy
           FROM monitor.health_table
        UNION ALL
         SELECT health_work.area,
            health_work.object,
            health_work.value,
            health_work.verdict,
            health_work.cost,
            health_work.remedy
           FROM monitor.health_work
        UNION ALL
         SELECT 'rights'::text AS text,
            'pg_read_all_stats'::text AS text,
            'lacking'::text AS text,
            'advice'::text AS text,
            'sessions of other users are seen by process id and transactions only, not since when, in which state, or whether left open'::text AS text,
            format('grant pg_read_all_stats to %I, which also shows their queries; or look as a superuser'::text, CURRENT_USER) AS format
          WHERE (NOT pg_has_role(CURRENT_USER, 'pg_read_all_stats'::name, 'usage'::text))) f
  ORDER BY (array_position(ARRAY['problem'::text, 'advice'::text, 'ok'::text], verdict)), area, object;

ALTER VIEW monitor.health OWNER TO broker_owner;

COMMENT ON VIEW monitor.health IS 'What on this server holds matching back and what to do about it, one row a finding, problems first; `broker doctor` prints it. problem: jobs can be lost, or matching suffers now. advice: it will, or could be faster.';

COMMENT ON COLUMN monitor.health.area IS 'setting, snapshot, slot, lock, open call, connection, bloat, statistics, autovacuum, trigger, transaction ids, maintenance, history or rights.';

COMMENT ON COLUMN monitor.health.object IS 'What was looked at.';

COMMENT ON COLUMN monitor.health.value IS 'What was found.';

COMMENT ON COLUMN monitor.health.verdict IS 'ok, advice or problem.';

COMMENT ON COLUMN monitor.health.cost IS 'What it costs; null where it is ok.';

COMMENT ON COLUMN monitor.health.remedy IS 'What to do; null where it is ok.';

CREATE TABLE taskqueue.ended (
    setup text NOT NULL,
    job_id bigint NOT NULL,
    attempts integer NOT NULL,
    token uuid,
    task_queue_id bigint NOT NULL,
    outcome text NOT NULL,
    ended_at timestamp with time zone NOT NULL,
    CONSTRAINT ended_outcome_check CHECK ((outcome = ANY (ARRAY['finished'::text, 'failed'::text, 'cancelled'::text, 'closed'::text])))
);
ALTER TABLE ONLY taskqueue.ended ALTER COLUMN setup SET (n_distinct=1);

ALTER TABLE taskqueue.ended OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.ended IS 'Ended jobs, until taskqueue.forget_ended. An ended id may be inserted again.';

COMMENT ON COLUMN taskqueue.ended.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.ended.job_id IS 'Job id, the same in every room of the setup.';

COMMENT ON COLUMN taskqueue.ended.attempts IS 'How often it was matched.';

COMMENT ON COLUMN taskqueue.ended.token IS 'Token of the last attempt; null = never matched.';

COMMENT ON COLUMN taskqueue.ended.task_queue_id IS 'Queue it was last in.';

COMMENT ON COLUMN taskqueue.ended.outcome IS 'finished, failed, cancelled or closed (PanDA''s words).';

COMMENT ON COLUMN taskqueue.ended.ended_at IS 'When it ended.';

CREATE VIEW monitor.job AS
 SELECT j.setup,
    j.job_id,
        CASE
            WHEN j.held THEN 'held'::text
            ELSE 'waiting'::text
        END AS state,
    j.inserted_at AS since,
    j.task_queue_id,
    j.user_priority,
    j.attempts,
    NULL::text AS site
   FROM taskqueue.job j
UNION ALL
 SELECT l.setup,
    l.job_id,
    'leased'::text AS state,
    l.matched_at AS since,
    l.task_queue_id,
    l.user_priority,
    l.attempt AS attempts,
    l.site
   FROM taskqueue.lease l
UNION ALL
 SELECT e.setup,
    e.job_id,
    e.outcome AS state,
    e.ended_at AS since,
    e.task_queue_id,
    NULL::smallint AS user_priority,
    e.attempts,
    NULL::text AS site
   FROM taskqueue.ended e;

ALTER VIEW monitor.job OWNER TO broker_owner;

COMMENT ON VIEW monitor.job IS 'Every job of TaskQueues: waiting, held, leased, or how it ended. A job is in exactly one row.';

COMMENT ON COLUMN monitor.job.setup IS 'Tenant.';

COMMENT ON COLUMN monitor.job.job_id IS 'Job.';

COMMENT ON COLUMN monitor.job.state IS 'waiting, held, leased, or the outcome: finished, failed, cancelled, closed.';

COMMENT ON COLUMN monitor.job.since IS 'Since when: inserted, matched or ended.';

COMMENT ON COLUMN monitor.job.task_queue_id IS 'Queue it waits in or was taken from.';

COMMENT ON COLUMN monitor.job.user_priority IS 'User priority; null when it has ended.';

COMMENT ON COLUMN monitor.job.attempts IS 'How often it was matched.';

COMMENT ON COLUMN monitor.job.site IS 'Site that has it; null when it is not leased.';

CREATE VIEW monitor.job_in_two_states AS
 SELECT setup,
    job_id,
    string_agg(state, ', '::text ORDER BY state) AS states
   FROM ( SELECT j.setup,
            j.job_id,
            'waiting'::text AS state
           FROM taskqueue.job j
        UNION ALL
         SELECT l.setup,
            l.job_id,
            'leased'::text AS text
           FROM taskqueue.lease l
        UNION ALL
         SELECT e.setup,
            e.job_id,
            'ended'::text AS text
           FROM taskqueue.ended e) s
  GROUP BY setup, job_id
 HAVING (count(*) > 1);

ALTER VIEW monitor.job_in_two_states OWNER TO broker_owner;

COMMENT ON VIEW monitor.job_in_two_states IS 'Jobs that are in more than one of waiting, leased, ended. Always empty; a row is a fault of pgbroker.';

COMMENT ON COLUMN monitor.job_in_two_states.setup IS 'Tenant.';

COMMENT ON COLUMN monitor.job_in_two_states.job_id IS 'Job.';

COMMENT ON COLUMN monitor.job_in_two_states.states IS 'Where it is.';

CREATE VIEW monitor.job_without_queue AS
 SELECT setup,
    job_id,
    task_queue_id
   FROM taskqueue.job j
  WHERE (NOT (EXISTS ( SELECT
           FROM taskqueue.task_queue q
          WHERE ((q.setup = j.setup) AND (q.task_queue_id = j.task_queue_id)))));

ALTER VIEW monitor.job_without_queue OWNER TO broker_owner;

COMMENT ON VIEW monitor.job_without_queue IS 'Waiting jobs in no TaskQueue. Always empty; a row is a fault of pgbroker.';

COMMENT ON COLUMN monitor.job_without_queue.setup IS 'Tenant.';

COMMENT ON COLUMN monitor.job_without_queue.job_id IS 'Job.';

COMMENT ON COLUMN monitor.job_without_queue.task_queue_id IS 'Queue that is not there.';

CREATE VIEW monitor.lease AS
 SELECT l.setup,
    l.job_id,
    l.attempt,
    l.state,
    l.site,
    l.grid_ce,
    l.role_name,
    l.matched_at,
    l.reported_at,
    l.expires_at,
    (l.expires_at < t.now) AS expired,
    l.kill_reason,
    l.task_queue_id,
    l.user_priority,
    d.requirements
   FROM ((taskqueue.lease l
     JOIN resource.setup_time t ON ((t.setup = l.setup)))
     LEFT JOIN taskqueue.definition d ON (((d.setup = l.setup) AND (d.definition_id = l.definition_id))));

ALTER VIEW monitor.lease OWNER TO broker_owner;

COMMENT ON VIEW monitor.lease IS 'Matched jobs that have not ended: who has them and since when. The token is not shown.';

COMMENT ON COLUMN monitor.lease.setup IS 'Tenant.';

COMMENT ON COLUMN monitor.lease.job_id IS 'Job.';

COMMENT ON COLUMN monitor.lease.attempt IS 'Number of this match of the job.';

COMMENT ON COLUMN monitor.lease.state IS 'matched or running.';

COMMENT ON COLUMN monitor.lease.site IS 'Site.';

COMMENT ON COLUMN monitor.lease.grid_ce IS 'Computing element.';

COMMENT ON COLUMN monitor.lease.role_name IS 'Database role of the agent.';

COMMENT ON COLUMN monitor.lease.matched_at IS 'When it was matched.';

COMMENT ON COLUMN monitor.lease.reported_at IS 'Last report.';

COMMENT ON COLUMN monitor.lease.expires_at IS 'Until when the next report is awaited.';

COMMENT ON COLUMN monitor.lease.expired IS 'Whether that has passed.';

COMMENT ON COLUMN monitor.lease.kill_reason IS 'Not null: the agent is told to kill the job.';

COMMENT ON COLUMN monitor.lease.task_queue_id IS 'Queue it was taken from.';

COMMENT ON COLUMN monitor.lease.user_priority IS 'User priority.';

COMMENT ON COLUMN monitor.lease.requirements IS 'What it asked for.';

CREATE VIEW taskqueue.match AS
 SELECT h.setup,
    h.at,
    h.job_id,
    h.attempt,
    h.task_queue_id,
    h.definition_id,
    h.cpu_time,
    h.owner_group,
    h.owner_dn,
    h.user_priority,
    h.site,
    h.grid_ce,
    h.role_name
   FROM taskqueue.history h
  WHERE (h.event = 'matched'::text)
UNION ALL
 SELECT l.setup,
    l.matched_at AS at,
    l.job_id,
    l.attempt,
    l.task_queue_id,
    l.definition_id,
    d.cpu_time,
    d.owner_group,
    d.owner_dn,
    l.user_priority,
    l.site,
    l.grid_ce,
    l.role_name
   FROM (taskqueue.lease l
     JOIN taskqueue.definition d ON (((d.setup = l.setup) AND (d.definition_id = l.definition_id))));

ALTER VIEW taskqueue.match OWNER TO broker_owner;

COMMENT ON VIEW taskqueue.match IS 'Every match: in the history once its lease has ended, until then in the lease.';

COMMENT ON COLUMN taskqueue.match.setup IS 'Tenant.';

COMMENT ON COLUMN taskqueue.match.at IS 'When.';

COMMENT ON COLUMN taskqueue.match.job_id IS 'Job.';

COMMENT ON COLUMN taskqueue.match.attempt IS 'Number of the attempt.';

COMMENT ON COLUMN taskqueue.match.task_queue_id IS 'TaskQueue it was taken from; 0 = loaded from a dump.';

COMMENT ON COLUMN taskqueue.match.definition_id IS 'Its requirements.';

COMMENT ON COLUMN taskqueue.match.cpu_time IS 'CPU bucket, seconds.';

COMMENT ON COLUMN taskqueue.match.owner_group IS 'Owner group.';

COMMENT ON COLUMN taskqueue.match.owner_dn IS 'Owner.';

COMMENT ON COLUMN taskqueue.match.user_priority IS 'User priority.';

COMMENT ON COLUMN taskqueue.match.site IS 'Site that got it.';

COMMENT ON COLUMN taskqueue.match.grid_ce IS 'CE that got it.';

COMMENT ON COLUMN taskqueue.match.role_name IS 'Database role that asked.';

CREATE VIEW monitor.matches_per_minute AS
 SELECT setup,
    date_trunc('minute'::text, at) AS minute,
    owner_group,
    count(*) AS matches,
    count(DISTINCT site) AS sites
   FROM taskqueue.match h
  GROUP BY setup, (date_trunc('minute'::text, at)), owner_group;

ALTER VIEW monitor.matches_per_minute OWNER TO broker_owner;

COMMENT ON VIEW monitor.matches_per_minute IS 'Matches by minute and owner group. Restrict the minute where the history is long.';

COMMENT ON COLUMN monitor.matches_per_minute.setup IS 'Tenant.';

COMMENT ON COLUMN monitor.matches_per_minute.minute IS 'Start of the minute.';

COMMENT ON COLUMN monitor.matches_per_minute.owner_group IS 'Owner group.';

COMMENT ON COLUMN monitor.matches_per_minute.matches IS 'Matches.';

COMMENT ON COLUMN monitor.matches_per_minute.sites IS 'Sites that got them.';

CREATE VIEW monitor.matching_difference AS
 SELECT s.setup,
    c.structure,
    c.key,
    c.expected,
    c.found
   FROM (resource.setup s
     CROSS JOIN LATERAL taskqueue.check_matching(s.setup) c(structure, key, expected, found));

ALTER VIEW monitor.matching_difference OWNER TO broker_owner;

COMMENT ON VIEW monitor.matching_difference IS 'Where what matching reads differs from the TaskQueues, requirement tables, jobs and leases that it is derived from (a queue visible without its requirements, jobs that no posting leads to, wrong counts). Always empty; taskqueue.rebuild_matching repairs.';

COMMENT ON COLUMN monitor.matching_difference.setup IS 'Tenant.';

COMMENT ON COLUMN monitor.matching_difference.structure IS 'Derived structure.';

COMMENT ON COLUMN monitor.matching_difference.key IS 'What in it.';

COMMENT ON COLUMN monitor.matching_difference.expected IS 'What it should be.';

COMMENT ON COLUMN monitor.matching_difference.found IS 'What it is.';

CREATE VIEW monitor.oldest_job AS
 SELECT q.setup,
    q.task_queue_id,
    q.cpu_time,
    q.owner_group,
    o.job_id,
    o.inserted_at,
    (t.now - o.inserted_at) AS waits,
    COALESCE(m.matches, (0)::bigint) AS matches_last_hour,
    COALESCE(h.matches, (0)::bigint) AS higher_matches_last_hour,
    ((COALESCE(m.matches, (0)::bigint) = 0) AND (COALESCE(h.matches, (0)::bigint) > 0)) AS starved
   FROM ((((taskqueue.task_queue q
     JOIN resource.setup_time t ON ((t.setup = q.setup)))
     CROSS JOIN LATERAL ( SELECT j.job_id,
            j.inserted_at
           FROM taskqueue.job j
          WHERE ((j.setup = q.setup) AND (j.task_queue_id = q.task_queue_id) AND (NOT j.held))
          ORDER BY j.inserted_at, j.job_id
         LIMIT 1) o)
     LEFT JOIN LATERAL ( SELECT count(*) AS matches
           FROM taskqueue.match e
          WHERE ((e.setup = q.setup) AND (e.at > (t.now - '01:00:00'::interval)) AND (e.task_queue_id = q.task_queue_id))) m ON (true))
     LEFT JOIN LATERAL ( SELECT count(*) AS matches
           FROM taskqueue.match e
          WHERE ((e.setup = q.setup) AND (e.at > (t.now - '01:00:00'::interval)) AND (e.cpu_time > q.cpu_time))) h ON (true));

ALTER VIEW monitor.oldest_job OWNER TO broker_owner;

COMMENT ON VIEW monitor.oldest_job IS 'The oldest waiting job of each TaskQueue, and whether higher CPU buckets keep it waiting: matches went to them within the hour and none to the queue.';

COMMENT ON COLUMN monitor.oldest_job.setup IS 'Tenant.';

COMMENT ON COLUMN monitor.oldest_job.task_queue_id IS 'TaskQueue.';

COMMENT ON COLUMN monitor.oldest_job.cpu_time IS 'CPU bucket, seconds.';

COMMENT ON COLUMN monitor.oldest_job.owner_group IS 'Owner group.';

COMMENT ON COLUMN monitor.oldest_job.job_id IS 'Its oldest waiting job.';

COMMENT ON COLUMN monitor.oldest_job.inserted_at IS 'Since when it waits.';

COMMENT ON COLUMN monitor.oldest_job.waits IS 'How long.';

COMMENT ON COLUMN monitor.oldest_job.matches_last_hour IS 'Matches from this queue within the hour.';

COMMENT ON COLUMN monitor.oldest_job.higher_matches_last_hour IS 'Matches from higher buckets within the hour.';

COMMENT ON COLUMN monitor.oldest_job.starved IS 'True: higher buckets were served within the hour and this queue was not.';

CREATE TABLE taskqueue.resource_class (
    setup text NOT NULL,
    class uuid NOT NULL,
    resource jsonb NOT NULL,
    first_seen timestamp with time zone NOT NULL,
    last_seen timestamp with time zone NOT NULL,
    samples bigint NOT NULL,
    matched bigint NOT NULL
);

ALTER TABLE taskqueue.resource_class OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.resource_class IS 'Classes of resources seen, at most 10,000 a setup, the ones seen last.';

COMMENT ON COLUMN taskqueue.resource_class.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.resource_class.class IS 'Class.';

COMMENT ON COLUMN taskqueue.resource_class.resource IS 'Canonical description.';

COMMENT ON COLUMN taskqueue.resource_class.first_seen IS 'First seen.';

COMMENT ON COLUMN taskqueue.resource_class.last_seen IS 'Last seen.';

COMMENT ON COLUMN taskqueue.resource_class.samples IS 'Ten-second windows in which it asked, a sample.';

COMMENT ON COLUMN taskqueue.resource_class.matched IS 'Those of them whose sampled request got a job.';

CREATE VIEW taskqueue.resource_kind AS
 SELECT setup,
    class,
    (array_agg(resource))[1] AS resource,
    min(first_seen) AS first_seen,
    max(last_seen) AS last_seen,
    (sum(samples))::bigint AS samples,
    (sum(matched))::bigint AS matched
   FROM ( SELECT c.setup,
            c.class,
            c.resource,
            c.first_seen,
            c.last_seen,
            c.samples,
            c.matched
           FROM taskqueue.resource_class c
        UNION ALL
         SELECT r.setup,
            r.class,
            r.resource,
            r.seen_at,
            r.seen_at,
            1,
            (r.matched)::integer AS matched
           FROM taskqueue.resource_seen r) s
  GROUP BY setup, class;

ALTER VIEW taskqueue.resource_kind OWNER TO broker_owner;

COMMENT ON VIEW taskqueue.resource_kind IS 'Kinds of resources seen lately, rolled up or not.';

COMMENT ON COLUMN taskqueue.resource_kind.setup IS 'Tenant.';

COMMENT ON COLUMN taskqueue.resource_kind.class IS 'Kind of resource.';

COMMENT ON COLUMN taskqueue.resource_kind.resource IS 'Description.';

COMMENT ON COLUMN taskqueue.resource_kind.first_seen IS 'First seen.';

COMMENT ON COLUMN taskqueue.resource_kind.last_seen IS 'Last seen.';

COMMENT ON COLUMN taskqueue.resource_kind.samples IS 'Ten-second windows in which it asked.';

COMMENT ON COLUMN taskqueue.resource_kind.matched IS 'Those of them whose sampled request got a job.';

CREATE VIEW monitor.resource_seen AS
 SELECT setup,
    class,
    last_seen,
    first_seen,
    samples,
    matched,
    resource
   FROM taskqueue.resource_kind k;

ALTER VIEW monitor.resource_seen OWNER TO broker_owner;

COMMENT ON VIEW monitor.resource_seen IS 'Kinds of resources seen lately: descriptions as they came, without JobID, CPUTime as the bucket that it covers.';

COMMENT ON COLUMN monitor.resource_seen.setup IS 'Tenant.';

COMMENT ON COLUMN monitor.resource_seen.class IS 'Kind of resource.';

COMMENT ON COLUMN monitor.resource_seen.last_seen IS 'Last seen.';

COMMENT ON COLUMN monitor.resource_seen.first_seen IS 'First seen.';

COMMENT ON COLUMN monitor.resource_seen.samples IS 'Ten-second windows in which it asked.';

COMMENT ON COLUMN monitor.resource_seen.matched IS 'Those of them whose sampled request got a job.';

COMMENT ON COLUMN monitor.resource_seen.resource IS 'Description.';

CREATE VIEW monitor.setup AS
 SELECT setup,
    created_at,
    simulated,
    ( SELECT count(*) AS count
           FROM taskqueue.task_queue q
          WHERE (q.setup = s.setup)) AS task_queues,
    ( SELECT count(*) AS count
           FROM resource.identity i
          WHERE (i.setup = s.setup)) AS identities
   FROM resource.setup s;

ALTER VIEW monitor.setup OWNER TO broker_owner;

COMMENT ON VIEW monitor.setup IS 'Setups, with how much they hold. taskqueue.remove_setup takes one away.';

COMMENT ON COLUMN monitor.setup.setup IS 'Tenant.';

COMMENT ON COLUMN monitor.setup.created_at IS 'Since when.';

COMMENT ON COLUMN monitor.setup.simulated IS 'Time of a simulated setup; null = real time.';

COMMENT ON COLUMN monitor.setup.task_queues IS 'TaskQueues.';

COMMENT ON COLUMN monitor.setup.identities IS 'Database roles that may use it besides operators.';

CREATE TABLE taskqueue.limit_use (
    setup text NOT NULL,
    job_id bigint NOT NULL,
    limit_id bigint NOT NULL,
    slot integer NOT NULL,
    CONSTRAINT limit_use_slot_check CHECK ((slot > 0))
);
ALTER TABLE ONLY taskqueue.limit_use ALTER COLUMN setup SET (n_distinct=1);

ALTER TABLE taskqueue.limit_use OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.limit_use IS 'Slots of running limits that leased jobs hold; never the row that a match looks for, so that a job ends without waiting.';

COMMENT ON COLUMN taskqueue.limit_use.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.limit_use.job_id IS 'Job id, the same in every room of the setup.';

COMMENT ON COLUMN taskqueue.limit_use.limit_id IS 'Limit that the job counts at.';

COMMENT ON COLUMN taskqueue.limit_use.slot IS 'Number of the slot.';

CREATE TABLE taskqueue.posting (
    setup text NOT NULL,
    list_id bigint NOT NULL,
    band integer NOT NULL,
    place integer NOT NULL,
    task_queue_id bigint NOT NULL
);
ALTER TABLE ONLY taskqueue.posting ALTER COLUMN setup SET (n_distinct=1);

ALTER TABLE taskqueue.posting OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.posting IS 'Which queue is at a place of a list. Derived from task_queue and its requirement tables.';

COMMENT ON COLUMN taskqueue.posting.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.posting.list_id IS 'List.';

COMMENT ON COLUMN taskqueue.posting.band IS 'Band of the list.';

COMMENT ON COLUMN taskqueue.posting.place IS 'Place in the band, from 1.';

COMMENT ON COLUMN taskqueue.posting.task_queue_id IS 'TaskQueue.';

CREATE TABLE taskqueue.posting_list (
    setup text NOT NULL,
    site text NOT NULL,
    cpu_time bigint NOT NULL,
    list_id bigint NOT NULL,
    bands integer[] DEFAULT '{}'::integer[] NOT NULL,
    places integer[] DEFAULT '{}'::integer[] NOT NULL,
    ceilings double precision[] DEFAULT '{}'::double precision[] NOT NULL,
    sums double precision[] DEFAULT '{}'::double precision[] NOT NULL,
    rate double precision DEFAULT 0 NOT NULL,
    top double precision DEFAULT 0 NOT NULL,
    room bigint DEFAULT 0 NOT NULL
)
WITH (fillfactor='50', autovacuum_analyze_threshold='10');
ALTER TABLE ONLY taskqueue.posting_list ALTER COLUMN setup SET (n_distinct=1);

ALTER TABLE taskqueue.posting_list OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.posting_list IS 'Lists of the open queues that a site may see, by CPU bucket; what matching draws from (taskqueue.queue_point). Each is kept in bands of about the same priority. Derived from task_queue and its requirement tables.';

COMMENT ON COLUMN taskqueue.posting_list.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.posting_list.site IS 'A site that the queues list and do not ban; ''*'' = they list no site; '''' = every open queue, for resources without a site.';

COMMENT ON COLUMN taskqueue.posting_list.cpu_time IS 'CPU bucket, seconds.';

COMMENT ON COLUMN taskqueue.posting_list.list_id IS 'List.';

COMMENT ON COLUMN taskqueue.posting_list.bands IS 'Its bands, ascending: band b holds priorities of at most taskqueue.ceiling_of_band(b), and above that of band b - 1.';

COMMENT ON COLUMN taskqueue.posting_list.places IS 'Places of each band, from 1; those of queues that have gone are empty until taskqueue.maintain closes the gaps.';

COMMENT ON COLUMN taskqueue.posting_list.ceilings IS 'taskqueue.ceiling_of_band of each band.';

COMMENT ON COLUMN taskqueue.posting_list.sums IS 'Running sum of places times ceiling, band by band.';

COMMENT ON COLUMN taskqueue.posting_list.rate IS 'The last of the sums.';

COMMENT ON COLUMN taskqueue.posting_list.top IS 'The highest ceiling.';

COMMENT ON COLUMN taskqueue.posting_list.room IS 'All its places.';

CREATE VIEW taskqueue.posted_queue AS
 SELECT l.setup,
    l.site,
    l.cpu_time,
    p.band,
    p.task_queue_id,
    l.list_id,
    p.place
   FROM (taskqueue.posting_list l
     JOIN taskqueue.posting p ON (((p.setup = l.setup) AND (p.list_id = l.list_id))));

ALTER VIEW taskqueue.posted_queue OWNER TO broker_owner;

COMMENT ON VIEW taskqueue.posted_queue IS 'Which open queues a site may see, by CPU bucket.';

COMMENT ON COLUMN taskqueue.posted_queue.setup IS 'Tenant.';

COMMENT ON COLUMN taskqueue.posted_queue.site IS 'A site listed and not banned; * = the queue lists none; empty = every open queue.';

COMMENT ON COLUMN taskqueue.posted_queue.cpu_time IS 'CPU bucket, seconds.';

COMMENT ON COLUMN taskqueue.posted_queue.band IS 'Band of its priority.';

COMMENT ON COLUMN taskqueue.posted_queue.task_queue_id IS 'TaskQueue.';

COMMENT ON COLUMN taskqueue.posted_queue.list_id IS 'List.';

COMMENT ON COLUMN taskqueue.posted_queue.place IS 'Place in the list.';

CREATE VIEW taskqueue.queue_count AS
 SELECT q.setup,
    q.task_queue_id,
    ((COALESCE(( SELECT sum(j.j) AS sum
           FROM unnest(t.jobs) j(j)), (0)::numeric) + COALESCE(( SELECT sum(c.change) AS sum
           FROM taskqueue.job_count_change c
          WHERE ((c.setup = q.setup) AND (c.task_queue_id = q.task_queue_id) AND ((c.made_in >= t.known_to) OR (c.made_in = ANY (t.in_flight))))), (0)::numeric)))::bigint AS jobs
   FROM (taskqueue.task_queue q
     LEFT JOIN LATERAL ( SELECT b.jobs,
            b.known_to,
            b.in_flight
           FROM taskqueue.job_count b
          WHERE ((b.setup = q.setup) AND (b.task_queue_id = q.task_queue_id))
          ORDER BY b.known_to DESC, b.count_id DESC
         LIMIT 1) t ON (true));

ALTER VIEW taskqueue.queue_count OWNER TO broker_owner;

COMMENT ON VIEW taskqueue.queue_count IS 'Waiting jobs that are not held, by TaskQueue.';

COMMENT ON COLUMN taskqueue.queue_count.setup IS 'Tenant.';

COMMENT ON COLUMN taskqueue.queue_count.task_queue_id IS 'TaskQueue.';

COMMENT ON COLUMN taskqueue.queue_count.jobs IS 'Waiting jobs that are not held.';

CREATE TABLE taskqueue.site_limit (
    setup text NOT NULL,
    limit_id bigint NOT NULL,
    kind text NOT NULL,
    site text NOT NULL,
    grid_ce text,
    attribute text NOT NULL,
    value text NOT NULL,
    ceiling integer,
    delay interval,
    burst integer,
    next_at timestamp with time zone,
    CONSTRAINT site_limit_burst_check CHECK ((burst > 0)),
    CONSTRAINT site_limit_ceiling_check CHECK ((ceiling >= 0)),
    CONSTRAINT site_limit_delay_check CHECK ((delay >= '00:00:00'::interval)),
    CONSTRAINT site_limit_grid_ce_check CHECK ((grid_ce <> ''::text)),
    CONSTRAINT site_limit_kind CHECK (
CASE kind
    WHEN 'running'::text THEN ((ceiling IS NOT NULL) AND (delay IS NULL))
    ELSE ((ceiling IS NULL) AND (delay IS NOT NULL) AND (burst IS NOT NULL))
END),
    CONSTRAINT site_limit_kind_check CHECK ((kind = ANY (ARRAY['running'::text, 'delay'::text]))),
    CONSTRAINT site_limit_site_check CHECK ((site <> ''::text))
);

ALTER TABLE taskqueue.site_limit OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.site_limit IS 'Limits per site, optionally per CE, on a value of a requirement (section 7).';

COMMENT ON COLUMN taskqueue.site_limit.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.site_limit.limit_id IS 'Limit.';

COMMENT ON COLUMN taskqueue.site_limit.kind IS 'running: jobs there at a time; delay: time between two matches.';

COMMENT ON COLUMN taskqueue.site_limit.site IS 'Site.';

COMMENT ON COLUMN taskqueue.site_limit.grid_ce IS 'Computing element; null = the whole site.';

COMMENT ON COLUMN taskqueue.site_limit.attribute IS 'Requirement key.';

COMMENT ON COLUMN taskqueue.site_limit.value IS 'Value of that key; a job counts at every value that its queue lists.';

COMMENT ON COLUMN taskqueue.site_limit.ceiling IS 'Jobs at a time; kind running.';

COMMENT ON COLUMN taskqueue.site_limit.delay IS 'Time between two matches; kind delay.';

COMMENT ON COLUMN taskqueue.site_limit.burst IS 'Matches that may come at once after a pause; kind delay.';

COMMENT ON COLUMN taskqueue.site_limit.next_at IS 'Token bucket as a clock: when it is full again; kind delay.';

CREATE VIEW monitor.site_limit AS
 SELECT l.setup,
    l.limit_id,
    l.site,
    l.grid_ce,
    l.kind,
    l.attribute,
    l.value,
    l.ceiling,
    l.delay,
    l.burst,
    u.used,
        CASE l.kind
            WHEN 'running'::text THEN (u.used >= l.ceiling)
            ELSE COALESCE((l.next_at > (t.now + (((l.burst - 1))::double precision * l.delay))), false)
        END AS reached,
    b.queues,
    b.jobs
   FROM (((taskqueue.site_limit l
     JOIN resource.setup_time t ON ((t.setup = l.setup)))
     CROSS JOIN LATERAL ( SELECT count(*) AS used
           FROM taskqueue.limit_use i
          WHERE ((i.setup = l.setup) AND (i.limit_id = l.limit_id))) u)
     CROSS JOIN LATERAL ( SELECT count(*) AS queues,
            (COALESCE(sum(n.jobs), (0)::numeric))::bigint AS jobs
           FROM (((taskqueue.posted_queue p
             JOIN taskqueue.task_queue q ON (((q.setup = p.setup) AND (q.task_queue_id = p.task_queue_id))))
             JOIN taskqueue.definition d ON (((d.setup = q.setup) AND (d.definition_id = q.definition_id))))
             JOIN taskqueue.queue_count n ON (((n.setup = p.setup) AND (n.task_queue_id = p.task_queue_id))))
          WHERE ((p.setup = l.setup) AND (p.site = ANY (ARRAY[l.site, '*'::text])) AND taskqueue.lists(d.requirements, l.attribute, l.value))) b);

ALTER VIEW monitor.site_limit OWNER TO broker_owner;

COMMENT ON VIEW monitor.site_limit IS 'Limits with how far they are used, and which waiting jobs they hold back while they are reached.';

COMMENT ON COLUMN monitor.site_limit.setup IS 'Tenant.';

COMMENT ON COLUMN monitor.site_limit.limit_id IS 'Limit.';

COMMENT ON COLUMN monitor.site_limit.site IS 'Site.';

COMMENT ON COLUMN monitor.site_limit.grid_ce IS 'Computing element; null = the whole site.';

COMMENT ON COLUMN monitor.site_limit.kind IS 'running or delay.';

COMMENT ON COLUMN monitor.site_limit.attribute IS 'Requirement key.';

COMMENT ON COLUMN monitor.site_limit.value IS 'Value of it.';

COMMENT ON COLUMN monitor.site_limit.ceiling IS 'Jobs at a time.';

COMMENT ON COLUMN monitor.site_limit.delay IS 'Time between two matches.';

COMMENT ON COLUMN monitor.site_limit.burst IS 'Matches at once after a pause.';

COMMENT ON COLUMN monitor.site_limit.used IS 'Leases that count at it; kind running.';

COMMENT ON COLUMN monitor.site_limit.reached IS 'Whether nothing more may be matched there now.';

COMMENT ON COLUMN monitor.site_limit.queues IS 'Open TaskQueues that the site may see and that count at it.';

COMMENT ON COLUMN monitor.site_limit.jobs IS 'Their waiting jobs.';

CREATE TABLE taskqueue.held_owner (
    setup text NOT NULL,
    owner_dn text NOT NULL,
    held_at timestamp with time zone NOT NULL
);

ALTER TABLE taskqueue.held_owner OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.held_owner IS 'Owners whose queues are held.';

COMMENT ON COLUMN taskqueue.held_owner.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.held_owner.owner_dn IS 'Owner.';

COMMENT ON COLUMN taskqueue.held_owner.held_at IS 'Since when.';

CREATE VIEW monitor.task_queue AS
 SELECT q.setup,
    q.task_queue_id,
    q.owner_group,
    q.owner_dn,
    q.cpu_time,
    q.priority,
    COALESCE(n.jobs, (0)::bigint) AS jobs,
    ( SELECT count(*) AS count
           FROM taskqueue.job h
          WHERE ((h.setup = q.setup) AND (h.task_queue_id = q.task_queue_id) AND h.held)) AS held_jobs,
        CASE
            WHEN (NOT q.enabled) THEN 'disabled'::text
            WHEN q.held THEN 'held'::text
            WHEN (EXISTS ( SELECT
               FROM taskqueue.held_owner o
              WHERE ((o.setup = q.setup) AND (o.owner_dn = q.owner_dn)))) THEN 'owner held'::text
            ELSE 'open'::text
        END AS state,
    ( SELECT min(j.inserted_at) AS min
           FROM taskqueue.job j
          WHERE ((j.setup = q.setup) AND (j.task_queue_id = q.task_queue_id))) AS oldest_job_at,
    q.created_at,
    q.mean_weight,
    ( SELECT count(*) AS count
           FROM taskqueue.task_queue s
          WHERE ((s.setup = q.setup) AND (s.definition_id = q.definition_id))) AS siblings,
    d.requirements
   FROM ((taskqueue.task_queue q
     JOIN taskqueue.definition d ON (((d.setup = q.setup) AND (d.definition_id = q.definition_id))))
     LEFT JOIN taskqueue.queue_count n ON (((n.setup = q.setup) AND (n.task_queue_id = q.task_queue_id))));

ALTER VIEW monitor.task_queue OWNER TO broker_owner;

COMMENT ON VIEW monitor.task_queue IS 'TaskQueues with their requirements, jobs, age and share: what waits, for whom, and what it asks for.';

COMMENT ON COLUMN monitor.task_queue.setup IS 'Tenant.';

COMMENT ON COLUMN monitor.task_queue.task_queue_id IS 'TaskQueue.';

COMMENT ON COLUMN monitor.task_queue.owner_group IS 'Owner group.';

COMMENT ON COLUMN monitor.task_queue.owner_dn IS 'Owner.';

COMMENT ON COLUMN monitor.task_queue.cpu_time IS 'CPU bucket, seconds.';

COMMENT ON COLUMN monitor.task_queue.priority IS 'Share of its entity (section 9).';

COMMENT ON COLUMN monitor.task_queue.jobs IS 'Waiting jobs that are not held.';

COMMENT ON COLUMN monitor.task_queue.held_jobs IS 'Waiting jobs that are held.';

COMMENT ON COLUMN monitor.task_queue.state IS 'open, disabled, held or owner held.';

COMMENT ON COLUMN monitor.task_queue.oldest_job_at IS 'Since when its oldest job waits.';

COMMENT ON COLUMN monitor.task_queue.created_at IS 'When it was opened.';

COMMENT ON COLUMN monitor.task_queue.mean_weight IS 'Mean draw weight of its jobs when the shares were last computed.';

COMMENT ON COLUMN monitor.task_queue.siblings IS 'TaskQueues with the same requirements, itself counted.';

COMMENT ON COLUMN monitor.task_queue.requirements IS 'Canonical requirements.';

CREATE TABLE taskqueue.cpu_bucket (
    setup text NOT NULL,
    cpu_time bigint NOT NULL,
    CONSTRAINT cpu_bucket_cpu_time_check CHECK ((cpu_time > 0))
);

ALTER TABLE taskqueue.cpu_bucket OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.cpu_bucket IS 'CPU buckets: a queue''s CPU time is rounded up to the next one (seed 004: 500, 5000, 50000, 300000).';

COMMENT ON COLUMN taskqueue.cpu_bucket.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.cpu_bucket.cpu_time IS 'Upper edge of the bucket, seconds (DIRAC: normalised CPU work).';

CREATE VIEW monitor.waiting_by_cpu_bucket AS
 SELECT b.setup,
    b.cpu_time,
    count(q.task_queue_id) AS queues,
    (COALESCE(sum(n.jobs), (0)::numeric))::bigint AS jobs
   FROM ((taskqueue.cpu_bucket b
     LEFT JOIN taskqueue.task_queue q ON (((q.setup = b.setup) AND (q.cpu_time = b.cpu_time))))
     LEFT JOIN taskqueue.queue_count n ON (((n.setup = q.setup) AND (n.task_queue_id = q.task_queue_id))))
  GROUP BY b.setup, b.cpu_time;

ALTER VIEW monitor.waiting_by_cpu_bucket OWNER TO broker_owner;

COMMENT ON VIEW monitor.waiting_by_cpu_bucket IS 'TaskQueues and waiting jobs by CPU bucket; empty buckets are shown.';

COMMENT ON COLUMN monitor.waiting_by_cpu_bucket.setup IS 'Tenant.';

COMMENT ON COLUMN monitor.waiting_by_cpu_bucket.cpu_time IS 'CPU bucket, seconds.';

COMMENT ON COLUMN monitor.waiting_by_cpu_bucket.queues IS 'TaskQueues.';

COMMENT ON COLUMN monitor.waiting_by_cpu_bucket.jobs IS 'Waiting jobs that are not held.';

CREATE VIEW monitor.waiting_by_group AS
 SELECT q.setup,
    q.owner_group,
    q.owner_dn,
    count(*) AS queues,
    (sum(n.jobs))::bigint AS jobs,
    sum(q.priority) AS priority,
    min(j.inserted_at) AS oldest_job_at
   FROM ((taskqueue.task_queue q
     JOIN taskqueue.queue_count n ON (((n.setup = q.setup) AND (n.task_queue_id = q.task_queue_id))))
     LEFT JOIN LATERAL ( SELECT min(i.inserted_at) AS inserted_at
           FROM taskqueue.job i
          WHERE ((i.setup = q.setup) AND (i.task_queue_id = q.task_queue_id))) j ON (true))
  GROUP BY q.setup, q.owner_group, q.owner_dn;

ALTER VIEW monitor.waiting_by_group OWNER TO broker_owner;

COMMENT ON VIEW monitor.waiting_by_group IS 'TaskQueues and waiting jobs by owner group and owner.';

COMMENT ON COLUMN monitor.waiting_by_group.setup IS 'Tenant.';

COMMENT ON COLUMN monitor.waiting_by_group.owner_group IS 'Owner group.';

COMMENT ON COLUMN monitor.waiting_by_group.owner_dn IS 'Owner.';

COMMENT ON COLUMN monitor.waiting_by_group.queues IS 'TaskQueues.';

COMMENT ON COLUMN monitor.waiting_by_group.jobs IS 'Waiting jobs that are not held.';

COMMENT ON COLUMN monitor.waiting_by_group.priority IS 'Sum of their priorities.';

COMMENT ON COLUMN monitor.waiting_by_group.oldest_job_at IS 'Since when the oldest waits.';

CREATE TABLE taskqueue.task_queue_platform (
    setup text NOT NULL,
    task_queue_id bigint NOT NULL,
    value text NOT NULL,
    CONSTRAINT task_queue_platform_value_check CHECK ((value <> ''::text))
);

ALTER TABLE taskqueue.task_queue_platform OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.task_queue_platform IS 'Requirement of TaskQueues, one row a value. Platform that may run the jobs; no row = any.';

COMMENT ON COLUMN taskqueue.task_queue_platform.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.task_queue_platform.task_queue_id IS 'TaskQueue.';

COMMENT ON COLUMN taskqueue.task_queue_platform.value IS 'Platform that may run the jobs; no row = any.';

CREATE VIEW monitor.waiting_by_platform AS
 SELECT q.setup,
    COALESCE(v.value, '(any platform)'::text) AS platform,
    count(*) AS queues,
    (sum(n.jobs))::bigint AS jobs
   FROM ((taskqueue.task_queue q
     JOIN taskqueue.queue_count n ON (((n.setup = q.setup) AND (n.task_queue_id = q.task_queue_id))))
     LEFT JOIN taskqueue.task_queue_platform v ON (((v.setup = q.setup) AND (v.task_queue_id = q.task_queue_id))))
  GROUP BY q.setup, v.value;

ALTER VIEW monitor.waiting_by_platform OWNER TO broker_owner;

COMMENT ON VIEW monitor.waiting_by_platform IS 'TaskQueues and waiting jobs by the platforms that may run them; a queue counts at every platform that it lists.';

COMMENT ON COLUMN monitor.waiting_by_platform.setup IS 'Tenant.';

COMMENT ON COLUMN monitor.waiting_by_platform.platform IS 'Platform, or (any platform).';

COMMENT ON COLUMN monitor.waiting_by_platform.queues IS 'TaskQueues.';

COMMENT ON COLUMN monitor.waiting_by_platform.jobs IS 'Waiting jobs that are not held.';

CREATE VIEW monitor.waiting_by_site AS
 SELECT p.setup,
        CASE p.site
            WHEN '*'::text THEN '(any site)'::text
            ELSE p.site
        END AS site,
    count(*) AS queues,
    (sum(n.jobs))::bigint AS jobs
   FROM (taskqueue.posted_queue p
     JOIN taskqueue.queue_count n ON (((n.setup = p.setup) AND (n.task_queue_id = p.task_queue_id))))
  WHERE (p.site <> ''::text)
  GROUP BY p.setup, p.site;

ALTER VIEW monitor.waiting_by_site OWNER TO broker_owner;

COMMENT ON VIEW monitor.waiting_by_site IS 'Open TaskQueues and their jobs by the sites that may run them; a queue counts at every site that it lists. (any site): queues that list none, which every site may take besides its own.';

COMMENT ON COLUMN monitor.waiting_by_site.setup IS 'Tenant.';

COMMENT ON COLUMN monitor.waiting_by_site.site IS 'Site, or (any site).';

COMMENT ON COLUMN monitor.waiting_by_site.queues IS 'Open TaskQueues.';

COMMENT ON COLUMN monitor.waiting_by_site.jobs IS 'Their waiting jobs.';

CREATE TABLE resource.alembic_version (
    version_num character varying(32) NOT NULL
);

ALTER TABLE resource.alembic_version OWNER TO broker_owner;

COMMENT ON TABLE resource.alembic_version IS 'The revision of the tables, kept by Alembic; written by broker db upgrade only.';

COMMENT ON COLUMN resource.alembic_version.version_num IS 'Identifier of the revision.';

CREATE TABLE resource.house (
    only_row boolean DEFAULT true NOT NULL,
    release text NOT NULL,
    role_prefix text NOT NULL,
    server_major integer NOT NULL,
    installed_at timestamp with time zone NOT NULL,
    CONSTRAINT house_only_row_check CHECK (only_row)
);

ALTER TABLE resource.house OWNER TO broker_owner;

COMMENT ON TABLE resource.house IS 'One row: what release is installed here, and how.';

COMMENT ON COLUMN resource.house.only_row IS 'Always true: the table holds one row.';

COMMENT ON COLUMN resource.house.release IS 'Release of the program that last upgraded this database.';

COMMENT ON COLUMN resource.house.role_prefix IS 'What the names of the roles begin with, broker_ as a rule.';

COMMENT ON COLUMN resource.house.server_major IS 'Major version of the PostgreSQL that wrote the definitions in resource.installed_state.';

COMMENT ON COLUMN resource.house.installed_at IS 'When the last upgrade that changed anything ended.';

CREATE TABLE resource.installed_object (
    path text NOT NULL,
    kind text NOT NULL,
    schema_name text NOT NULL,
    object_name text NOT NULL,
    arguments text NOT NULL,
    relation_name text,
    sha256 text NOT NULL,
    release text NOT NULL,
    installed_at timestamp with time zone NOT NULL
);

ALTER TABLE resource.installed_object OWNER TO broker_owner;

COMMENT ON TABLE resource.installed_object IS 'The function, procedure, view or trigger that each file of sql/ made, and the file''s sha256.';

COMMENT ON COLUMN resource.installed_object.path IS 'File below sql/.';

COMMENT ON COLUMN resource.installed_object.kind IS 'function, procedure, view or trigger.';

COMMENT ON COLUMN resource.installed_object.schema_name IS 'Room.';

COMMENT ON COLUMN resource.installed_object.object_name IS 'Name of the object.';

COMMENT ON COLUMN resource.installed_object.arguments IS 'Types of the input arguments as PostgreSQL writes them; empty for views and triggers.';

COMMENT ON COLUMN resource.installed_object.relation_name IS 'Table of a trigger, else null.';

COMMENT ON COLUMN resource.installed_object.sha256 IS 'sha256 of the file''s text, in hex.';

COMMENT ON COLUMN resource.installed_object.release IS 'Release that last wrote the object.';

COMMENT ON COLUMN resource.installed_object.installed_at IS 'When the object was last written.';

CREATE TABLE resource.installed_state (
    item text NOT NULL,
    aspect text NOT NULL,
    value text NOT NULL
);

ALTER TABLE resource.installed_state OWNER TO broker_owner;

COMMENT ON TABLE resource.installed_state IS 'The catalogue as the last upgrade left it, in PostgreSQL''s words; broker db check compares today''s.';

COMMENT ON COLUMN resource.installed_state.item IS 'Kind and name of the object.';

COMMENT ON COLUMN resource.installed_state.aspect IS 'definition, owner, comment, or grant to a role.';

COMMENT ON COLUMN resource.installed_state.value IS 'What the catalogue said.';

ALTER TABLE taskqueue.definition ALTER COLUMN definition_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME taskqueue.definition_definition_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

ALTER TABLE taskqueue.job_count ALTER COLUMN count_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME taskqueue.job_count_count_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE taskqueue.job_count_horizon (
    setup text NOT NULL,
    finished xid8 NOT NULL,
    started xid8 NOT NULL
);

ALTER TABLE taskqueue.job_count_horizon OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.job_count_horizon IS 'How far transactions had come when taskqueue.maintain last looked: counted changes of transactions that had finished then may go when all that had started then have finished.';

COMMENT ON COLUMN taskqueue.job_count_horizon.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.job_count_horizon.finished IS 'All transactions before this one had finished.';

COMMENT ON COLUMN taskqueue.job_count_horizon.started IS 'No transaction from this one on had started.';

CREATE TABLE taskqueue.limit_slot (
    setup text NOT NULL,
    limit_id bigint NOT NULL,
    slot integer NOT NULL,
    CONSTRAINT limit_slot_slot_check CHECK ((slot <> 0))
);
ALTER TABLE ONLY taskqueue.limit_slot ALTER COLUMN setup SET (n_distinct=1);

ALTER TABLE taskqueue.limit_slot OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.limit_slot IS 'Free slots of running limits: a match takes one with SKIP LOCKED, so that a limit is exact and nobody waits.';

COMMENT ON COLUMN taskqueue.limit_slot.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.limit_slot.limit_id IS 'Limit.';

COMMENT ON COLUMN taskqueue.limit_slot.slot IS 'Number of the slot; negative: not a slot, but one too many since the limit was lowered, to go with a free one.';

CREATE TABLE taskqueue.owner_group (
    setup text NOT NULL,
    owner_group text NOT NULL,
    share double precision DEFAULT 1000 NOT NULL,
    job_sharing boolean DEFAULT false NOT NULL,
    allow_background boolean DEFAULT false NOT NULL,
    CONSTRAINT owner_group_owner_group_check CHECK ((owner_group <> ''::text)),
    CONSTRAINT owner_group_share_check CHECK (((share > (0)::double precision) AND (share < 'Infinity'::double precision)))
);

ALTER TABLE taskqueue.owner_group OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.owner_group IS 'Owner groups with their share and properties (section 9). A group without a row has the defaults.';

COMMENT ON COLUMN taskqueue.owner_group.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.owner_group.owner_group IS 'Group used for the submission.';

COMMENT ON COLUMN taskqueue.owner_group.share IS 'Share of the group, any unit; default 1000.';

COMMENT ON COLUMN taskqueue.owner_group.job_sharing IS 'Property JobSharing: one entity for shares, and private pilots of the group run everybody''s jobs.';

COMMENT ON COLUMN taskqueue.owner_group.allow_background IS 'Queues with a mean draw weight of at most 0.1 get the priority 0.001 and take nothing from the share.';

CREATE TABLE taskqueue.owner_weight (
    setup text NOT NULL,
    owner_group text NOT NULL,
    owner_dn text NOT NULL,
    light boolean NOT NULL,
    queues bigint NOT NULL,
    weight numeric NOT NULL
)
WITH (autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_cost_delay='0');
ALTER TABLE ONLY taskqueue.owner_weight ALTER COLUMN setup SET (n_distinct=1);

ALTER TABLE taskqueue.owner_weight OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.owner_weight IS 'How many queues an owner has, and the sum of their mean weights: the sums over the rows. A queue that comes, goes or weighs otherwise appends a row in the same transaction; taskqueue.fold_weights makes them few again. Derived from task_queue.mean_weight.';

COMMENT ON COLUMN taskqueue.owner_weight.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.owner_weight.owner_group IS 'OwnerGroup of the queues.';

COMMENT ON COLUMN taskqueue.owner_weight.owner_dn IS 'OwnerDN of the queues.';

COMMENT ON COLUMN taskqueue.owner_weight.light IS 'Queues of a mean draw weight of at most 0.1: background where the group allows it (section 9).';

COMMENT ON COLUMN taskqueue.owner_weight.queues IS 'Queues, or how many more or fewer there are.';

COMMENT ON COLUMN taskqueue.owner_weight.weight IS 'Sum of their mean draw weights, or the change of it; numeric, so that what goes takes away exactly what came.';

CREATE TABLE taskqueue.platform_compatibility (
    setup text NOT NULL,
    offered text NOT NULL,
    accepted text NOT NULL,
    CONSTRAINT platform_compatibility_accepted_check CHECK ((accepted <> ''::text)),
    CONSTRAINT platform_compatibility_offered_check CHECK ((offered <> ''::text))
);

ALTER TABLE taskqueue.platform_compatibility OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.platform_compatibility IS 'Compatible platforms: a resource that offers the one also offers the other.';

COMMENT ON COLUMN taskqueue.platform_compatibility.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.platform_compatibility.offered IS 'Platform named by a resource.';

COMMENT ON COLUMN taskqueue.platform_compatibility.accepted IS 'Platform that it therefore also offers.';

ALTER TABLE taskqueue.posting_list ALTER COLUMN list_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME taskqueue.posting_list_list_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE taskqueue.request (
    setup text NOT NULL,
    role_name text NOT NULL,
    request_id uuid NOT NULL,
    call text NOT NULL,
    asked uuid NOT NULL,
    answer jsonb NOT NULL,
    made_at timestamp with time zone NOT NULL
);
ALTER TABLE ONLY taskqueue.request ALTER COLUMN setup SET (n_distinct=1);

ALTER TABLE taskqueue.request OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.request IS 'Answers of calls that carried a request id, for ten minutes: the same call repeated gets the same answer.';

COMMENT ON COLUMN taskqueue.request.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.request.role_name IS 'Database role that asked.';

COMMENT ON COLUMN taskqueue.request.request_id IS 'Chosen by the client.';

COMMENT ON COLUMN taskqueue.request.call IS 'Function called.';

COMMENT ON COLUMN taskqueue.request.asked IS 'md5 of the arguments.';

COMMENT ON COLUMN taskqueue.request.answer IS 'Its answer.';

COMMENT ON COLUMN taskqueue.request.made_at IS 'When.';

CREATE TABLE taskqueue.share_correction (
    setup text NOT NULL,
    owner_group text NOT NULL,
    owner_dn text NOT NULL,
    factor double precision NOT NULL,
    CONSTRAINT share_correction_factor_check CHECK (((factor >= (0.2)::double precision) AND (factor <= (5)::double precision)))
);

ALTER TABLE taskqueue.share_correction OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.share_correction IS 'Factors on the shares from the usage in the history, where the setting share_correction is on (section 9).';

COMMENT ON COLUMN taskqueue.share_correction.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.share_correction.owner_group IS 'Group.';

COMMENT ON COLUMN taskqueue.share_correction.owner_dn IS 'Owner; '''' = the whole group, which has JobSharing.';

COMMENT ON COLUMN taskqueue.share_correction.factor IS 'Expected share / used share, within 1/5..5.';

ALTER TABLE taskqueue.site_limit ALTER COLUMN limit_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME taskqueue.site_limit_limit_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE taskqueue.task_queue_banned_site (
    setup text NOT NULL,
    task_queue_id bigint NOT NULL,
    value text NOT NULL,
    CONSTRAINT task_queue_banned_site_value_check CHECK ((value <> ''::text))
);

ALTER TABLE taskqueue.task_queue_banned_site OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.task_queue_banned_site IS 'Requirement of TaskQueues, one row a value. Site that may not run the jobs.';

COMMENT ON COLUMN taskqueue.task_queue_banned_site.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.task_queue_banned_site.task_queue_id IS 'TaskQueue.';

COMMENT ON COLUMN taskqueue.task_queue_banned_site.value IS 'Site that may not run the jobs.';

CREATE TABLE taskqueue.task_queue_grid_ce (
    setup text NOT NULL,
    task_queue_id bigint NOT NULL,
    value text NOT NULL,
    CONSTRAINT task_queue_grid_ce_value_check CHECK ((value <> ''::text))
);

ALTER TABLE taskqueue.task_queue_grid_ce OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.task_queue_grid_ce IS 'Requirement of TaskQueues, one row a value. Computing element that may run the jobs; no row = any.';

COMMENT ON COLUMN taskqueue.task_queue_grid_ce.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.task_queue_grid_ce.task_queue_id IS 'TaskQueue.';

COMMENT ON COLUMN taskqueue.task_queue_grid_ce.value IS 'Computing element that may run the jobs; no row = any.';

CREATE TABLE taskqueue.task_queue_grid_middleware (
    setup text NOT NULL,
    task_queue_id bigint NOT NULL,
    value text NOT NULL,
    CONSTRAINT task_queue_grid_middleware_value_check CHECK ((value <> ''::text))
);

ALTER TABLE taskqueue.task_queue_grid_middleware OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.task_queue_grid_middleware IS 'Requirement of TaskQueues, one row a value. Grid middleware of the pilots; read by pilot submission, never by matching.';

COMMENT ON COLUMN taskqueue.task_queue_grid_middleware.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.task_queue_grid_middleware.task_queue_id IS 'TaskQueue.';

COMMENT ON COLUMN taskqueue.task_queue_grid_middleware.value IS 'Grid middleware of the pilots; read by pilot submission, never by matching.';

CREATE TABLE taskqueue.task_queue_job_type (
    setup text NOT NULL,
    task_queue_id bigint NOT NULL,
    value text NOT NULL,
    CONSTRAINT task_queue_job_type_value_check CHECK ((value <> ''::text))
);

ALTER TABLE taskqueue.task_queue_job_type OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.task_queue_job_type IS 'Requirement of TaskQueues, one row a value. Type of the jobs; no row = any.';

COMMENT ON COLUMN taskqueue.task_queue_job_type.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.task_queue_job_type.task_queue_id IS 'TaskQueue.';

COMMENT ON COLUMN taskqueue.task_queue_job_type.value IS 'Type of the jobs; no row = any.';

CREATE TABLE taskqueue.task_queue_pilot_type (
    setup text NOT NULL,
    task_queue_id bigint NOT NULL,
    value text NOT NULL,
    CONSTRAINT task_queue_pilot_type_value_check CHECK ((value <> ''::text))
);

ALTER TABLE taskqueue.task_queue_pilot_type OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.task_queue_pilot_type IS 'Requirement of TaskQueues, one row a value. Pilot type that may run the jobs (private, or nothing).';

COMMENT ON COLUMN taskqueue.task_queue_pilot_type.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.task_queue_pilot_type.task_queue_id IS 'TaskQueue.';

COMMENT ON COLUMN taskqueue.task_queue_pilot_type.value IS 'Pilot type that may run the jobs (private, or nothing).';

CREATE TABLE taskqueue.task_queue_site (
    setup text NOT NULL,
    task_queue_id bigint NOT NULL,
    value text NOT NULL,
    CONSTRAINT task_queue_site_value_check CHECK ((value <> ''::text))
);

ALTER TABLE taskqueue.task_queue_site OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.task_queue_site IS 'Requirement of TaskQueues, one row a value. Site that may run the jobs; no row = any site.';

COMMENT ON COLUMN taskqueue.task_queue_site.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.task_queue_site.task_queue_id IS 'TaskQueue.';

COMMENT ON COLUMN taskqueue.task_queue_site.value IS 'Site that may run the jobs; no row = any site.';

CREATE TABLE taskqueue.task_queue_submit_pool (
    setup text NOT NULL,
    task_queue_id bigint NOT NULL,
    value text NOT NULL,
    CONSTRAINT task_queue_submit_pool_value_check CHECK ((value <> ''::text))
);

ALTER TABLE taskqueue.task_queue_submit_pool OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.task_queue_submit_pool IS 'Requirement of TaskQueues, one row a value. Pool used to submit pilots for the jobs; read by pilot submission, never by matching.';

COMMENT ON COLUMN taskqueue.task_queue_submit_pool.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.task_queue_submit_pool.task_queue_id IS 'TaskQueue.';

COMMENT ON COLUMN taskqueue.task_queue_submit_pool.value IS 'Pool used to submit pilots for the jobs; read by pilot submission, never by matching.';

CREATE TABLE taskqueue.task_queue_tag (
    setup text NOT NULL,
    task_queue_id bigint NOT NULL,
    value text NOT NULL,
    CONSTRAINT task_queue_tag_value_check CHECK ((value <> ''::text))
);

ALTER TABLE taskqueue.task_queue_tag OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.task_queue_tag IS 'Requirement of TaskQueues, one row a value. Tag that the resource must offer.';

COMMENT ON COLUMN taskqueue.task_queue_tag.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.task_queue_tag.task_queue_id IS 'TaskQueue.';

COMMENT ON COLUMN taskqueue.task_queue_tag.value IS 'Tag that the resource must offer.';

ALTER TABLE taskqueue.task_queue ALTER COLUMN task_queue_id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME taskqueue.task_queue_task_queue_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE taskqueue.unposted (
    setup text NOT NULL,
    task_queue_id bigint NOT NULL
);
ALTER TABLE ONLY taskqueue.unposted ALTER COLUMN setup SET (n_distinct=1);

ALTER TABLE taskqueue.unposted OWNER TO broker_owner;

COMMENT ON TABLE taskqueue.unposted IS 'Queues that were opened while somebody else worked on their lists: posted by the next match that finds nothing else, by one match in sixteen, or by taskqueue.maintain.';

COMMENT ON COLUMN taskqueue.unposted.setup IS 'Tenant: DIRAC''s Setup, PanDA''s vo.';

COMMENT ON COLUMN taskqueue.unposted.task_queue_id IS 'TaskQueue.';

CREATE VIEW taskqueue.wanted_posting AS
 SELECT q.setup,
    s.site,
    q.cpu_time,
    taskqueue.band_of(q.priority) AS band,
    q.task_queue_id
   FROM (taskqueue.task_queue q
     CROSS JOIN LATERAL ((
                 SELECT ''::text AS site
                UNION ALL
                 SELECT '*'::text AS text
                  WHERE (NOT (EXISTS ( SELECT
                           FROM taskqueue.task_queue_site l
                          WHERE ((l.setup = q.setup) AND (l.task_queue_id = q.task_queue_id)))))
        ) UNION
         SELECT l.value
           FROM taskqueue.task_queue_site l
          WHERE ((l.setup = q.setup) AND (l.task_queue_id = q.task_queue_id) AND (NOT (EXISTS ( SELECT
                   FROM taskqueue.task_queue_banned_site b
                  WHERE ((b.setup = l.setup) AND (b.task_queue_id = l.task_queue_id) AND (b.value = l.value))))))) s)
  WHERE (q.enabled AND (NOT q.held) AND (NOT (EXISTS ( SELECT
           FROM taskqueue.held_owner h
          WHERE ((h.setup = q.setup) AND (h.owner_dn = q.owner_dn))))));

ALTER VIEW taskqueue.wanted_posting OWNER TO broker_owner;

COMMENT ON VIEW taskqueue.wanted_posting IS 'The postings that the requirement tables ask for; taskqueue.posting holds exactly these (taskqueue.check_matching compares).';

COMMENT ON COLUMN taskqueue.wanted_posting.setup IS 'Tenant.';

COMMENT ON COLUMN taskqueue.wanted_posting.site IS 'A site listed and not banned; * = the queue lists none; empty = every open queue.';

COMMENT ON COLUMN taskqueue.wanted_posting.cpu_time IS 'CPU bucket, seconds.';

COMMENT ON COLUMN taskqueue.wanted_posting.band IS 'Band of its priority.';

COMMENT ON COLUMN taskqueue.wanted_posting.task_queue_id IS 'TaskQueue.';

ALTER TABLE ONLY taskqueue.history ATTACH PARTITION taskqueue.history_default DEFAULT;

ALTER TABLE ONLY resource.alembic_version
    ADD CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num);

ALTER TABLE ONLY resource.house
    ADD CONSTRAINT house_pkey PRIMARY KEY (only_row);

ALTER TABLE ONLY resource.house_role
    ADD CONSTRAINT house_role_pkey PRIMARY KEY (kind);

ALTER TABLE ONLY resource.house_role
    ADD CONSTRAINT house_role_role_name_key UNIQUE (role_name);

ALTER TABLE ONLY resource.identity
    ADD CONSTRAINT identity_pkey PRIMARY KEY (setup, role_name);

ALTER TABLE ONLY resource.installed_object
    ADD CONSTRAINT installed_object_pkey PRIMARY KEY (path);

ALTER TABLE ONLY resource.installed_state
    ADD CONSTRAINT installed_state_pkey PRIMARY KEY (item, aspect);

ALTER TABLE ONLY resource.setup
    ADD CONSTRAINT setup_pkey PRIMARY KEY (setup);

ALTER TABLE ONLY taskqueue.cpu_bucket
    ADD CONSTRAINT cpu_bucket_pkey PRIMARY KEY (setup, cpu_time);

ALTER TABLE ONLY taskqueue.definition
    ADD CONSTRAINT definition_once UNIQUE (setup, digest);

ALTER TABLE ONLY taskqueue.definition
    ADD CONSTRAINT definition_pkey PRIMARY KEY (setup, definition_id);

ALTER TABLE ONLY taskqueue.ended
    ADD CONSTRAINT ended_pkey PRIMARY KEY (setup, job_id);

ALTER TABLE ONLY taskqueue.held_owner
    ADD CONSTRAINT held_owner_pkey PRIMARY KEY (setup, owner_dn);

ALTER TABLE ONLY taskqueue.job_count_horizon
    ADD CONSTRAINT job_count_horizon_pkey PRIMARY KEY (setup);

ALTER TABLE ONLY taskqueue.job_count
    ADD CONSTRAINT job_count_pkey PRIMARY KEY (setup, task_queue_id, known_to, count_id);

ALTER TABLE ONLY taskqueue.job
    ADD CONSTRAINT job_pkey PRIMARY KEY (setup, job_id);

ALTER TABLE ONLY taskqueue.lease
    ADD CONSTRAINT lease_pkey PRIMARY KEY (setup, job_id);

ALTER TABLE ONLY taskqueue.limit_slot
    ADD CONSTRAINT limit_slot_pkey PRIMARY KEY (setup, limit_id, slot);

ALTER TABLE ONLY taskqueue.limit_use
    ADD CONSTRAINT limit_use_once UNIQUE (setup, limit_id, slot);

ALTER TABLE ONLY taskqueue.limit_use
    ADD CONSTRAINT limit_use_pkey PRIMARY KEY (setup, job_id, limit_id);

ALTER TABLE ONLY taskqueue.owner_group
    ADD CONSTRAINT owner_group_pkey PRIMARY KEY (setup, owner_group);

ALTER TABLE ONLY taskqueue.platform_compatibility
    ADD CONSTRAINT platform_compatibility_pkey PRIMARY KEY (setup, offered, accepted);

ALTER TABLE ONLY taskqueue.posting_list
    ADD CONSTRAINT posting_list_id UNIQUE (setup, list_id);

ALTER TABLE ONLY taskqueue.posting_list
    ADD CONSTRAINT posting_list_pkey PRIMARY KEY (setup, site, cpu_time);

ALTER TABLE ONLY taskqueue.posting
    ADD CONSTRAINT posting_pkey PRIMARY KEY (setup, list_id, band, place);

ALTER TABLE ONLY taskqueue.request
    ADD CONSTRAINT request_pkey PRIMARY KEY (setup, role_name, request_id);

ALTER TABLE ONLY taskqueue.resource_class
    ADD CONSTRAINT resource_class_pkey PRIMARY KEY (setup, class);

ALTER TABLE ONLY taskqueue.setting
    ADD CONSTRAINT setting_pkey PRIMARY KEY (setup);

ALTER TABLE ONLY taskqueue.share_correction
    ADD CONSTRAINT share_correction_pkey PRIMARY KEY (setup, owner_group, owner_dn);

ALTER TABLE ONLY taskqueue.site_limit
    ADD CONSTRAINT site_limit_once UNIQUE NULLS NOT DISTINCT (setup, site, grid_ce, kind, attribute, value);

ALTER TABLE ONLY taskqueue.site_limit
    ADD CONSTRAINT site_limit_pkey PRIMARY KEY (setup, limit_id);

ALTER TABLE ONLY taskqueue.task_queue_banned_site
    ADD CONSTRAINT task_queue_banned_site_pkey PRIMARY KEY (setup, task_queue_id, value);

ALTER TABLE ONLY taskqueue.task_queue_grid_ce
    ADD CONSTRAINT task_queue_grid_ce_pkey PRIMARY KEY (setup, task_queue_id, value);

ALTER TABLE ONLY taskqueue.task_queue_grid_middleware
    ADD CONSTRAINT task_queue_grid_middleware_pkey PRIMARY KEY (setup, task_queue_id, value);

ALTER TABLE ONLY taskqueue.task_queue_job_type
    ADD CONSTRAINT task_queue_job_type_pkey PRIMARY KEY (setup, task_queue_id, value);

ALTER TABLE ONLY taskqueue.task_queue_pilot_type
    ADD CONSTRAINT task_queue_pilot_type_pkey PRIMARY KEY (setup, task_queue_id, value);

ALTER TABLE ONLY taskqueue.task_queue
    ADD CONSTRAINT task_queue_pkey PRIMARY KEY (setup, task_queue_id);

ALTER TABLE ONLY taskqueue.task_queue_platform
    ADD CONSTRAINT task_queue_platform_pkey PRIMARY KEY (setup, task_queue_id, value);

ALTER TABLE ONLY taskqueue.task_queue_site
    ADD CONSTRAINT task_queue_site_pkey PRIMARY KEY (setup, task_queue_id, value);

ALTER TABLE ONLY taskqueue.task_queue_submit_pool
    ADD CONSTRAINT task_queue_submit_pool_pkey PRIMARY KEY (setup, task_queue_id, value);

ALTER TABLE ONLY taskqueue.task_queue_tag
    ADD CONSTRAINT task_queue_tag_pkey PRIMARY KEY (setup, task_queue_id, value);

CREATE INDEX definition_family ON taskqueue.definition USING btree (setup, family);

CREATE INDEX definition_made_in ON taskqueue.definition USING btree (setup, made_in);

CREATE INDEX definition_owner ON taskqueue.definition USING btree (setup, owner_group, owner_dn);

CREATE INDEX ended_at ON taskqueue.ended USING btree (setup, ended_at);

CREATE INDEX history_job ON ONLY taskqueue.history USING btree (setup, job_id, at);

CREATE INDEX history_default_setup_job_id_at_idx ON taskqueue.history_default USING btree (setup, job_id, at);

CREATE INDEX job_count_change_queue ON taskqueue.job_count_change USING btree (setup, task_queue_id, made_in);

CREATE INDEX job_order ON taskqueue.job USING btree (setup, task_queue_id, held, user_priority, job_id);

CREATE INDEX known_offer_digest ON taskqueue.known_offer USING btree (setup, digest);

CREATE INDEX owner_weight_owner ON taskqueue.owner_weight USING btree (setup, owner_group, owner_dn);

CREATE INDEX posting_task_queue ON taskqueue.posting USING btree (setup, task_queue_id);

CREATE INDEX resource_seen_class ON taskqueue.resource_seen USING btree (setup, class, seen_at DESC);

CREATE INDEX share_mark_group ON taskqueue.share_mark USING btree (setup, owner_group);

CREATE INDEX task_queue_banned_site_value ON taskqueue.task_queue_banned_site USING btree (setup, value);

CREATE INDEX task_queue_definition ON taskqueue.task_queue USING btree (setup, definition_id, task_queue_id DESC);

CREATE INDEX task_queue_grid_ce_value ON taskqueue.task_queue_grid_ce USING btree (setup, value);

CREATE INDEX task_queue_grid_middleware_value ON taskqueue.task_queue_grid_middleware USING btree (setup, value);

CREATE INDEX task_queue_job_type_value ON taskqueue.task_queue_job_type USING btree (setup, value);

CREATE INDEX task_queue_owner ON taskqueue.task_queue USING btree (setup, owner_group, owner_dn);

CREATE INDEX task_queue_pilot_type_value ON taskqueue.task_queue_pilot_type USING btree (setup, value);

CREATE INDEX task_queue_platform_value ON taskqueue.task_queue_platform USING btree (setup, value);

CREATE INDEX task_queue_site_value ON taskqueue.task_queue_site USING btree (setup, value);

CREATE INDEX task_queue_submit_pool_value ON taskqueue.task_queue_submit_pool USING btree (setup, value);

CREATE INDEX task_queue_tag_value ON taskqueue.task_queue_tag USING btree (setup, value);

CREATE INDEX unposted_setup ON taskqueue.unposted USING btree (setup, task_queue_id);

ALTER INDEX taskqueue.history_job ATTACH PARTITION taskqueue.history_default_setup_job_id_at_idx;

CREATE TRIGGER task_queue_bucket BEFORE INSERT OR UPDATE OF cpu_time ON taskqueue.task_queue FOR EACH ROW EXECUTE FUNCTION taskqueue.round_cpu_time();

COMMENT ON TRIGGER task_queue_bucket ON taskqueue.task_queue IS 'Rounds CPU time up to the next bucket of the setup.';

ALTER TABLE ONLY resource.identity
    ADD CONSTRAINT identity_setup_fkey FOREIGN KEY (setup) REFERENCES resource.setup(setup) ON DELETE CASCADE;

ALTER TABLE ONLY taskqueue.cpu_bucket
    ADD CONSTRAINT cpu_bucket_setup_fkey FOREIGN KEY (setup) REFERENCES resource.setup(setup) ON DELETE CASCADE;

ALTER TABLE ONLY taskqueue.definition
    ADD CONSTRAINT definition_setup_fkey FOREIGN KEY (setup) REFERENCES resource.setup(setup) ON DELETE CASCADE;

ALTER TABLE ONLY taskqueue.held_owner
    ADD CONSTRAINT held_owner_setup_fkey FOREIGN KEY (setup) REFERENCES resource.setup(setup) ON DELETE CASCADE;

ALTER TABLE ONLY taskqueue.job_count_horizon
    ADD CONSTRAINT job_count_horizon_setup_fkey FOREIGN KEY (setup) REFERENCES resource.setup(setup) ON DELETE CASCADE;

ALTER TABLE ONLY taskqueue.job
    ADD CONSTRAINT job_setup_task_queue_id_fkey FOREIGN KEY (setup, task_queue_id) REFERENCES taskqueue.task_queue(setup, task_queue_id);

ALTER TABLE ONLY taskqueue.owner_group
    ADD CONSTRAINT owner_group_setup_fkey FOREIGN KEY (setup) REFERENCES resource.setup(setup) ON DELETE CASCADE;

ALTER TABLE ONLY taskqueue.platform_compatibility
    ADD CONSTRAINT platform_compatibility_setup_fkey FOREIGN KEY (setup) REFERENCES resource.setup(setup) ON DELETE CASCADE;

ALTER TABLE ONLY taskqueue.posting_list
    ADD CONSTRAINT posting_list_setup_fkey FOREIGN KEY (setup) REFERENCES resource.setup(setup) ON DELETE CASCADE;

ALTER TABLE ONLY taskqueue.posting
    ADD CONSTRAINT posting_setup_task_queue_id_fkey FOREIGN KEY (setup, task_queue_id) REFERENCES taskqueue.task_queue(setup, task_queue_id) ON DELETE CASCADE;

ALTER TABLE ONLY taskqueue.resource_class
    ADD CONSTRAINT resource_class_setup_fkey FOREIGN KEY (setup) REFERENCES resource.setup(setup) ON DELETE CASCADE;

ALTER TABLE ONLY taskqueue.setting
    ADD CONSTRAINT setting_setup_fkey FOREIGN KEY (setup) REFERENCES resource.setup(setup) ON DELETE CASCADE;

ALTER TABLE ONLY taskqueue.share_correction
    ADD CONSTRAINT share_correction_setup_fkey FOREIGN KEY (setup) REFERENCES resource.setup(setup) ON DELETE CASCADE;

ALTER TABLE ONLY taskqueue.site_limit
    ADD CONSTRAINT site_limit_setup_fkey FOREIGN KEY (setup) REFERENCES resource.setup(setup) ON DELETE CASCADE;

ALTER TABLE ONLY taskqueue.task_queue_banned_site
    ADD CONSTRAINT task_queue_banned_site_setup_task_queue_id_fkey FOREIGN KEY (setup, task_queue_id) REFERENCES taskqueue.task_queue(setup, task_queue_id) ON DELETE CASCADE;

ALTER TABLE ONLY taskqueue.task_queue_grid_ce
    ADD CONSTRAINT task_queue_grid_ce_setup_task_queue_id_fkey FOREIGN KEY (setup, task_queue_id) REFERENCES taskqueue.task_queue(setup, task_queue_id) ON DELETE CASCADE;

ALTER TABLE ONLY taskqueue.task_queue_grid_middleware
    ADD CONSTRAINT task_queue_grid_middleware_setup_task_queue_id_fkey FOREIGN KEY (setup, task_queue_id) REFERENCES taskqueue.task_queue(setup, task_queue_id) ON DELETE CASCADE;

ALTER TABLE ONLY taskqueue.task_queue_job_type
    ADD CONSTRAINT task_queue_job_type_setup_task_queue_id_fkey FOREIGN KEY (setup, task_queue_id) REFERENCES taskqueue.task_queue(setup, task_queue_id) ON DELETE CASCADE;

ALTER TABLE ONLY taskqueue.task_queue_pilot_type
    ADD CONSTRAINT task_queue_pilot_type_setup_task_queue_id_fkey FOREIGN KEY (setup, task_queue_id) REFERENCES taskqueue.task_queue(setup, task_queue_id) ON DELETE CASCADE;

ALTER TABLE ONLY taskqueue.task_queue_platform
    ADD CONSTRAINT task_queue_platform_setup_task_queue_id_fkey FOREIGN KEY (setup, task_queue_id) REFERENCES taskqueue.task_queue(setup, task_queue_id) ON DELETE CASCADE;

ALTER TABLE ONLY taskqueue.task_queue
    ADD CONSTRAINT task_queue_setup_definition_id_fkey FOREIGN KEY (setup, definition_id) REFERENCES taskqueue.definition(setup, definition_id);

ALTER TABLE ONLY taskqueue.task_queue
    ADD CONSTRAINT task_queue_setup_fkey FOREIGN KEY (setup) REFERENCES resource.setup(setup) ON DELETE CASCADE;

ALTER TABLE ONLY taskqueue.task_queue_site
    ADD CONSTRAINT task_queue_site_setup_task_queue_id_fkey FOREIGN KEY (setup, task_queue_id) REFERENCES taskqueue.task_queue(setup, task_queue_id) ON DELETE CASCADE;

ALTER TABLE ONLY taskqueue.task_queue_submit_pool
    ADD CONSTRAINT task_queue_submit_pool_setup_task_queue_id_fkey FOREIGN KEY (setup, task_queue_id) REFERENCES taskqueue.task_queue(setup, task_queue_id) ON DELETE CASCADE;

ALTER TABLE ONLY taskqueue.task_queue_tag
    ADD CONSTRAINT task_queue_tag_setup_task_queue_id_fkey FOREIGN KEY (setup, task_queue_id) REFERENCES taskqueue.task_queue(setup, task_queue_id) ON DELETE CASCADE;

GRANT USAGE ON SCHEMA monitor TO broker_operator;
GRANT USAGE ON SCHEMA monitor TO broker_viewer;

GRANT USAGE ON SCHEMA resource TO broker_agent;
GRANT USAGE ON SCHEMA resource TO broker_submitter;
GRANT USAGE ON SCHEMA resource TO broker_operator;
GRANT USAGE ON SCHEMA resource TO broker_viewer;

GRANT USAGE ON SCHEMA taskqueue TO broker_agent;
GRANT USAGE ON SCHEMA taskqueue TO broker_submitter;
GRANT USAGE ON SCHEMA taskqueue TO broker_operator;
GRANT USAGE ON SCHEMA taskqueue TO broker_viewer;

REVOKE ALL ON TYPE taskqueue.leased FROM PUBLIC;

REVOKE ALL ON TYPE taskqueue.offer FROM PUBLIC;

REVOKE ALL ON TYPE taskqueue.stream FROM PUBLIC;

REVOKE ALL ON FUNCTION resource.caller() FROM PUBLIC;

REVOKE ALL ON FUNCTION resource.clear_identity(p_setup text, p_role_name text) FROM PUBLIC;
GRANT ALL ON FUNCTION resource.clear_identity(p_setup text, p_role_name text) TO broker_operator;

REVOKE ALL ON FUNCTION resource.clock(p_setup text) FROM PUBLIC;

REVOKE ALL ON FUNCTION resource.identify(p_setup text) FROM PUBLIC;

REVOKE ALL ON FUNCTION resource.installed_release(OUT release text, OUT revision text) FROM PUBLIC;
GRANT ALL ON FUNCTION resource.installed_release(OUT release text, OUT revision text) TO broker_agent;
GRANT ALL ON FUNCTION resource.installed_release(OUT release text, OUT revision text) TO broker_submitter;
GRANT ALL ON FUNCTION resource.installed_release(OUT release text, OUT revision text) TO broker_operator;
GRANT ALL ON FUNCTION resource.installed_release(OUT release text, OUT revision text) TO broker_viewer;

REVOKE ALL ON FUNCTION resource.look(p_setup text) FROM PUBLIC;

REVOKE ALL ON FUNCTION resource.require_setup(p_setup text) FROM PUBLIC;

REVOKE ALL ON FUNCTION resource.set_clock(p_setup text, p_now timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION resource.set_clock(p_setup text, p_now timestamp with time zone) TO broker_operator;

REVOKE ALL ON FUNCTION resource.set_identity(p_setup text, p_role_name text, p_private boolean, p_owner_group text, p_owner_dn text) FROM PUBLIC;
GRANT ALL ON FUNCTION resource.set_identity(p_setup text, p_role_name text, p_private boolean, p_owner_group text, p_owner_dn text) TO broker_operator;

REVOKE ALL ON FUNCTION taskqueue.accepts(p_definition taskqueue.definition, p_offer taskqueue.offer) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.accepts_banned_grid_ce(p_definition taskqueue.definition, p_offer taskqueue.offer) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.accepts_banned_job_type(p_definition taskqueue.definition, p_offer taskqueue.offer) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.accepts_banned_platform(p_definition taskqueue.definition, p_offer taskqueue.offer) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.accepts_banned_site(p_definition taskqueue.definition, p_offer taskqueue.offer) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.accepts_banned_tag(p_definition taskqueue.definition, p_offer taskqueue.offer) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.accepts_cpu_time(p_definition taskqueue.definition, p_offer taskqueue.offer) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.accepts_grid_ce(p_definition taskqueue.definition, p_offer taskqueue.offer) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.accepts_job_type(p_definition taskqueue.definition, p_offer taskqueue.offer) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.accepts_limits(p_definition taskqueue.definition, p_offer taskqueue.offer) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.accepts_owner(p_definition taskqueue.definition, p_offer taskqueue.offer) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.accepts_pilot_type(p_definition taskqueue.definition, p_offer taskqueue.offer) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.accepts_platform(p_definition taskqueue.definition, p_offer taskqueue.offer) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.accepts_ram(p_definition taskqueue.definition, p_offer taskqueue.offer) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.accepts_required_tag(p_definition taskqueue.definition, p_offer taskqueue.offer) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.accepts_site(p_definition taskqueue.definition, p_offer taskqueue.offer) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.accepts_tag(p_definition taskqueue.definition, p_offer taskqueue.offer) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.answer_given(p_identity resource.identity, p_request_id uuid, p_call text, p_asked uuid) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.attempt_text(p_number integer, p_token uuid) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.attribute_key(p_attribute text) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.band_of(p_priority double precision) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.cancel_job(p_setup text, p_job_id bigint, p_reason text) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.cancel_job(p_setup text, p_job_id bigint, p_reason text) TO broker_submitter;
GRANT ALL ON FUNCTION taskqueue.cancel_job(p_setup text, p_job_id bigint, p_reason text) TO broker_operator;

REVOKE ALL ON FUNCTION taskqueue.canonical_requirements(p_setup text, p_requirements jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.ceiling_of_band(p_band integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.check_batch(p_jobs jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.check_matching(p_setup text) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.check_matching(p_setup text) TO broker_operator;
GRANT ALL ON FUNCTION taskqueue.check_matching(p_setup text) TO broker_viewer;

REVOKE ALL ON FUNCTION taskqueue.clean_counts(p_setup text) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.clear_limit(p_setup text, p_kind text, p_site text, p_ce text, p_attribute text, p_value text) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.clear_limit(p_setup text, p_kind text, p_site text, p_ce text, p_attribute text, p_value text) TO broker_operator;

REVOKE ALL ON FUNCTION taskqueue.close_gaps(p_setup text) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.compatible_platforms(p_setup text, p_platforms text[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.condition(d taskqueue.definition, o taskqueue.offer) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.correct_shares(p_setup text) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.cpu_bucket_of(p_setup text, p_cpu_time numeric) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.definition_of(p_setup text, p_requirements jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.definition_of_job(p_setup text, p_job_id bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.delete_empty_queues(p_setup text) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.delete_empty_queues(p_setup text) TO broker_operator;

REVOKE ALL ON FUNCTION taskqueue.delete_job(p_setup text, p_job_id bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.delete_job(p_setup text, p_job_id bigint) TO broker_submitter;
GRANT ALL ON FUNCTION taskqueue.delete_job(p_setup text, p_job_id bigint) TO broker_operator;

REVOKE ALL ON FUNCTION taskqueue.delete_queue_if_empty(p_setup text, p_task_queue_id bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.delete_queue_if_empty(p_setup text, p_task_queue_id bigint) TO broker_operator;

REVOKE ALL ON FUNCTION taskqueue.draw(p_id bigint, p_seed bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.draw_key(p_draw double precision, p_count double precision, p_priority double precision, p_policy text, p_above double precision) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.drawn_queues(p_setup text, p_offer taskqueue.offer, p_definition_ids bigint[], p_bucket bigint, p_above double precision, p_passed bigint[], p_policy text, p_seed bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.drop_empty_lists(p_setup text, p_list_ids bigint[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.drop_if_empty(p_setup text, p_task_queue_id bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.dump_configuration(p_setup text) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.dump_configuration(p_setup text) TO broker_operator;

REVOKE ALL ON FUNCTION taskqueue.dump_leases(p_setup text) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.dump_leases(p_setup text) TO broker_operator;

REVOKE ALL ON FUNCTION taskqueue.dump_task_queues(p_setup text) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.dump_task_queues(p_setup text) TO broker_operator;

REVOKE ALL ON FUNCTION taskqueue.end_lease(p_lease taskqueue.lease, p_outcome text) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.end_waiting(p_setup text, p_job_id bigint, p_outcome text, p_identity resource.identity) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.enter(p_setup text) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.explain_job(p_setup text, p_job_id bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.explain_job(p_setup text, p_job_id bigint) TO broker_operator;
GRANT ALL ON FUNCTION taskqueue.explain_job(p_setup text, p_job_id bigint) TO broker_viewer;

REVOKE ALL ON FUNCTION taskqueue.explain_match(p_setup text, p_job_id bigint, p_resource jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.explain_match(p_setup text, p_job_id bigint, p_resource jsonb) TO broker_operator;
GRANT ALL ON FUNCTION taskqueue.explain_match(p_setup text, p_job_id bigint, p_resource jsonb) TO broker_viewer;

REVOKE ALL ON FUNCTION taskqueue.family_of(p_requirements jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.fill_queues(p_setup text, p_task_queue_ids bigint[], p_job_ids bigint[], p_user_priorities integer[], p_identity resource.identity) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.find_matching(p_setup text, p_known taskqueue.known_offer) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.finish_job(p_setup text, p_job_id bigint, p_attempt text, p_outcome text) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.finish_job(p_setup text, p_job_id bigint, p_attempt text, p_outcome text) TO broker_agent;
GRANT ALL ON FUNCTION taskqueue.finish_job(p_setup text, p_job_id bigint, p_attempt text, p_outcome text) TO broker_operator;

REVOKE ALL ON FUNCTION taskqueue.first_site(p_offered text[], p_sites text[], p_banned_sites text[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.fold_counts(p_setup text, p_task_queue_id bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.fold_weights(p_setup text, p_group text) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.forget_ended(p_setup text, p_older_than interval) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.forget_ended(p_setup text, p_older_than interval) TO broker_operator;

REVOKE ALL ON FUNCTION taskqueue.forget_offers(p_setup text) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.free_slots(p_setup text, p_job_id bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.hold(p_setup text, p_kind text, p_name text) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.hold(p_setup text, p_kind text, p_name text) TO broker_operator;

REVOKE ALL ON FUNCTION taskqueue.holds_attempt(p_setup text, p_job_id bigint, p_attempt text) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.insert_job(p_setup text, p_job_id bigint, p_requirements jsonb, p_user_priority integer, p_request_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.insert_job(p_setup text, p_job_id bigint, p_requirements jsonb, p_user_priority integer, p_request_id uuid) TO broker_submitter;
GRANT ALL ON FUNCTION taskqueue.insert_job(p_setup text, p_job_id bigint, p_requirements jsonb, p_user_priority integer, p_request_id uuid) TO broker_operator;

REVOKE ALL ON FUNCTION taskqueue.insert_jobs(p_setup text, p_jobs jsonb, p_request_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.insert_jobs(p_setup text, p_jobs jsonb, p_request_id uuid) TO broker_submitter;
GRANT ALL ON FUNCTION taskqueue.insert_jobs(p_setup text, p_jobs jsonb, p_request_id uuid) TO broker_operator;

REVOKE ALL ON FUNCTION taskqueue.is_background(p_weight double precision, p_allow_background boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.is_foreign(p_setup text) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.is_news(p_known taskqueue.known_offer, p_cpu_time bigint, p_matched boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.is_open(p_queue taskqueue.task_queue) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.job_id(p_value jsonb, p_key text) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.job_level(p_setup text, p_task_queue_id bigint, p_except xid8) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.job_priority(p_job_id bigint, p_user_priority numeric) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.jobs_in(p_setup text, p_task_queue_id bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.keep_answer(p_identity resource.identity, p_request_id uuid, p_call text, p_asked uuid, p_answer jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.keep_matching(p_setup text, p_known taskqueue.known_offer, p_ids bigint[], p_snapshot pg_snapshot) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.known_offer_of(p_setup text, p_resource jsonb, p_identity resource.identity) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.lease_batch(p_setup text, p_resource jsonb, p_limit integer, p_seed bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.lease_jobs(p_setup text, p_resource jsonb, p_limit integer, p_seed bigint, p_streams taskqueue.stream[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.lease_of(p_setup text, p_job_id bigint, p_attempt text) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.let_go(p_setup text, p_kind text, p_name text) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.let_go(p_setup text, p_kind text, p_name text) TO broker_operator;

REVOKE ALL ON FUNCTION taskqueue.list_of(p_requirements jsonb, p_key text) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.lists(p_requirements jsonb, p_attribute text, p_value text) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.lists(p_requirements jsonb, p_attribute text, p_value text) TO broker_operator;
GRANT ALL ON FUNCTION taskqueue.lists(p_requirements jsonb, p_attribute text, p_value text) TO broker_viewer;

REVOKE ALL ON FUNCTION taskqueue.load_leases(p_setup text, p_leases jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.load_leases(p_setup text, p_leases jsonb) TO broker_operator;

REVOKE ALL ON FUNCTION taskqueue.load_task_queues(p_setup text, p_task_queues jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.load_task_queues(p_setup text, p_task_queues jsonb) TO broker_operator;

REVOKE ALL ON FUNCTION taskqueue.lock_queue(p_setup text, p_task_queue_id bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.lock_slots(p_setup text, p_requirements jsonb, p_offer taskqueue.offer, OUT taken boolean, OUT slots jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.maintain(p_setup text) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.maintain(p_setup text) TO broker_operator;

REVOKE ALL ON FUNCTION taskqueue.maintain_setup(p_setting taskqueue.setting) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.make_history_partitions(p_days integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.make_queue(p_setup text, p_definition_id bigint, p_weight double precision) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.match_job(p_setup text, p_resource jsonb, p_request_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.match_job(p_setup text, p_resource jsonb, p_request_id uuid) TO broker_agent;
GRANT ALL ON FUNCTION taskqueue.match_job(p_setup text, p_resource jsonb, p_request_id uuid) TO broker_operator;

REVOKE ALL ON FUNCTION taskqueue.match_jobs(p_setup text, p_resource jsonb, p_limit integer, p_request_id uuid) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.match_jobs(p_setup text, p_resource jsonb, p_limit integer, p_request_id uuid) TO broker_agent;
GRANT ALL ON FUNCTION taskqueue.match_jobs(p_setup text, p_resource jsonb, p_limit integer, p_request_id uuid) TO broker_operator;

REVOKE ALL ON FUNCTION taskqueue.match_jobs_with_seed(p_setup text, p_resource jsonb, p_limit integer, p_seed bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.match_jobs_with_seed(p_setup text, p_resource jsonb, p_limit integer, p_seed bigint) TO broker_operator;

REVOKE ALL ON FUNCTION taskqueue.match_once(p_setup text, p_resource jsonb, p_limit integer, p_request_id uuid) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.matching_queues(p_setup text, p_resource jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.matching_queues(p_setup text, p_resource jsonb) TO broker_operator;
GRANT ALL ON FUNCTION taskqueue.matching_queues(p_setup text, p_resource jsonb) TO broker_viewer;

REVOKE ALL ON FUNCTION taskqueue.may_submit(p_identity resource.identity, p_requirements jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.may_touch(p_identity resource.identity, p_job_id bigint, p_definition_id bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.measure_lists(p_setup text, p_list_ids bigint[], p_bands integer[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.new_matching(p_setup text, p_known taskqueue.known_offer) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.note_end(p_lease taskqueue.lease, p_event text) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.note_event(p_lease taskqueue.lease, p_event text) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.note_weight(p_setup text, p_group text, p_owner text, p_weight double precision, p_queues integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.offer_of(p_setup text, p_resource jsonb, p_identity resource.identity) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.offer_once_made(p_setup text, p_resource jsonb, p_identity resource.identity) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.offered(p_key text, p_value jsonb, p_strict_keys text[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.offered_text(p_values text[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.one_number(p_key text, p_value jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.one_text(p_key text, p_value jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.open_queues(p_setup text, p_task_queue_ids bigint[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.own_priority(p_share double precision, p_weight double precision, p_sum double precision, p_allow_background boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.pick_job(p_setup text, p_task_queue_id bigint, p_ten_first boolean, p_policy text, p_seed bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.place_batch(p_identity resource.identity, p_jobs jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.place_jobs(p_setup text, p_requirements jsonb, p_job_ids bigint[], p_user_priorities integer[], p_identity resource.identity, OUT task_queue_id bigint, OUT made bigint[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.post_pending(p_setup text, p_limit integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.post_queues(p_setup text, p_task_queue_ids bigint[], p_wait boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.queue_of_job(p_setup text, p_job_id bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.queue_of_job(p_setup text, p_job_id bigint) TO broker_submitter;
GRANT ALL ON FUNCTION taskqueue.queue_of_job(p_setup text, p_job_id bigint) TO broker_operator;

REVOKE ALL ON FUNCTION taskqueue.queue_point(p_setup text, p_sites text[], p_bucket bigint, p_above double precision, p_policy text, p_seed bigint, p_offer taskqueue.offer, p_tests integer) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.queues_with_room(p_setup text, p_definition_ids bigint[], p_size bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.reaches(p_requirements jsonb, p_limits bigint[], p_setup text) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.rebuild_matching(p_setup text) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.rebuild_matching(p_setup text) TO broker_operator;

REVOKE ALL ON FUNCTION taskqueue.recompute_shares(p_setup text, p_group text) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.recompute_shares(p_setup text, p_group text) TO broker_operator;

REVOKE ALL ON FUNCTION taskqueue.reconfigure(p_setup text) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.refresh_statistics() FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.refresh_statistics() TO broker_submitter;
GRANT ALL ON FUNCTION taskqueue.refresh_statistics() TO broker_operator;

REVOKE ALL ON FUNCTION taskqueue.release_job(p_setup text, p_job_id bigint, p_attempt text) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.release_job(p_setup text, p_job_id bigint, p_attempt text) TO broker_agent;
GRANT ALL ON FUNCTION taskqueue.release_job(p_setup text, p_job_id bigint, p_attempt text) TO broker_operator;

REVOKE ALL ON FUNCTION taskqueue.remove_setup(p_setup text) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.remove_setup(p_setup text) TO broker_operator;

REVOKE ALL ON FUNCTION taskqueue.replace_definition(p_setup text, p_old bigint, p_new bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.report_job(p_setup text, p_job_id bigint, p_attempt text) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.report_job(p_setup text, p_job_id bigint, p_attempt text) TO broker_agent;
GRANT ALL ON FUNCTION taskqueue.report_job(p_setup text, p_job_id bigint, p_attempt text) TO broker_operator;

REVOKE ALL ON FUNCTION taskqueue.require_read_committed() FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.require_setup(p_setup text) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.requirements_of_queue(p_queue taskqueue.task_queue) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.return_job(p_lease taskqueue.lease) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.roll_up_resources(p_setup text) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.round_cpu_time() FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.says_any(p_texts text[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.see_resource(p_setup text, p_resource jsonb, p_known taskqueue.known_offer, p_matched boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.set_cpu_buckets(p_setup text, p_buckets bigint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.set_cpu_buckets(p_setup text, p_buckets bigint[]) TO broker_operator;

REVOKE ALL ON FUNCTION taskqueue.set_group(p_setup text, p_group text, p_share double precision, p_job_sharing boolean, p_allow_background boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.set_group(p_setup text, p_group text, p_share double precision, p_job_sharing boolean, p_allow_background boolean) TO broker_operator;

REVOKE ALL ON FUNCTION taskqueue.set_held(p_setup text, p_kind text, p_name text, p_held boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.set_job_held(p_setup text, p_job_id bigint, p_held boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.set_limit(p_setup text, p_kind text, p_site text, p_ce text, p_attribute text, p_value text, p_limit numeric, p_burst integer) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.set_limit(p_setup text, p_kind text, p_site text, p_ce text, p_attribute text, p_value text, p_limit numeric, p_burst integer) TO broker_operator;

REVOKE ALL ON FUNCTION taskqueue.set_owner_held(p_setup text, p_owner_dn text, p_held boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.set_platform_compatibility(p_setup text, p_offered text, p_accepted text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.set_platform_compatibility(p_setup text, p_offered text, p_accepted text[]) TO broker_operator;

REVOKE ALL ON FUNCTION taskqueue.set_queue_enabled(p_setup text, p_task_queue_id bigint, p_enabled boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.set_queue_enabled(p_setup text, p_task_queue_id bigint, p_enabled boolean) TO broker_operator;

REVOKE ALL ON FUNCTION taskqueue.set_settings(p_setup text, p_settings jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION taskqueue.set_settings(p_setup text, p_settings jsonb) TO broker_operator;

REVOKE ALL ON FUNCTION taskqueue.set_slots(p_setup text, p_limit_id bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.settle_ids(p_setup text, p_job_ids bigint[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.share_of_queue(p_setup text, p_group text) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.state_of_job(p_setup text, p_job_id bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.surplus_slots(p_setup text, p_limit_id bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.tags_offered(p_resource jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.take_job(p_setup text, p_task_queue_id bigint, p_ten_first boolean, p_policy text, p_seed bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.tests_of(p_offer taskqueue.offer) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.texts(p_key text, p_value jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.use_slots(p_setup text, p_job_id bigint, p_slots jsonb) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.user_priority_order(p_setup text, p_task_queue_id bigint, p_seed bigint, p_ten_first boolean, p_policy text) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.vacate_places(p_setup text, p_task_queue_id bigint) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.wanted_queue(p_setup text, p_offer taskqueue.offer) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.weight(p_user_priority integer, p_ten_first boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.weight_of_queue(p_queue taskqueue.task_queue, p_ten_first boolean) FROM PUBLIC;

REVOKE ALL ON FUNCTION taskqueue.with_limits(p_setup text, p_resource jsonb, p_offer taskqueue.offer) FROM PUBLIC;

GRANT SELECT ON TABLE monitor.health_session TO broker_operator;
GRANT SELECT ON TABLE monitor.health_session TO broker_viewer;

GRANT SELECT ON TABLE monitor.health_setting TO broker_operator;
GRANT SELECT ON TABLE monitor.health_setting TO broker_viewer;

GRANT SELECT ON TABLE monitor.health_snapshot TO broker_operator;
GRANT SELECT ON TABLE monitor.health_snapshot TO broker_viewer;

GRANT SELECT ON TABLE monitor.health_table TO broker_operator;
GRANT SELECT ON TABLE monitor.health_table TO broker_viewer;

GRANT SELECT ON TABLE monitor.health_work TO broker_operator;
GRANT SELECT ON TABLE monitor.health_work TO broker_viewer;

GRANT SELECT ON TABLE monitor.health TO broker_operator;
GRANT SELECT ON TABLE monitor.health TO broker_viewer;

GRANT SELECT ON TABLE monitor.job TO broker_operator;
GRANT SELECT ON TABLE monitor.job TO broker_viewer;

GRANT SELECT ON TABLE monitor.job_in_two_states TO broker_operator;
GRANT SELECT ON TABLE monitor.job_in_two_states TO broker_viewer;

GRANT SELECT ON TABLE monitor.job_without_queue TO broker_operator;
GRANT SELECT ON TABLE monitor.job_without_queue TO broker_viewer;

GRANT SELECT ON TABLE monitor.lease TO broker_operator;
GRANT SELECT ON TABLE monitor.lease TO broker_viewer;

GRANT SELECT ON TABLE monitor.matches_per_minute TO broker_operator;
GRANT SELECT ON TABLE monitor.matches_per_minute TO broker_viewer;

GRANT SELECT ON TABLE monitor.matching_difference TO broker_operator;
GRANT SELECT ON TABLE monitor.matching_difference TO broker_viewer;

GRANT SELECT ON TABLE monitor.oldest_job TO broker_operator;
GRANT SELECT ON TABLE monitor.oldest_job TO broker_viewer;

GRANT SELECT ON TABLE monitor.resource_seen TO broker_operator;
GRANT SELECT ON TABLE monitor.resource_seen TO broker_viewer;

GRANT SELECT ON TABLE monitor.setup TO broker_operator;
GRANT SELECT ON TABLE monitor.setup TO broker_viewer;

GRANT SELECT ON TABLE monitor.site_limit TO broker_operator;
GRANT SELECT ON TABLE monitor.site_limit TO broker_viewer;

GRANT SELECT ON TABLE monitor.task_queue TO broker_operator;
GRANT SELECT ON TABLE monitor.task_queue TO broker_viewer;

GRANT SELECT ON TABLE monitor.waiting_by_cpu_bucket TO broker_operator;
GRANT SELECT ON TABLE monitor.waiting_by_cpu_bucket TO broker_viewer;

GRANT SELECT ON TABLE monitor.waiting_by_group TO broker_operator;
GRANT SELECT ON TABLE monitor.waiting_by_group TO broker_viewer;

GRANT SELECT ON TABLE monitor.waiting_by_platform TO broker_operator;
GRANT SELECT ON TABLE monitor.waiting_by_platform TO broker_viewer;

GRANT SELECT ON TABLE monitor.waiting_by_site TO broker_operator;
GRANT SELECT ON TABLE monitor.waiting_by_site TO broker_viewer;

ALTER DEFAULT PRIVILEGES FOR ROLE broker_owner REVOKE ALL ON TYPES FROM PUBLIC;

ALTER DEFAULT PRIVILEGES FOR ROLE broker_owner REVOKE ALL ON FUNCTIONS FROM PUBLIC;
