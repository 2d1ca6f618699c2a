-- The query that decides by profile panda2026, algorithm production_task, for many pairs; made by a test.
-- $1 has the facts by subject, $2 the tasks, $3 the queues. t, q, p stand for rows of all facts.
WITH sieved AS (
  SELECT
    CAST(NULL AS BIGINT) AS task_number,
    CAST(NULL AS INT[]) AS lost,
    CAST(NULL AS TEXT[]) AS reasons,
    CAST(NULL AS TEXT[]) AS marks,
    CAST(NULL AS BIGINT) AS outside
  WHERE
    FALSE
), asked AS MATERIALIZED (
  SELECT
    x.task_number,
    x.queue_number,
    x.task_id,
    x.queue,
    x.unified_name,
    x.failed_0,
    x.marked_0,
    x.said_1,
    x.said_2,
    x.failed_3,
    x.marked_3,
    x.factors,
    x.queued,
    x.capacity,
    x.chunk,
    x.first,
    x.spared
  FROM (
    SELECT
      x.*,
      CAST((
        NULL
      ) AS BIGINT) AS queued,
      CAST((
        NULL
      ) AS BIGINT) AS capacity,
      CAST((
        NULL
      ) AS INT) AS chunk,
      CAST((
        NULL
      ) AS DOUBLE PRECISION) AS first,
      FALSE AS spared
    FROM (
      SELECT
        x.*,
        CASE
          WHEN COALESCE(CAST(NULL AS TEXT), x.failed_0, x.failed_3, x.marked_3, x.marked_0) IS NULL
          THEN CAST(ARRAY[
            brokerage.weight_remaining_work(t, q, p, CAST('{"little_counts_1": true, "sees_assignments": true}' AS JSONB)),
            brokerage.weight_located_data(t, q, p, CAST('{"period": true, "if_holds": "task-locality"}' AS JSONB)),
            brokerage.weight_tape(t, q, p, CAST('{"period": true, "if_holds": "task-locality"}' AS JSONB)),
            brokerage.weight_nucleus_space_panda2026(t, q, p)
          ] AS DOUBLE PRECISION[])
        END AS factors
      FROM (
        SELECT
          x.*,
          CASE
            WHEN COALESCE(CAST(NULL AS TEXT), x.failed_0) IS NULL
            THEN brokerage.rule_task_locality_size(t, q, p, CAST('{"group": "task-locality", "period": true, "inclusive": true, "current_priority": true}' AS JSONB))
          END AS said_1,
          CASE
            WHEN COALESCE(CAST(NULL AS TEXT), x.failed_0) IS NULL
            THEN brokerage.rule_task_locality_num(t, q, p, CAST('{"group": "task-locality", "period": true, "inclusive": true, "current_priority": true}' AS JSONB))
          END AS said_2,
          CASE
            WHEN COALESCE(CAST(NULL AS TEXT), x.failed_0) IS NULL
            THEN COALESCE('full-chain-task\t-full_chain: ' || brokerage.rule_full_chain_task_panda2026(t, q, p), CAST(NULL AS TEXT))
          END AS failed_3,
          CASE WHEN COALESCE(CAST(NULL AS TEXT), x.failed_0) IS NULL THEN COALESCE(CAST(NULL AS TEXT)) END AS marked_3,
          CAST(NULL AS TEXT[]) AS failures_3
        FROM (
          SELECT
            x.*,
            CASE
              WHEN COALESCE(CAST(NULL AS TEXT)) IS NULL
              THEN COALESCE(
                '!task-nucleus-list\t' || brokerage.candidate_nucleus(t, q, p, CAST('{"as": "task-nucleus-list", "satellites": true}' AS JSONB)),
                'task-nucleus-list\t-status: ' || brokerage.rule_nucleus_status(t, q, p),
                'transfer-backlog\t-transfer_backlog: ' || brokerage.rule_transfer_backlog(t, q, p),
                'nucleus-has-storage\t-match: ' || brokerage.rule_nucleus_has_storage_panda2026(t, q, p),
                'nucleus-wan\t' || brokerage.rule_nucleus_wan(t, q, p),
                'nucleus-space\t-space: ' || brokerage.rule_nucleus_space_panda2026(t, q, p),
                'task-job-check\t-job: ' || brokerage.rule_task_job_check(t, q, p),
                CAST(NULL AS TEXT)
              )
            END AS failed_0,
            CASE WHEN COALESCE(CAST(NULL AS TEXT)) IS NULL THEN COALESCE(CAST(NULL AS TEXT)) END AS marked_0,
            CAST(NULL AS TEXT[]) AS failures_0
          FROM (
            SELECT
              p.task_number,
              p.queue_number,
              t.task_id,
              q.queue,
              q.unified_name,
              p.is_preassigned AS p_is_preassigned,
              p.remaining_work AS p_remaining_work,
              p.located_files AS p_located_files,
              p.located_bytes AS p_located_bytes,
              p.located_disk_files AS p_located_disk_files,
              p.located_disk_bytes AS p_located_disk_bytes,
              p.space AS p_space,
              p.weighed_space AS p_weighed_space,
              p.space_total AS p_space_total,
              p.output_problem AS p_output_problem,
              p.wan_problem AS p_wan_problem,
              t.now AS t_now,
              t.task_priority AS t_task_priority,
              t.current_priority AS t_current_priority,
              t.io_intensity AS t_io_intensity,
              t.input_pre_staging AS t_input_pre_staging,
              t.t1_weight AS t_t1_weight,
              t.full_chain AS t_full_chain,
              t.nucleus AS t_nucleus,
              t.located_files AS t_located_files,
              t.located_bytes AS t_located_bytes,
              t.is_preset AS t_is_preset,
              t.parent_nucleus AS t_parent_nucleus,
              t.parent_full_chain AS t_parent_full_chain,
              t.parent_nucleus_mode AS t_parent_nucleus_mode,
              t.frozen AS t_frozen,
              t.nqueued_nuc_cap AS t_nqueued_nuc_cap,
              t.disk_threshold AS t_disk_threshold,
              t.input_size_threshold AS t_input_size_threshold,
              t.input_size_fraction AS t_input_size_fraction,
              t.input_num_threshold AS t_input_num_threshold,
              t.input_num_fraction AS t_input_num_fraction,
              t.min_io_intensity_with_local_data AS t_min_io_intensity_with_local_data,
              t.min_input_size_with_local_data AS t_min_input_size_with_local_data,
              t.max_task_prio_with_local_data AS t_max_task_prio_with_local_data,
              t.data_location_check_period AS t_data_location_check_period,
              t.free_disk_cutoff AS t_free_disk_cutoff,
              t.runnable_at AS t_runnable_at,
              t.is_distributed AS t_is_distributed,
              t.wan_problem AS t_wan_problem,
              q.queue AS q_queue,
              q.is_nucleus AS q_is_nucleus,
              q.status AS q_status,
              q.bare_nucleus AS q_bare_nucleus,
              q.queued_into AS q_queued_into,
              q.remaining_work AS q_remaining_work
            FROM brokerage.facts_of_nucleus_pairs($1, $2, $3) AS p
            JOIN UNNEST($2) WITH ORDINALITY AS t
              ON t.ordinality = p.task_number
            JOIN UNNEST($3) WITH ORDINALITY AS q
              ON q.ordinality = p.queue_number
          ) AS x
          OFFSET 0
        ) AS x
        OFFSET 0
      ) AS x
      OFFSET 0
    ) AS x
  ) AS x
), answer_1 AS MATERIALIZED (
  SELECT
    x.task_number
  FROM asked AS x
  WHERE
    COALESCE(CAST(NULL AS TEXT), x.failed_0) IS NULL AND COALESCE(x.said_1, x.said_2) IS NULL
  GROUP BY
    x.task_number
), step_1 AS NOT MATERIALIZED (
  SELECT
    x.*,
    COALESCE(CAST(NULL AS TEXT), x.failed_0) IS NULL AND a.task_number IS NULL AS ignored_1,
    CASE
      WHEN COALESCE(CAST(NULL AS TEXT), x.failed_0) IS NULL
      THEN CASE
        WHEN a.task_number IS NOT NULL OR STARTS_WITH(x.said_1, '!')
        THEN 'task-locality-size\t-insize: ' || CASE WHEN STARTS_WITH(x.said_1, '!') THEN TRIM(LEADING '!' FROM x.said_1) ELSE x.said_1 END
      END
    END AS lost_1,
    CASE
      WHEN COALESCE(CAST(NULL AS TEXT), x.failed_0) IS NULL
      THEN CASE
        WHEN a.task_number IS NOT NULL OR STARTS_WITH(x.said_2, '!')
        THEN 'task-locality-num\t-innum: ' || CASE WHEN STARTS_WITH(x.said_2, '!') THEN TRIM(LEADING '!' FROM x.said_2) ELSE x.said_2 END
      END
    END AS lost_2,
    CAST(NULL AS TEXT[]) AS failures_1
  FROM asked AS x
  LEFT JOIN answer_1 AS a
    ON a.task_number = x.task_number
), judged AS MATERIALIZED (
  SELECT
    x.task_number,
    x.queue_number,
    x.task_id,
    x.queue,
    x.unified_name,
    COALESCE(CAST(NULL AS TEXT), x.failed_0, x.lost_1, x.lost_2, x.failed_3, x.marked_3, x.marked_0) AS failed,
    COALESCE(x.marked_3, x.marked_0, CAST(NULL AS TEXT)) AS marked,
    CAST(NULL AS TEXT[]) AS failures,
    CASE
      WHEN x.ignored_1
      THEN x.factors[1] * CASE WHEN x.ignored_1 THEN 1 ELSE x.factors[2] END * CASE WHEN x.ignored_1 THEN 1 ELSE x.factors[3] END * x.factors[4]
      ELSE x.factors[1] * x.factors[2] * x.factors[3] * x.factors[4]
    END AS weight,
    CASE
      WHEN x.factors IS NOT NULL AND (
        x.ignored_1
      )
      THEN CAST(ARRAY[
        x.factors[1],
        CASE WHEN x.ignored_1 THEN 1 ELSE x.factors[2] END,
        CASE WHEN x.ignored_1 THEN 1 ELSE x.factors[3] END,
        x.factors[4]
      ] AS DOUBLE PRECISION[])
      ELSE x.factors
    END AS factors,
    x.queued,
    x.capacity,
    x.chunk,
    x.first,
    x.spared
  FROM step_1 AS x
), ranked AS MATERIALIZED (
  SELECT
    x.*,
    ROW_NUMBER() OVER (PARTITION BY x.task_number ORDER BY x.weight DESC NULLS LAST, x.queue COLLATE "C") AS place,
    CASE WHEN NOT x.spared THEN CAST(NULL AS BIGINT) END AS best,
    CAST('task-choice\t' AS TEXT) AS best_rule
  FROM judged AS x
  WHERE
    x.failed IS NULL
), decided AS NOT MATERIALIZED (
  SELECT
    v.task_number,
    ARRAY_AGG(CAST(v.queue_number AS INT)) FILTER(WHERE
      v.is_lost) AS lost,
    ARRAY_AGG(v.failed) FILTER(WHERE
      v.is_lost) AS reasons,
    ARRAY_AGG(
      brokerage.verdict_of(v.queue, v.failed, v.place, v.best, v.best_rule, v.weight, v.factors, v.queued, v.capacity, v.chunk)
    ) FILTER(WHERE
      NOT v.is_lost) AS queues,
    COUNT(*) FILTER(WHERE
      v.failed IS NULL AND v.place <= COALESCE(v.best, v.place)) AS kept,
    COUNT(*) FILTER(WHERE
      v.failed NOT LIKE '!%' OR v.place > v.best) AS rejected,
    COUNT(*) FILTER(WHERE
      v.failed LIKE '!%') AS outside
  FROM (
    SELECT
      j.task_number,
      j.queue_number,
      j.queue,
      j.failed,
      j.factors IS NULL AS is_lost,
      CAST(NULL AS BIGINT) AS place,
      CAST(NULL AS BIGINT) AS best,
      NULL AS best_rule,
      j.weight,
      j.factors,
      CAST(NULL AS BIGINT) AS queued,
      CAST(NULL AS BIGINT) AS capacity,
      CAST(NULL AS INT) AS chunk
    FROM judged AS j
    WHERE
      j.failed IS NOT NULL
    UNION ALL
    SELECT
      r.task_number,
      r.queue_number,
      r.queue,
      NULL,
      FALSE,
      r.place,
      r.best,
      r.best_rule,
      r.weight,
      r.factors,
      r.queued,
      r.capacity,
      r.chunk
    FROM ranked AS r
  ) AS v
  GROUP BY
    v.task_number
), again AS MATERIALIZED (
  SELECT
    j.task_number
  FROM (
    SELECT
      l.task_number,
      l.failed,
      l.marked
    FROM judged AS l
    WHERE
      NOT l.task_number IN (
        SELECT
          r.task_number
        FROM ranked AS r
      )
    UNION ALL
    SELECT DISTINCT
      s.task_number,
      brokerage.reason_head(l.failed),
      brokerage.reason_head(l.marked)
    FROM sieved AS s
    CROSS JOIN LATERAL UNNEST(s.reasons, s.marks) AS l(failed, marked)
    WHERE
      NOT s.task_number IN (
        SELECT
          r.task_number
        FROM ranked AS r
      )
  ) AS j
  GROUP BY
    j.task_number
  HAVING
    FALSE
)
SELECT
  t.ordinality,
  t.task_id,
  CASE
    WHEN t.ordinality IN (
      SELECT
        a.task_number
      FROM again AS a
    )
    THEN NULL
    WHEN d.kept > 0
    THEN 'candidates'
    ELSE 'pending'
  END,
  CAST(NULL AS TEXT),
  CAST(NULL AS TEXT),
  CAST(NULL AS TIMESTAMPTZ),
  CAST(COALESCE(d.kept, 0) AS INT),
  CAST((
    COALESCE(d.rejected, 0) + COALESCE(cardinality(s.lost), 0) - COALESCE(s.outside, 0)
  ) AS INT),
  CAST((
    COALESCE(d.outside, 0) + COALESCE(s.outside, 0)
  ) AS INT),
  s.lost || d.lost,
  s.reasons || d.reasons,
  d.queues,
  CAST(NULL AS BIGINT[]),
  CAST(NULL AS TEXT),
  CAST(NULL AS DOUBLE PRECISION)
FROM UNNEST($2) WITH ORDINALITY AS t
LEFT JOIN sieved AS s
  ON s.task_number = t.ordinality
LEFT JOIN decided AS d
  ON d.task_number = t.ordinality
