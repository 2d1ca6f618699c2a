-- The query that decides by profile documented, algorithm production_job, for many pairs; made by a test.
-- $1 has the facts by subject, $2 the tasks, $3 the queues. t, q, p stand for rows of all facts.
WITH filtered AS MATERIALIZED (
  SELECT
    x.task_number,
    ARRAY_AGG(CAST(x.queue_number AS INT)) FILTER(WHERE x.failed_0 IS NOT NULL) AS lost,
    ARRAY_AGG(x.failed_0) FILTER(WHERE x.failed_0 IS NOT NULL) AS reasons,
    CAST(NULL AS TEXT[]) AS marks,
    COUNT(*) FILTER(WHERE STARTS_WITH(x.failed_0, '!')) AS outside,
    ARRAY_AGG(
      row(
        x.queue_number, x.marked_0, x.p_is_preassigned, x.p_preassigned_alone, x.p_is_nucleus_queue, x.p_is_near,
        x.p_is_own, x.p_closeness, x.p_queued, x.p_queued_express, x.p_mbps, x.p_running, x.p_starting, x.p_activated,
        x.p_assigned, x.p_defined, x.p_numslots, x.p_type_running, x.p_type_starting, x.p_type_activated,
        x.p_type_assigned, x.p_type_defined, x.p_available_files, x.p_available_bytes, x.p_reachable_files,
        x.p_reachable_bytes, x.p_input_is_local, x.p_has_readable_source, x.p_zero_share, x.p_software,
        x.p_platform_level_percent
      )
    ) FILTER(WHERE x.failed_0 IS NULL) AS passed
  FROM (
    SELECT
      x.*, t.task_id, q.queue, q.unified_name,
      CASE
        WHEN COALESCE(CAST(NULL AS TEXT)) IS NULL
        THEN COALESCE(
          '!prod-initial-all\t' || brokerage.candidate_all(t, q, p),
          '!prod-initial-preassigned\t' || brokerage.candidate_preassigned(t, q, p, CAST('{"by": "prod-initial-preassigned"}' AS JSONB)),
          '!preassigned-merge\t' || brokerage.candidate_preassigned(t, q, p, CAST('{"by": "preassigned-merge"}' AS JSONB)),
          'queue-status\t-status: ' || brokerage.rule_queue_status(t, q, p, CAST('{}' AS JSONB)),
          'failed-there\t-failedthere: ' || brokerage.rule_failed_there(t, q, p),
          'link-blocked\t-link_unusable: ' || brokerage.rule_link_blocked(t, q, p, CAST('{}' AS JSONB)),
          'link-queue-cap\t-link_unusable: ' || brokerage.rule_link_queue_cap(t, q, p, CAST('{}' AS JSONB)),
          'nucleus-queue-cap\t-links_full: ' || brokerage.rule_nucleus_queue_cap(t, q, p, CAST('{}' AS JSONB)),
          'high-prio-opportunistic\t-opportunistic: ' || brokerage.rule_high_prio_opportunistic(t, q, p),
          'inactive-queue\t-inactive: ' || brokerage.rule_inactive_queue(t, q, p, CAST('{}' AS JSONB)),
          'zero-share\t-zeroshare: ' || brokerage.rule_zero_share(t, q, p, CAST('{}' AS JSONB)),
          'io-cutoff\t-io: ' || brokerage.rule_io_cutoff(t, q, p),
          'disk-io\t-diskIO: ' || brokerage.rule_disk_io(t, q, p),
          'core-count\t-cpucore: ' || brokerage.rule_core_count(t, q, p, CAST('{}' AS JSONB)),
          'max-core-count\t-max_cpucore: ' || brokerage.rule_max_core_count(t, q, p, CAST('{}' AS JSONB)),
          'software\t-cache: ' || brokerage.rule_software(t, q, p, CAST('{}' AS JSONB)),
          'memory\t' || brokerage.rule_memory(t, q, p),
          'direct-io-only\t-remoteio: ' || brokerage.rule_direct_io_only(t, q, p, CAST('{}' AS JSONB)),
          'scratch-disk\t-disk: ' || brokerage.rule_scratch_disk(t, q, p),
          'storage-space\t-disk: ' || brokerage.rule_storage_space(t, q, p),
          'storage-blacklist\t' || brokerage.rule_storage_blacklist(t, q, p),
          'walltime-scout\t' || brokerage.rule_walltime_scout(t, q, p),
          'walltime\t' || brokerage.rule_walltime(t, q, p),
          'wn-connectivity\t-network: ' || brokerage.rule_wn_connectivity(t, q, p),
          'event-service\t' || brokerage.rule_event_service(t, q, p, CAST('{}' AS JSONB)),
          'transferring-limit\t-transferring: ' || brokerage.rule_transferring_limit(t, q, p),
          't1-weight\t-t1weight: ' || brokerage.rule_t1_weight(t, q, p, CAST('{}' AS JSONB)),
          'full-chain-job\t' || brokerage.rule_full_chain_job(t, q, p),
          'no-pilot\t-nopilot: ' || brokerage.rule_no_pilot(t, q, p, CAST('{}' AS JSONB)),
          'express-network-threshold\t-lowNetworkWeight: ' || brokerage.rule_express_network_threshold(t, q, p),
          CAST(NULL AS TEXT)
        )
      END AS failed_0,
      CASE WHEN COALESCE(CAST(NULL AS TEXT)) IS NULL THEN COALESCE(CAST(NULL AS TEXT)) END AS marked_0,
      CAST(NULL AS TEXT[]) AS failures_0
    FROM (
      SELECT
        p.task_number, p.queue_number, p.is_preassigned AS p_is_preassigned, p.preassigned_alone AS p_preassigned_alone,
        p.is_nucleus_queue AS p_is_nucleus_queue, p.is_near AS p_is_near, p.is_own AS p_is_own,
        p.closeness AS p_closeness, p.queued AS p_queued, p.queued_express AS p_queued_express, p.mbps AS p_mbps,
        p.running AS p_running, p.starting AS p_starting, p.activated AS p_activated, p.assigned AS p_assigned,
        p.defined AS p_defined, p.numslots AS p_numslots, p.type_running AS p_type_running,
        p.type_starting AS p_type_starting, p.type_activated AS p_type_activated, p.type_assigned AS p_type_assigned,
        p.type_defined AS p_type_defined, p.available_files AS p_available_files,
        p.available_bytes AS p_available_bytes, p.reachable_files AS p_reachable_files,
        p.reachable_bytes AS p_reachable_bytes, p.input_is_local AS p_input_is_local,
        p.has_readable_source AS p_has_readable_source,
        p.zero_share AS p_zero_share, p.software AS p_software,
        p.platform_level_percent AS p_platform_level_percent
      FROM brokerage.facts_of_pairs($1, $2, $3) AS p
    ) AS x
    JOIN UNNEST($2) WITH ORDINALITY AS t ON t.ordinality = x.task_number
    JOIN UNNEST($3) WITH ORDINALITY AS q ON q.ordinality = x.queue_number
    OFFSET 0
  ) AS x
  GROUP BY x.task_number
), judged AS MATERIALIZED (
  SELECT
    x.task_number, x.queue_number, x.task_id, x.queue, x.unified_name,
    COALESCE(CAST(NULL AS TEXT), x.marked_0, x.failed_1, x.marked_1) AS failed,
    COALESCE(x.marked_1, x.marked_0) AS marked, CAST(NULL AS TEXT[]) AS failures,
    x.factors[1] * x.factors[2] * x.factors[3] AS weight,
    x.factors AS factors, x.queued, x.capacity, x.chunk, x.first, x.spared
  FROM (
    SELECT
      x.*,
      CAST((
        CASE WHEN COALESCE(CAST(NULL AS TEXT), x.marked_0, x.failed_1) IS NULL THEN brokerage.queued_jobs(t, q, p) END
      ) AS BIGINT) AS queued,
      CAST((
        CASE
          WHEN COALESCE(CAST(NULL AS TEXT), x.marked_0, x.failed_1) IS NULL
          THEN brokerage.running_jobs_cap(t, q, p, CAST('{}' AS JSONB))
        END
      ) AS BIGINT) AS capacity,
      CAST((
        CASE WHEN COALESCE(CAST(NULL AS TEXT), x.marked_0, x.failed_1) IS NULL THEN brokerage.job_chunk(t, q, p) END
      ) AS INT) AS chunk,
      CAST((NULL) AS DOUBLE PRECISION) AS first, FALSE AS spared
    FROM (
      SELECT
        x.*,
        CASE
          WHEN COALESCE(CAST(NULL AS TEXT), x.marked_0) IS NULL
          THEN COALESCE('cap\t-cap: ' || brokerage.rule_cap(t, q, p), CAST(NULL AS TEXT))
        END AS failed_1,
        CASE WHEN COALESCE(CAST(NULL AS TEXT), x.marked_0) IS NULL THEN COALESCE(CAST(NULL AS TEXT)) END AS marked_1,
        CAST(NULL AS TEXT[]) AS failures_1
      FROM (
        SELECT
          x.*, t.task_id, q.queue, q.unified_name,
          CASE
            WHEN COALESCE(CAST(NULL AS TEXT), x.marked_0) IS NULL
            THEN CAST(ARRAY[brokerage.weight_basic(t, q, p), brokerage.weight_data(t, q, p), brokerage.weight_network(t, q, p)] AS DOUBLE PRECISION[])
          END AS factors
        FROM (
          SELECT s.task_number, l.*
          FROM filtered AS s
          CROSS JOIN LATERAL UNNEST(s.passed) AS l(queue_number BIGINT, marked_0 TEXT, p_is_preassigned BOOLEAN, p_preassigned_alone BOOLEAN, p_is_nucleus_queue BOOLEAN, p_is_near BOOLEAN, p_is_own BOOLEAN, p_closeness DOUBLE PRECISION, p_queued DOUBLE PRECISION, p_queued_express DOUBLE PRECISION, p_mbps DOUBLE PRECISION, p_running BIGINT, p_starting BIGINT, p_activated BIGINT, p_assigned BIGINT, p_defined BIGINT, p_numslots BIGINT, p_type_running BIGINT, p_type_starting BIGINT, p_type_activated BIGINT, p_type_assigned BIGINT, p_type_defined BIGINT, p_available_files BIGINT, p_available_bytes BIGINT, p_reachable_files BIGINT, p_reachable_bytes BIGINT, p_input_is_local BOOLEAN, p_has_readable_source BOOLEAN, p_zero_share TEXT, p_software TEXT, p_platform_level_percent DOUBLE PRECISION)
        ) AS x
        JOIN UNNEST($2) WITH ORDINALITY AS t ON t.ordinality = x.task_number
        JOIN UNNEST($3) WITH ORDINALITY AS q ON q.ordinality = x.queue_number
        OFFSET 0
      ) AS x
      LEFT JOIN UNNEST($2) WITH ORDINALITY AS t
        ON t.ordinality = CASE WHEN COALESCE(CAST(NULL AS TEXT)) IS NULL THEN x.task_number END
      LEFT JOIN UNNEST($3) WITH ORDINALITY AS q
        ON q.ordinality = CASE WHEN COALESCE(CAST(NULL AS TEXT)) IS NULL THEN x.queue_number END
      OFFSET 0
    ) AS x
    LEFT JOIN UNNEST($2) WITH ORDINALITY AS t
      ON t.ordinality = CASE WHEN COALESCE(CAST(NULL AS TEXT)) IS NULL THEN x.task_number END
    LEFT JOIN UNNEST($3) WITH ORDINALITY AS q
      ON q.ordinality = CASE WHEN COALESCE(CAST(NULL AS TEXT)) IS NULL THEN x.queue_number END
  ) AS x
), ranked AS MATERIALIZED (
  SELECT
    x.*,
    ROW_NUMBER() OVER (PARTITION BY x.task_number ORDER BY x.weight DESC NULLS LAST, x.queue COLLATE "C") AS place,
    CASE WHEN NOT x.spared THEN CAST('10' AS BIGINT) END AS best,
    CAST('top-10\t-low_weight: ' AS TEXT) AS best_rule
  FROM judged AS x
  WHERE x.failed IS NULL
), decided AS NOT MATERIALIZED (
  SELECT
    v.task_number,
    ARRAY_AGG(CAST(v.queue_number AS INT)) FILTER(WHERE v.is_lost) AS lost,
    ARRAY_AGG(v.failed) FILTER(WHERE v.is_lost) AS reasons,
    ARRAY_AGG(
      brokerage.verdict_of(v.queue, v.failed, v.place, v.best, v.best_rule, v.weight, v.factors, v.queued, v.capacity, v.chunk)
    ) FILTER(WHERE NOT v.is_lost) AS queues,
    COUNT(*) FILTER(WHERE v.failed IS NULL AND v.place <= COALESCE(v.best, v.place)) AS kept,
    COUNT(*) FILTER(WHERE v.failed NOT LIKE '!%' OR v.place > v.best) AS rejected,
    COUNT(*) FILTER(WHERE v.failed LIKE '!%') AS outside
  FROM (
    SELECT
      j.task_number, j.queue_number, j.queue, j.failed, j.factors IS NULL AS is_lost, CAST(NULL AS BIGINT) AS place,
      CAST(NULL AS BIGINT) AS best, NULL AS best_rule, j.weight, j.factors, CAST(NULL AS BIGINT) AS queued,
      CAST(NULL AS BIGINT) AS capacity, CAST(NULL AS INT) AS chunk
    FROM judged AS j
    WHERE j.failed IS NOT NULL
    UNION ALL
    SELECT
      r.task_number, r.queue_number, r.queue, NULL, FALSE, r.place, r.best, r.best_rule, r.weight, r.factors, r.queued,
      r.capacity, r.chunk
    FROM ranked AS r
  ) AS v
  GROUP BY v.task_number
), again AS MATERIALIZED (
  SELECT j.task_number
  FROM (
    SELECT l.task_number, l.failed, l.marked
    FROM judged AS l
    WHERE NOT l.task_number IN (SELECT r.task_number FROM ranked AS r)
    UNION ALL
    SELECT DISTINCT s.task_number, brokerage.reason_head(l.failed), brokerage.reason_head(l.marked)
    FROM filtered AS s
    CROSS JOIN LATERAL UNNEST(s.reasons, s.marks) AS l(failed, marked)
    WHERE NOT s.task_number IN (SELECT r.task_number FROM ranked AS r)
  ) AS j
  GROUP BY j.task_number
  HAVING FALSE
)
SELECT
  t.ordinality, t.task_id,
  CASE
    WHEN t.ordinality IN (SELECT a.task_number FROM again AS a)
    THEN NULL
    WHEN d.kept > 0
    THEN 'candidates'
    ELSE 'pending'
  END,
  CAST(NULL AS TEXT), CAST(NULL AS TEXT), CAST(NULL AS TIMESTAMPTZ),
  CAST(COALESCE(d.kept, 0) AS INT),
  CAST((COALESCE(d.rejected, 0) + COALESCE(cardinality(s.lost), 0) - COALESCE(s.outside, 0)) AS INT),
  CAST((COALESCE(d.outside, 0) + COALESCE(s.outside, 0)) AS INT), s.lost || d.lost, s.reasons || d.reasons, d.queues,
  CAST(NULL AS BIGINT[]), CAST(NULL AS TEXT), CAST(NULL AS DOUBLE PRECISION)
FROM UNNEST($2) WITH ORDINALITY AS t
LEFT JOIN filtered AS s ON s.task_number = t.ordinality
LEFT JOIN decided AS d ON d.task_number = t.ordinality
