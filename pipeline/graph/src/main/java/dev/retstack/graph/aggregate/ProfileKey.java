package dev.retstack.graph.aggregate;

import dev.retstack.graph.reconstruct.ClockUnit;

/** What one {@link CallProfile} adds up: calls of one image in one session, in one unit. */
public record ProfileKey(String session, String imageId, ClockUnit unit) {}
