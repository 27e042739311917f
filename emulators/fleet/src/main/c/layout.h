/* The layout, for Java: names and offsets of what it fills in, and the numbers it must know. */
#ifndef RETSTACK_LAYOUT_H
#define RETSTACK_LAYOUT_H

#include "core.h"

#define FIELD(type, name) {#type "." #name, offsetof(struct type, name)}
#define SIZE(type) {#type, sizeof(struct type)}
#define CONSTANT(name) {#name, name}

const struct {
  const char *name;
  uint64_t offset;
} retstack_layout[] = {
    SIZE(core), FIELD(core, reg_read), FIELD(core, reg_write), FIELD(core, emu_stop), FIELD(core, ctl),
    FIELD(core, resumed), FIELD(core, resumed_user), FIELD(core, request_cache), FIELD(core, now), FIELD(core, deadline), FIELD(core, deadline_kind), FIELD(core, attention), FIELD(core, last), FIELD(core, stack_pointer_at), FIELD(core, watched), FIELD(core, nowhere), FIELD(core, unlisted), FIELD(core, stops_at_jumps), FIELD(core, behind), FIELD(core, left), FIELD(core, split_time), FIELD(core, returned),
    FIELD(core, host_origin), FIELD(core, host_clock), FIELD(core, resuming), FIELD(core, stop), FIELD(core, stop_address),
    FIELD(core, stop_size), FIELD(core, stop_count), FIELD(core, stop_value), FIELD(core, stop_time), FIELD(core, stop_fp), FIELD(core, stop_self), FIELD(core, stop_from), FIELD(core, stop_argument), FIELD(core, task_argument), FIELD(core, task_variable), FIELD(core, task_bytes), FIELD(core, task_value), FIELD(core, answered), FIELD(core, stack_low), FIELD(core, stack_size), FIELD(core, blocks),
    FIELD(core, block_mask), FIELD(core, sites), FIELD(core, site_mask), FIELD(core, block_sites),
    FIELD(core, callers), FIELD(core, caller_count), FIELD(core, regions), FIELD(core, region_count), FIELD(core, last_region.size), FIELD(core, regions_stale), FIELD(core, landing_start),
    FIELD(core, handlers_end), FIELD(core, landing_shift), FIELD(core, handlers), FIELD(core, mailbox), FIELD(core, trampolines), FIELD(core, trampoline_start), FIELD(core, trampoline_end), FIELD(core, trampoline_shift), FIELD(core, homes), FIELD(core, home_mask), FIELD(core, homes_start), FIELD(core, home_word), FIELD(core, homes_full), SIZE(home), FIELD(home, target), FIELD(home, number), CONSTANT(HOMES), CONSTANT(HOME_SHIFT), CONSTANT(ASK_HOME),
    SIZE(trampoline), FIELD(trampoline, target), FIELD(trampoline, misses_left), FIELD(trampoline, number), FIELD(trampoline, given), CONSTANT(TRAMPOLINES), CONSTANT(TRAMPOLINE_SHIFT),
    FIELD(core, frames), FIELD(core, frame_count), FIELD(core, frames_used), FIELD(core, frame_capacity),
    FIELD(core, frame_limit), FIELD(core, shown), FIELD(core, ring), FIELD(core, record_count),
    FIELD(core, record_capacity), FIELD(core, overruns), FIELD(core, unhijackable), FIELD(core, left_alone), FIELD(core, left_alone_count), FIELD(core, word_mask),
    FIELD(core, code_mask), FIELD(core, word_bytes), FIELD(core, swap), FIELD(core, stack_pointer), FIELD(core, registers), FIELD(core, nothing), FIELD(core, result),
    FIELD(core, slot_reach), FIELD(core, watching), FIELD(core, watch_shift), FIELD(core, long_words), FIELD(core, pushes), FIELD(core, cards),
    FIELD(core, mode), FIELD(core, muted), FIELD(core, graph_base), FIELD(core, max_depth), FIELD(core, min_duration),
    FIELD(core, written), FIELD(core, triggered),
    SIZE(ring), FIELD(ring, time), FIELD(ring, self_pc), FIELD(ring, from_pc), FIELD(ring, ret_p), FIELD(ring, fp), FIELD(ring, depth), FIELD(ring, kind), CONSTANT(RING),
    SIZE(operand), FIELD(operand, reg), FIELD(operand, in_memory), FIELD(operand, offset), FIELD(operand, addend),
    SIZE(slot), FIELD(slot, place), FIELD(slot, only), FIELD(slot, reg), FIELD(slot, addend), FIELD(slot, address), FIELD(slot, frame),
    SIZE(card), FIELD(card, return_address), FIELD(card, parent), FIELD(card, fp_at_entry), FIELD(card, fp_at_exit),
    FIELD(card, retp_at_exit), FIELD(card, slots), SIZE(arguments), CONSTANT(ARGUMENTS), FIELD(core, arguments), FIELD(card, foretold), FIELD(card, slot_count), FIELD(card, popping_return),
    FIELD(card, slot_from_fp), FIELD(card, has_slot_from_fp),
    SIZE(block), FIELD(block, address), FIELD(block, size), FIELD(block, count), FIELD(block, what),
    SIZE(site), FIELD(site, key), FIELD(site, up), FIELD(site, behind), FIELD(site, used), FIELD(site, ahead), FIELD(site, self_pc), FIELD(site, saved_at), FIELD(site, frame_bytes), FIELD(site, card),
    FIELD(site, where), FIELD(site, keeps_frame), FIELD(site, leaves), FIELD(site, special), FIELD(site, first_argument), FIELD(site, end_argument), FIELD(site, argument_format), FIELD(site, return_format),
    SIZE(frame), FIELD(frame, self_pc), FIELD(frame, from_pc), FIELD(frame, ret_p), FIELD(frame, watched), FIELD(frame, tail), FIELD(frame, special), FIELD(frame, time), FIELD(frame, fp),
    SIZE(host_range), FIELD(host_range, all.start), FIELD(host_range, all.size), FIELD(host_range, all.host), FIELD(host_range, pages),
    CONSTANT(DEADLINE_ROUGH), CONSTANT(DEADLINE_EXACT), CONSTANT(DEADLINE_END),
    CONSTANT(STOP_NONE), CONSTANT(STOP_DEADLINE), CONSTANT(STOP_BATCH_FULL), CONSTANT(STOP_OUTERMOST_RETURN),
    CONSTANT(STOP_IDLE_LOOP), CONSTANT(STOP_ASTRAY), CONSTANT(ASK_BLOCK), CONSTANT(ASK_SITE), CONSTANT(ASK_FRAMES), CONSTANT(ASK_REGIONS), CONSTANT(ASK_TRIGGER), CONSTANT(ASK_TRAMPOLINE), CONSTANT(ASK_SMASHED), CONSTANT(ASK_ENTRY_TASK), CONSTANT(ASK_EXIT_TASK), CONSTANT(ASK_HANDLER_LEFT),
    CONSTANT(ANSWER_NONE), CONSTANT(ANSWER_CURRENT), CONSTANT(ANSWER_REFUSED), CONSTANT(ANSWER_GIVEN_UP),
    FIELD(core, any_given_up), FIELD(core, fresh), FIELD(core, fresh_depth), FIELD(core, fresh_count), FIELD(core, given_up), FIELD(core, given_up_count), FIELD(core, revived), FIELD(frame, card), FIELD(frame, up), FIELD(frame, way),
    SIZE(given_up), FIELD(given_up, ret_p), FIELD(given_up, from_pc), FIELD(given_up, up), FIELD(given_up, place), CONSTANT(ASK_GIVEN_UP), CONSTANT(ASK_WHICH_GIVEN_UP), FIELD(core, given_up_stale), FIELD(core, unsure),
    CONSTANT(MODE_PAUSED), CONSTANT(MODE_FUNCTION), CONSTANT(MODE_GRAPH), CONSTANT(MODE_HIDDEN), CONSTANT(MODE_LATE),
    CONSTANT(MODE_DEPTH), CONSTANT(MODE_TASKS), CONSTANT(MODE_DECLARED), CONSTANT(MODE_HANDLER), CONSTANT(MODE_PIECES), CONSTANT(FRAME_HIDDEN),
    CONSTANT(BLOCK_PROGRAM), CONSTANT(BLOCK_IDLE), CONSTANT(BLOCK_COUNTING), CONSTANT(BLOCK_HANDLER),
    CONSTANT(BLOCK_SITE), CONSTANT(BLOCK_SKIP), CONSTANT(KIND_BITS), CONSTANT(ATTENTION_RARE), CONSTANT(BLOCK_STOP), CONSTANT(BLOCK_LANDING),
    CONSTANT(PLACE_MEMORY), CONSTANT(PLACE_SAVED), CONSTANT(PLACE_REGISTER),
    CONSTANT(WHERE_SAVED), CONSTANT(WHERE_IN_REGISTER), CONSTANT(WHERE_UNKNOWN), CONSTANT(WHERE_UNREAD), CONSTANT(SPECIAL_PASSED),
    FIELD(core, walks), FIELD(core, walk_count), FIELD(core, met), FIELD(core, entered), FIELD(walk, back), CONSTANT(ASK_READER), CONSTANT(SPECIAL_READS), SIZE(walk), FIELD(walk, first), FIELD(walk, span), FIELD(walk, code), FIELD(walk, code_bytes), CONSTANT(WALKS),
    CONSTANT(ASK_UNWINDER), CONSTANT(BLOCK_UNWINDER), CONSTANT(BLOCK_FUNCTION), CONSTANT(ATTENTION_UNWINDER),
    {NULL, 0}};

#endif
