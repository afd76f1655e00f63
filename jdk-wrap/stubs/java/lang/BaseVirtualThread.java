package java.lang;

/** JDK 21 and later. Only compiled against, never shipped. */
abstract class BaseVirtualThread extends Thread {
    BaseVirtualThread() {
        super(null, null, null, 0L);
    }
}
