package jdk.internal.vm;

/** JDK 19's, by name. Only compiled against, never shipped. */
public class ContinuationScope {}
