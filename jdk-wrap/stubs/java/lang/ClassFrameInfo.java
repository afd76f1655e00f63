package java.lang;

/** JDK 22's, by name. Only compiled against, never shipped. */
class ClassFrameInfo {}
