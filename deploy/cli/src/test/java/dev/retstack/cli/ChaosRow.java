package dev.retstack.cli;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * A test, or a class of them, of the row {@code chaos}, which every campaign runs: faults of whole
 * processes.
 */
@Target({ElementType.METHOD, ElementType.TYPE})
@Retention(RetentionPolicy.RUNTIME)
@EnabledIfSystemProperty(
    named = "retstack.chaos",
    matches = "once",
    disabledReason = "long form: ./retstack test --campaign chaos")
public @interface ChaosRow {}
