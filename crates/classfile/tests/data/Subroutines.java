/**
 * Subroutines (jsr, ret), which class files had up to version 49, and no StackMapTable. The class
 * file beside this source, by the compiler of JDK 8 (javac inlines short finally blocks unless told
 * not to):
 *   javac -source 1.4 -target 1.4 -g -XDjsrlimit=0 -d classes Subroutines.java
 */
public class Subroutines {
    /** @deprecated so that the class has such an attribute */
    int nested(int[] a, long b) {
        try {
            try {
                a[0] = (int) b;
                return a[1];
            } finally {
                a[2]++;
            }
        } catch (RuntimeException e) {
            b = e.hashCode();
        } finally {
            synchronized (this) {
                a[3] -= b;
            }
        }
        Runnable r = new Runnable() {
            public void run() {
                nested(null, 1);
            }
        };
        r.run();
        return Integer.class.hashCode();
    }
}
