-- DRAWING.md, Order of the draw and Rare matches: this part of a draw depends on the jobs taken before. It skips a
-- TaskQueue that gave no job, and TaskQueues at a limit that other jobs have reached. After the first 32 rejected
-- candidates the matching definitions are searched and kept with the description. If they are many, the rest of the
-- bucket is drawn with a key per TaskQueue.
create or replace function taskqueue.draw_on(
  p_setup text, inout p_parsed taskqueue.parsed_description, inout p_stream taskqueue.stream
)
language plpgsql as $$
declare
  v_drawn taskqueue.stream[];
begin
  if p_stream.task_queue_id is not null then
    perform taskqueue.drop_task_queue_if_empty(p_setup, p_stream.task_queue_id);
    p_stream.passed := p_stream.passed || p_stream.task_queue_id;
    p_stream.task_queue_id := null;
  end if;
  if (p_parsed.offer).limited then
    p_parsed.offer := taskqueue.with_limits(p_setup, p_parsed.resource, p_parsed.offer);
  end if;
  while p_stream.task_queue_id is null and p_stream.bucket_index > 0 loop
    if (p_parsed.offer).job_id is not null then
      p_stream.bucket_index := 0;
      select w.task_queue_id, w.definition_id into p_stream.task_queue_id, p_stream.definition_id
        from taskqueue.wanted_task_queue(p_setup, p_parsed.offer) w;
    elsif p_parsed.matches is not null or p_stream.tries < p_stream.max_tries then
      v_drawn := taskqueue.draw_together(p_setup, array[p_parsed], array[p_stream]);
      if v_drawn is null then
        p_stream.bucket_index := 0;
        return;
      end if;
      p_stream := v_drawn[1];
      if p_stream.task_queue_id is null then
        p_parsed.matches := null;  -- the known definitions were forgotten after the description was read
      end if;
    elsif p_stream.tries >= 32 and p_parsed.matched_at is null then
      p_parsed := taskqueue.find_matching(p_setup, p_parsed);
    else
      select r.task_queue_id, r.definition_id into p_stream.task_queue_id, p_stream.definition_id
        from taskqueue.draw_rest(p_setup, p_parsed.offer, p_parsed.cpu_buckets[p_stream.bucket_index]::bigint,
                                 p_stream.last_key, p_stream.passed, p_parsed.policy, p_stream.seed # 8) r;
      if not found then
        p_stream.bucket_index := p_stream.bucket_index - 1;
        p_stream.tries := 0;
        p_stream.max_tries := 8;
        p_stream.last_key := 0;
      end if;
    end if;
  end loop;
end $$;

comment on function taskqueue.draw_on(text, taskqueue.parsed_description, taskqueue.stream) is
  'Draws TaskQueues for one stream until one matches, without those that gave no job; bucket_index 0 means that no '
  'TaskQueue matches. p_parsed: the description of the stream, with the facts that are known about it.';
