-- Inlined.
create or replace function taskqueue.with_card(p_stream taskqueue.stream, p_card taskqueue.card)
returns taskqueue.stream
language sql immutable as $$
  select taskqueue.new_stream(
    (p_stream).number, (p_stream).request, (p_stream).token, (p_stream).seed, (p_stream).bucket_index,
    p_is_seeded => (p_stream).is_seeded, p_goes_alone => (p_stream).goes_alone, p_tries => (p_stream).tries,
    p_max_tries => (p_stream).max_tries, p_last_key => (p_stream).last_key, p_is_listed => (p_stream).is_listed,
    p_passed => (p_stream).passed, p_task_queue_id => (p_stream).task_queue_id,
    p_definition_id => (p_stream).definition_id, p_slots => (p_stream).slots, p_card => p_card)
$$;

comment on function taskqueue.with_card(taskqueue.stream, taskqueue.card) is 'Gives a stream another card.';
