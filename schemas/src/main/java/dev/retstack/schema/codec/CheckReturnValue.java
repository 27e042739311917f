package dev.retstack.schema.codec;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Error Prone knows it by name: a caller that drops the result of the method does not compile. */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.CLASS)
public @interface CheckReturnValue {}
