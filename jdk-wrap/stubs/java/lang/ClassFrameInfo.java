package java.lang;

/** The class of JDK 22, only by name. Only compiled against, never shipped. */
class ClassFrameInfo {}
