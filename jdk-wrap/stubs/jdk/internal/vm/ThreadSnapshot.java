package jdk.internal.vm;

/** JDK 25's, by name. Only compiled against, never shipped. */
public class ThreadSnapshot {}
