package java.lang;

/** JDK 21 and later. Only compiled against, never shipped. */
final class VirtualThread extends Thread {
    private VirtualThread() {
        super(null, null, null, 0L);
    }
}
