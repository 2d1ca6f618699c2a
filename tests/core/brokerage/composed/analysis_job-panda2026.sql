-- The query that decides by profile panda2026, algorithm analysis_job, for many pairs; made by a test.
-- $1 has the facts by subject, $2 the tasks, $3 the queues. t, q, p stand for rows of all facts.
WITH filtered AS MATERIALIZED (
  SELECT
    x.task_number,
    ARRAY_AGG(CAST(x.queue_number AS INT)) FILTER(WHERE x.failed_0 IS NOT NULL) AS lost,
    ARRAY_AGG(x.failed_0) FILTER(WHERE x.failed_0 IS NOT NULL) AS reasons,
    ARRAY_AGG(x.marked_0) FILTER(WHERE x.failed_0 IS NOT NULL) AS marks,
    COUNT(*) FILTER(WHERE STARTS_WITH(x.failed_0, '!')) AS outside,
    ARRAY_AGG(
      row(
        x.queue_number, x.marked_0, x.p_is_preassigned, x.p_preassigned_alone, x.p_is_nucleus_queue, x.p_is_near,
        x.p_is_own, x.p_closeness, x.p_queued, x.p_queued_express, x.p_mbps, x.p_running, x.p_starting, x.p_activated,
        x.p_assigned, x.p_defined, x.p_numslots, x.p_type_running, x.p_type_starting, x.p_type_activated,
        x.p_type_assigned, x.p_type_defined, x.p_available_files, x.p_available_bytes, x.p_reachable_files,
        x.p_reachable_bytes, x.p_input_is_local, x.p_has_readable_source, x.p_zero_share, x.p_software,
        x.p_platform_level_percent, x.p_input_problem, x.p_input_copies, x.p_failed, x.p_closed, x.p_finished,
        x.p_user_queued, x.p_user_running, x.p_users, x.p_users_running, x.p_to_running_rate
      )
    ) FILTER(WHERE x.failed_0 IS NULL) AS passed
  FROM (
    SELECT
      x.*, t.task_id, q.queue, q.unified_name,
      CASE
        WHEN COALESCE(CAST(NULL AS TEXT)) IS NULL
        THEN COALESCE(
          '!anal-initial\t' || brokerage.candidate_analysis(t, q, p, CAST('{"code": true}' AS JSONB)),
          'anal-locality\t' || brokerage.rule_anal_locality(t, q, p, CAST('{}' AS JSONB)),
          'queue-status\t-status: ' || brokerage.rule_queue_status_analysis_panda2026(t, q, p),
          'failed-there\t-failedthere: ' || brokerage.rule_failed_there(t, q, p),
          'zero-share\t-zeroshare: ' || brokerage.rule_zero_share(t, q, p, CAST('{"spares_preassigned": true}' AS JSONB)),
          'disk-io\t-diskIO: ' || brokerage.rule_disk_io(t, q, p),
          'max-io-intensity\t-max_io_intensity: ' || brokerage.rule_max_io_intensity(t, q, p),
          'avoid-vp\t' || brokerage.rule_avoid_vp_panda2026(t, q, p),
          'core-count\t-cpucore: ' || brokerage.rule_core_count(t, q, p, CAST('{}' AS JSONB)),
          'max-core-count\t-max_cpucore: ' || brokerage.rule_max_core_count(t, q, p, CAST('{}' AS JSONB)),
          'gpu-queue\t' || brokerage.rule_gpu_queue(t, q, p),
          'closed-jobs\t-closed: ' || brokerage.rule_closed_jobs(t, q, p),
          'software\t-cache: ' || brokerage.rule_software(t, q, p, CAST('{"as_prepared": true, "spares_preassigned": true}' AS JSONB)),
          'memory\t' || brokerage.rule_memory_panda2026(t, q, p),
          'direct-io-only\t-remoteio: ' || brokerage.rule_direct_io_only(t, q, p, CAST('{"spares_merging": true}' AS JSONB)),
          'scratch-disk\t-disk: ' || brokerage.rule_scratch_disk_analysis_panda2026(t, q, p),
          'storage-space\t-disk: ' || brokerage.rule_storage_space_analysis_panda2026(t, q, p),
          'storage-blacklist\t-blacklist: ' || brokerage.rule_storage_blacklist_analysis_panda2026(t, q, p),
          'local-quota\t-local_quota: ' || brokerage.rule_local_quota(t, q, p),
          'walltime\t' || brokerage.rule_walltime_analysis_panda2026(t, q, p),
          'walltime-scout\t' || brokerage.rule_walltime_scout_analysis_panda2026(t, q, p),
          'no-pilot\t-nopilot: ' || brokerage.rule_no_pilot(t, q, p, CAST('{"spares_test": true}' AS JSONB)),
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
        p.platform_level_percent AS p_platform_level_percent,
        p.input_problem AS p_input_problem, p.input_copies AS p_input_copies, p.failed AS p_failed,
        p.closed AS p_closed, p.finished AS p_finished, p.user_queued AS p_user_queued,
        p.user_running AS p_user_running, p.users AS p_users, p.users_running AS p_users_running,
        p.to_running_rate AS p_to_running_rate
      FROM brokerage.facts_of_analysis_pairs($1, $2, $3) AS p
    ) AS x
    JOIN UNNEST($2) WITH ORDINALITY AS t ON t.ordinality = x.task_number
    JOIN UNNEST($3) WITH ORDINALITY AS q ON q.ordinality = x.queue_number
    OFFSET 0
  ) AS x
  GROUP BY x.task_number
), asked AS MATERIALIZED (
  SELECT
    x.task_number, x.queue_number, x.task_id, x.queue, x.unified_name, x.marked_0, x.said_1, x.failed_2, x.marked_2,
    x.said_3, x.said_4, x.failed_5, x.marked_5, x.terms_1, x.factors,
    CASE
      WHEN COALESCE(CAST(NULL AS TEXT), x.failed_2, x.failed_5, x.marked_5, x.marked_2, x.marked_0) IS NULL
      THEN p
    END AS p
  FROM (
    SELECT
      x.*,
      CASE
        WHEN COALESCE(CAST(NULL AS TEXT), x.failed_2, x.failed_5) IS NULL
        THEN brokerage.weight_free_places_panda2026(t, q, p, CAST('{}' AS JSONB))
      END AS terms_1,
      CASE
        WHEN COALESCE(CAST(NULL AS TEXT), x.failed_2, x.failed_5, x.marked_5, x.marked_2, x.marked_0) IS NULL
        THEN CAST(ARRAY[CAST(1 AS DOUBLE PRECISION), brokerage.weight_analysis_data(t, q, p)] AS DOUBLE PRECISION[])
      END AS factors
    FROM (
      SELECT
        x.*,
        CASE WHEN COALESCE(CAST(NULL AS TEXT), x.failed_2) IS NULL THEN brokerage.rule_hospital(t, q, p) END AS said_3,
        CASE WHEN COALESCE(CAST(NULL AS TEXT), x.failed_2) IS NULL THEN brokerage.rule_overloaded(t, q, p) END AS said_4,
        CASE
          WHEN COALESCE(CAST(NULL AS TEXT), x.failed_2) IS NULL
          THEN COALESCE('final-availability\t-fileunavailable: ' || brokerage.rule_use_only_local_data(t, q, p), CAST(NULL AS TEXT))
        END AS failed_5,
        CASE
          WHEN COALESCE(CAST(NULL AS TEXT), x.failed_2) IS NULL
          THEN COALESCE(
            'stabilizer\t-badsite: ' || brokerage.rule_stabilizer(t, q, p, CAST('{"spares_absent": true, "spares_merging": true, "spares_preassigned": true}' AS JSONB)),
            'failed-jobs\t-badsite: ' || brokerage.rule_failed_jobs(
              t, q, p,
              CAST('{"inclusive": true, "spares_absent": true, "spares_merging": true, "stabilized_alone": true, "spares_preassigned": true}' AS JSONB)
            ),
            'overloaded\t-badsite: ' || brokerage.rule_overloaded_idle(t, q, p),
            CAST(NULL AS TEXT)
          )
        END AS marked_5,
        CAST(NULL AS TEXT[]) AS failures_5
      FROM (
        SELECT
          x.*, t.task_id, q.queue, q.unified_name,
          CASE
            WHEN COALESCE(CAST(NULL AS TEXT)) IS NULL
            THEN brokerage.rule_include_exclude(t, q, p, CAST('{"limited_alone": true}' AS JSONB))
          END AS said_1,
          CASE
            WHEN COALESCE(CAST(NULL AS TEXT)) IS NULL
            THEN COALESCE(
              'cloud-mismatch\t-cloudmismatch: ' || brokerage.rule_cloud_mismatch(t, q, p),
              'preassigned\t-nonpreassigned: ' || brokerage.rule_preassigned(t, q, p),
              CAST(NULL AS TEXT)
            )
          END AS failed_2,
          CASE WHEN COALESCE(CAST(NULL AS TEXT)) IS NULL THEN COALESCE(CAST(NULL AS TEXT)) END AS marked_2,
          CAST(NULL AS TEXT[]) AS failures_2
        FROM (
          SELECT s.task_number, l.*
          FROM filtered AS s
          CROSS JOIN LATERAL UNNEST(s.passed) AS l(queue_number BIGINT, marked_0 TEXT, p_is_preassigned BOOLEAN, p_preassigned_alone BOOLEAN, p_is_nucleus_queue BOOLEAN, p_is_near BOOLEAN, p_is_own BOOLEAN, p_closeness DOUBLE PRECISION, p_queued DOUBLE PRECISION, p_queued_express DOUBLE PRECISION, p_mbps DOUBLE PRECISION, p_running BIGINT, p_starting BIGINT, p_activated BIGINT, p_assigned BIGINT, p_defined BIGINT, p_numslots BIGINT, p_type_running BIGINT, p_type_starting BIGINT, p_type_activated BIGINT, p_type_assigned BIGINT, p_type_defined BIGINT, p_available_files BIGINT, p_available_bytes BIGINT, p_reachable_files BIGINT, p_reachable_bytes BIGINT, p_input_is_local BOOLEAN, p_has_readable_source BOOLEAN, p_zero_share TEXT, p_software TEXT, p_platform_level_percent DOUBLE PRECISION, p_input_problem TEXT, p_input_copies DOUBLE PRECISION, p_failed BIGINT, p_closed BIGINT, p_finished BIGINT, p_user_queued BIGINT, p_user_running BIGINT, p_users BIGINT, p_users_running BIGINT, p_to_running_rate DOUBLE PRECISION)
        ) AS x
        JOIN UNNEST($2) WITH ORDINALITY AS t ON t.ordinality = x.task_number
        JOIN UNNEST($3) WITH ORDINALITY AS q ON q.ordinality = x.queue_number
        OFFSET 0
      ) AS x
      LEFT JOIN UNNEST($2) WITH ORDINALITY AS t
        ON t.ordinality = CASE WHEN COALESCE(CAST(NULL AS TEXT), x.failed_2) IS NULL THEN x.task_number END
      LEFT JOIN UNNEST($3) WITH ORDINALITY AS q
        ON q.ordinality = CASE WHEN COALESCE(CAST(NULL AS TEXT), x.failed_2) IS NULL THEN x.queue_number END
      OFFSET 0
    ) AS x
    LEFT JOIN UNNEST($2) WITH ORDINALITY AS t
      ON t.ordinality = CASE WHEN COALESCE(CAST(NULL AS TEXT), x.failed_2, x.failed_5) IS NULL THEN x.task_number END
    LEFT JOIN UNNEST($3) WITH ORDINALITY AS q
      ON q.ordinality = CASE WHEN COALESCE(CAST(NULL AS TEXT), x.failed_2, x.failed_5) IS NULL THEN x.queue_number END
    OFFSET 0
  ) AS x
), answer_1 AS MATERIALIZED (
  SELECT x.task_number
  FROM asked AS x
  WHERE COALESCE(CAST(NULL AS TEXT)) IS NULL AND COALESCE(x.said_1) IS NULL
  GROUP BY x.task_number
), step_1 AS NOT MATERIALIZED (
  SELECT
    x.*,
    COALESCE(CAST(NULL AS TEXT)) IS NULL AND a.task_number IS NULL AS ignored_1,
    CASE
      WHEN COALESCE(CAST(NULL AS TEXT)) IS NULL
      THEN CASE
        WHEN a.task_number IS NOT NULL OR STARTS_WITH(x.said_1, '!')
        THEN 'include-exclude\t' || CASE WHEN STARTS_WITH(x.said_1, '!') THEN TRIM(LEADING '!' FROM x.said_1) ELSE x.said_1 END
      END
    END AS lost_1,
    CAST(NULL AS TEXT[]) AS failures_1
  FROM asked AS x
  LEFT JOIN answer_1 AS a ON a.task_number = x.task_number
), answer_3 AS MATERIALIZED (
  SELECT x.task_number
  FROM step_1 AS x
  WHERE COALESCE(CAST(NULL AS TEXT), x.lost_1, x.failed_2) IS NULL AND COALESCE(x.said_3) IS NULL
  GROUP BY x.task_number
), step_3 AS NOT MATERIALIZED (
  SELECT
    x.*,
    COALESCE(CAST(NULL AS TEXT), x.lost_1, x.failed_2) IS NULL AND a.task_number IS NULL AS ignored_3,
    CASE
      WHEN COALESCE(CAST(NULL AS TEXT), x.lost_1, x.failed_2) IS NULL
      THEN CASE
        WHEN a.task_number IS NOT NULL OR STARTS_WITH(x.said_3, '!')
        THEN 'hospital\t-hospital: ' || CASE WHEN STARTS_WITH(x.said_3, '!') THEN TRIM(LEADING '!' FROM x.said_3) ELSE x.said_3 END
      END
    END AS lost_3,
    CAST(NULL AS TEXT[]) AS failures_3
  FROM step_1 AS x
  LEFT JOIN answer_3 AS a ON a.task_number = x.task_number
), answer_4 AS MATERIALIZED (
  SELECT x.task_number
  FROM step_3 AS x
  WHERE COALESCE(CAST(NULL AS TEXT), x.lost_1, x.failed_2, x.lost_3) IS NULL AND COALESCE(x.said_4) IS NULL
  GROUP BY x.task_number
), step_4 AS NOT MATERIALIZED (
  SELECT
    x.*,
    COALESCE(CAST(NULL AS TEXT), x.lost_1, x.failed_2, x.lost_3) IS NULL AND a.task_number IS NULL AS ignored_4,
    CASE
      WHEN COALESCE(CAST(NULL AS TEXT), x.lost_1, x.failed_2, x.lost_3) IS NULL
      THEN CASE
        WHEN a.task_number IS NOT NULL OR STARTS_WITH(x.said_4, '!')
        THEN 'overloaded\t' || CASE WHEN STARTS_WITH(x.said_4, '!') THEN TRIM(LEADING '!' FROM x.said_4) ELSE x.said_4 END
      END
    END AS lost_4,
    CAST(NULL AS TEXT[]) AS failures_4
  FROM step_3 AS x
  LEFT JOIN answer_4 AS a ON a.task_number = x.task_number
), sums_1 AS MATERIALIZED (
  SELECT
    x.task_number,
    CAST(ARRAY[
      SUM(x.terms_1[1] ORDER BY x.queue_number), SUM(x.terms_1[2] ORDER BY x.queue_number),
      SUM(x.terms_1[3] ORDER BY x.queue_number), SUM(x.terms_1[4] ORDER BY x.queue_number),
      SUM(x.terms_1[5] ORDER BY x.queue_number), SUM(x.terms_1[6] ORDER BY x.queue_number),
      SUM(x.terms_1[7] ORDER BY x.queue_number), SUM(x.terms_1[8] ORDER BY x.queue_number)
    ] AS DOUBLE PRECISION[]) AS sums
  FROM step_4 AS x
  WHERE COALESCE(CAST(NULL AS TEXT), x.lost_1, x.failed_2, x.lost_3, x.lost_4, x.failed_5) IS NULL
  GROUP BY x.task_number
), added_1 AS NOT MATERIALIZED (
  SELECT x.*, a.sums AS sums_1
  FROM step_4 AS x
  LEFT JOIN sums_1 AS a ON a.task_number = x.task_number
), judged AS MATERIALIZED (
  SELECT
    x.task_number, x.queue_number, x.task_id, x.queue, x.unified_name,
    COALESCE(
      CAST(NULL AS TEXT), x.lost_1, x.failed_2, x.lost_3, x.lost_4, x.failed_5, x.marked_5, x.marked_2, x.marked_0,
      x.failed_6, x.marked_6
    ) AS failed,
    COALESCE(x.marked_6, x.marked_5, x.marked_2, x.marked_0) AS marked, CAST(NULL AS TEXT[]) AS failures,
    x.factors[1] * x.factors[2] AS weight, x.factors AS factors, x.queued, x.capacity, x.chunk, x.first, x.spared
  FROM (
    SELECT
      x.*,
      CAST((
        CASE
          WHEN COALESCE(CAST(NULL AS TEXT), x.lost_1, x.failed_2, x.lost_3, x.lost_4, x.failed_5, x.marked_5, x.marked_2, x.marked_0, x.failed_6) IS NULL
          THEN brokerage.queued_jobs_panda2026(t, q, p)
        END
      ) AS BIGINT) AS queued,
      CAST((
        CASE
          WHEN COALESCE(CAST(NULL AS TEXT), x.lost_1, x.failed_2, x.lost_3, x.lost_4, x.failed_5, x.marked_5, x.marked_2, x.marked_0, x.failed_6) IS NULL
          THEN brokerage.running_jobs_cap_panda2026(t, q, p)
        END
      ) AS BIGINT) AS capacity,
      CAST((
        CASE
          WHEN COALESCE(CAST(NULL AS TEXT), x.lost_1, x.failed_2, x.lost_3, x.lost_4, x.failed_5, x.marked_5, x.marked_2, x.marked_0, x.failed_6) IS NULL
          THEN brokerage.job_chunk(t, q, p)
        END
      ) AS INT) AS chunk,
      CAST((
        CASE
          WHEN COALESCE(CAST(NULL AS TEXT), x.lost_1, x.failed_2, x.lost_3, x.lost_4, x.failed_5, x.marked_5, x.marked_2, x.marked_0, x.failed_6) IS NULL
          THEN brokerage.value_used(t, q, p)
        END
      ) AS DOUBLE PRECISION) AS first,
      FALSE OR COALESCE((
        t
      ).is_distributed, FALSE) OR COALESCE((p).is_preassigned, FALSE) AS spared
    FROM (
      SELECT
        x.*,
        CASE
          WHEN COALESCE(CAST(NULL AS TEXT), x.lost_1, x.failed_2, x.lost_3, x.lost_4, x.failed_5, x.marked_5, x.marked_2, x.marked_0) IS NULL
          THEN COALESCE(
            'min-weight\t-below_min_weight: ' || brokerage.rule_min_weight(t, q, p, CAST('{"spares_preassigned": true}' AS JSONB)),
            CAST(NULL AS TEXT)
          )
        END AS failed_6,
        CASE
          WHEN COALESCE(CAST(NULL AS TEXT), x.lost_1, x.failed_2, x.lost_3, x.lost_4, x.failed_5, x.marked_5, x.marked_2, x.marked_0) IS NULL
          THEN COALESCE(CAST(NULL AS TEXT))
        END AS marked_6,
        CAST(NULL AS TEXT[]) AS failures_6
      FROM (
        SELECT
          x.*, (x.p).is_preassigned AS p_is_preassigned,
          (x.p).preassigned_alone AS p_preassigned_alone,
          (x.p).is_nucleus_queue AS p_is_nucleus_queue, (x.p).is_near AS p_is_near, (x.p).is_own AS p_is_own,
          (x.p).closeness AS p_closeness, (x.p).queued AS p_queued, (x.p).queued_express AS p_queued_express,
          (x.p).mbps AS p_mbps, (x.p).running AS p_running, (x.p).starting AS p_starting,
          (x.p).activated AS p_activated, (x.p).assigned AS p_assigned, (x.p).defined AS p_defined,
          (x.p).numslots AS p_numslots, (x.p).type_running AS p_type_running, (x.p).type_starting AS p_type_starting,
          (x.p).type_activated AS p_type_activated, (x.p).type_assigned AS p_type_assigned,
          (x.p).type_defined AS p_type_defined, (x.p).available_files AS p_available_files,
          (x.p).available_bytes AS p_available_bytes, (x.p).reachable_files AS p_reachable_files,
          (x.p).reachable_bytes AS p_reachable_bytes, (x.p).input_is_local AS p_input_is_local,
          (x.p).has_readable_source AS p_has_readable_source,
          (x.p).zero_share AS p_zero_share, (x.p).software AS p_software,
          (x.p).platform_level_percent AS p_platform_level_percent,
          (x.p).input_problem AS p_input_problem, (x.p).input_copies AS p_input_copies, (x.p).failed AS p_failed,
          (x.p).closed AS p_closed, (x.p).finished AS p_finished, (x.p).user_queued AS p_user_queued,
          (x.p).user_running AS p_user_running, (x.p).users AS p_users, (x.p).users_running AS p_users_running,
          (x.p).to_running_rate AS p_to_running_rate
        FROM (
          SELECT
            x.task_number, x.queue_number, x.task_id, x.queue, x.unified_name, x.lost_1, x.failed_2, x.lost_3, x.lost_4,
            x.failed_5, x.marked_5, x.marked_2, x.marked_0,
            CASE
              WHEN x.factors IS NOT NULL
              THEN CAST(ARRAY[
                CASE
                  WHEN x.factors IS NOT NULL
                  AND COALESCE(CAST(NULL AS TEXT), x.lost_1, x.failed_2, x.lost_3, x.lost_4, x.failed_5) IS NULL
                  THEN brokerage.weight_free_places_panda2026_factor(x.terms_1, x.sums_1, CAST('{}' AS JSONB))
                END,
                x.factors[2]
              ] AS DOUBLE PRECISION[])
            END AS factors,
            x.p
          FROM added_1 AS x
        ) AS x
      ) AS x
      LEFT JOIN UNNEST($2) WITH ORDINALITY AS t
        ON t.ordinality = CASE
          WHEN COALESCE(CAST(NULL AS TEXT), x.lost_1, x.failed_2, x.lost_3, x.lost_4, x.failed_5, x.marked_5, x.marked_2, x.marked_0) IS NULL
          THEN x.task_number
        END
      LEFT JOIN UNNEST($3) WITH ORDINALITY AS q
        ON q.ordinality = CASE
          WHEN COALESCE(CAST(NULL AS TEXT), x.lost_1, x.failed_2, x.lost_3, x.lost_4, x.failed_5, x.marked_5, x.marked_2, x.marked_0) IS NULL
          THEN x.queue_number
        END
      OFFSET 0
    ) AS x
    LEFT JOIN UNNEST($2) WITH ORDINALITY AS t
      ON t.ordinality = CASE
        WHEN COALESCE(CAST(NULL AS TEXT), x.lost_1, x.failed_2, x.lost_3, x.lost_4, x.failed_5, x.marked_5, x.marked_2, x.marked_0, x.failed_6) IS NULL
        THEN x.task_number
      END
    LEFT JOIN UNNEST($3) WITH ORDINALITY AS q
      ON q.ordinality = CASE
        WHEN COALESCE(CAST(NULL AS TEXT), x.lost_1, x.failed_2, x.lost_3, x.lost_4, x.failed_5, x.marked_5, x.marked_2, x.marked_0, x.failed_6) IS NULL
        THEN x.queue_number
      END
  ) AS x
), ranked AS MATERIALIZED (
  SELECT
    x.*,
    ROW_NUMBER() OVER (PARTITION BY x.task_number ORDER BY x.first DESC NULLS LAST, x.weight DESC NULLS LAST, x.queue COLLATE "C") AS place,
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
  HAVING
    COALESCE(
      BOOL_OR(NOT STARTS_WITH(j.failed, '!'))
      AND NOT BOOL_OR(
        brokerage.survives_chain(
          j.failed, j.marked,
          CAST('{"final-availability\t-fileunavailable: ","weight\t","weight-data\t","min-weight\t-below_min_weight: ","top-10\t-low_weight: ","used-sites-first\t","queued-jobs\t","running-jobs-cap\t","job-chunk\t","anal-pending\t","catchall-lookup\t","per-core-attr\t","ucore-expansion\t","direct-io-used\t","n-running-workers\t","num-slots\t","temporary-problems\t"}' AS TEXT[]),
          CAST('{"overloaded\t-badsite: ","failed-jobs\t-badsite: ","stabilizer\t-badsite: "}' AS TEXT[])
        )
      ) IS TRUE
      AND NOT ($2[j.task_number]).second_pass IS TRUE
      AND CASE brokerage.rule_anal_loops_panda2026($2[j.task_number])
        WHEN 'any'
        THEN TRUE
        WHEN 'persistent'
        THEN BOOL_AND(
          brokerage.survives_chain(
            j.failed, j.marked,
            CAST('{"final-availability\t-fileunavailable: ","weight\t","weight-data\t","min-weight\t-below_min_weight: ","top-10\t-low_weight: ","used-sites-first\t","queued-jobs\t","running-jobs-cap\t","job-chunk\t","anal-pending\t","catchall-lookup\t","per-core-attr\t","ucore-expansion\t","direct-io-used\t","n-running-workers\t","num-slots\t","temporary-problems\t"}' AS TEXT[]),
            CAST('{"overloaded\t-badsite: ","failed-jobs\t-badsite: ","stabilizer\t-badsite: "}' AS TEXT[])
          ) IS NULL
        )
      END,
      FALSE
    )
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
