package dev.retstack.cli;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/** A test of the row {@code chaos}, which every campaign runs: faults of whole processes. */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@EnabledIfSystemProperty(
    named = "retstack.chaos",
    matches = "once",
    disabledReason = "long form: ./retstack test --campaign chaos")
public @interface ChaosRow {}
