package cctrewrite.runtime;

import cctrewrite.agent.Profile;
import cctrewrite.agent.RootContext;
import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.security.AccessController;
import java.security.PrivilegedAction;

/** The end of the JVM: the agent's last call, and by default the profile. In bypass. */
public final class Finish {
    private static final Object LOCK = new Object();

    /** Levels of {@link #room}: more stack than writing needs. */
    private static final int LEVELS = 1500;

    /** Stack of a thread that does nothing but write, in bytes. */
    private static final long STACK = 1L << 20;

    /** How long, in milliseconds, the writing thread may wait for a lock. */
    private static final int PATIENCE = 10000;

    private static boolean claimed;

    /** What is to be done before the profile is written; null if nothing is. */
    private static volatile Runnable before;

    /** The thread that makes the agent's last call, and with what; null before and afterwards. */
    private static Thread asking;

    private static Profile asked;

    private Finish() {}

    /** Has something done before the profile is written. */
    public static void before(Runnable what) {
        before = what;
    }

    /** No profile will be written. */
    static void abandon() {
        claim();
    }

    /** Whether the caller is the one who ends the recording. */
    private static boolean claim() {
        synchronized (LOCK) {
            boolean mine = !claimed;
            claimed = true;
            return mine;
        }
    }

    private static boolean claimed() {
        synchronized (LOCK) {
            return claimed;
        }
    }

    /**
     * Once. A second thread that ends the JVM waits until the first has written, or the file would
     * be cut off. A program may end where its stack is full; then a thread of its own writes.
     *
     * @throws StackOverflowError when there is no room even for starting that thread; nothing is
     *     done, the JVM does not end either, and whoever ends it later comes here again
     */
    public static synchronized void finish() {
        if (claimed()) {
            if (asking == Thread.currentThread()) {
                left();
            }
            return;
        }
        if (!isFull()) {
            if (claim()) {
                endPrivileged();
            }
            return;
        }
        Writer writer = new Writer();
        Thread thread = new Thread(null, writer, "cctrewrite", STACK);
        CctRuntime.bypass(thread);
        thread.start();
        writer.await(thread);
    }

    /**
     * Ends the recording with the runtime's own rights: the program's frames are on the stack, and
     * a security policy need not let the program write files or look at properties. A profiling
     * agent and clients of markers keep to their rights, since their frames are nearer.
     */
    private static void endPrivileged() {
        AccessController.doPrivileged(new Ending());
    }

    /** The end of the recording, as an action. */
    private static final class Ending implements PrivilegedAction<Object> {
        @Override
        public Object run() {
            end();
            return null;
        }
    }

    private static boolean isFull() {
        try {
            return room(LEVELS) != 0;
        } catch (StackOverflowError e) {
            return true;
        }
    }

    private static int room(int levels) {
        return levels == 0 ? 0 : room(levels - 1) << 1;
    }

    /** Ends the recording on another thread than the one that ends the JVM. */
    private static final class Writer implements Runnable {
        private volatile boolean done;

        @Override
        public void run() {
            try {
                if (claim()) {
                    endPrivileged();
                }
            } finally {
                done = true;
            }
        }

        /**
         * Uses hardly any stack. Gives up when the writer waits for a lock that the ending thread
         * seems to hold.
         */
        void await(Thread thread) {
            int blocked = 0;
            while (!done && blocked < PATIENCE) {
                CctMemory.U.park(false, 1000000L);
                try {
                    blocked = thread.getState() == Thread.State.BLOCKED ? blocked + 1 : 0;
                } catch (StackOverflowError e) {
                    // No room to ask.
                }
            }
        }
    }

    private static void end() {
        try {
            // Nothing, unless the JVM was not started by a launcher or has no main class
            // (`java -version`).
            Launch.launch(true);
            if (before != null) {
                before.run();
            }
            if (Tracing.on()) {
                Tracing.finish();
                return;
            }
            if (Pcc.on()) {
                Pcc.finish();
                return;
            }
            TreeEntry[] all = Threads.snapshot();
            RootContext[] roots = new RootContext[all.length];
            for (int i = 0; i < all.length; i++) {
                roots[i] = Agents.root(all[i]);
            }
            Profile profile = new Profile(roots);
            asked = profile;
            asking = Thread.currentThread();
            boolean dealtWith = Agents.end(profile);
            asking = null;
            if (!dealtWith) {
                profile.write(profile.file());
            }
            Arena.end();
        } catch (Throwable e) {
            asking = null;
            tell(e);
        }
    }

    /** The agent ends the JVM in its last call, which does not return: as if it had thrown. */
    private static void left() {
        asking = null;
        try {
            Settings.say("the profiling agent " + Settings.AGENT
                    + " ended the JVM in its last call; the profile is written as without it");
            asked.write(asked.file());
            Arena.end();
        } catch (Throwable e) {
            tell(e);
        }
    }

    private static void tell(Throwable e) {
        try {
            Settings.say("the profile could not be written: " + e);
            if (Arena.left() != null) {
                Settings.say("the recorded trees are in " + Arena.left()
                        + "; `cctrewrite recover` makes a profile of them");
            }
        } catch (Throwable again) {
            // Nothing is left to say it with; the program's own end must not suffer.
        }
    }

    /** Where the profile goes. */
    public static File file() {
        String expected = LoadTime.expected();
        if (expected != null) {
            return new File(expected);
        }
        String name = Settings.OUT;
        if (name == null) {
            name = "cctrewrite-%p.cct";
        }
        int at = name.indexOf("%p");
        return new File(at < 0 ? name : name.substring(0, at) + pid() + name.substring(at + 2));
    }

    private static String pid() {
        // Where there is a /proc this spares the program the start of the management classes.
        try {
            String name = new File("/proc/self").getCanonicalFile().getName();
            if (name.length() > 0 && Character.isDigit(name.charAt(0))) {
                return name;
            }
        } catch (IOException e) {
            // Not Linux.
        }
        String name = ManagementFactory.getRuntimeMXBean().getName();
        int at = name.indexOf('@');
        return at > 0 ? name.substring(0, at) : name;
    }

    /**
     * A new folder beside it, into which nobody but its owner can look: what is made in it is out
     * of reach of others from its first moment on, where a file of which they may read may be open
     * already when it is forbidden to them. Nobody else can have made it: not another JVM that
     * writes to the same file, nor whoever puts a link into a folder that all may write to.
     */
    private static File besideIt(File file) throws IOException {
        String name = file.getPath() + "." + pid();
        for (int i = 0; i < 100; i++) {
            File folder = new File(name + (i == 0 ? ".tmp" : "-" + i + ".tmp"));
            if (folder.mkdir()) {
                keepPrivate(folder);
                folder.setExecutable(false, false);
                folder.setExecutable(true, true);
                return folder;
            }
            try {
                // Says why there can be none, if it is not that something is there.
                if (folder.createNewFile()) {
                    folder.delete();
                }
            } catch (IOException e) {
                throw new IOException(folder + " (" + e.getMessage() + ")");
            }
        }
        throw new IOException(name + ".tmp cannot be made, nor others like it");
    }

    /**
     * Which methods a program has, and which of them ran, is its owner's business: nobody else may
     * read or write it, as with what perf(1) records.
     */
    private static void keepPrivate(File empty) {
        // The first of each pair is for all, the second for the owner. Where there are no such
        // permissions they do nothing.
        empty.setReadable(false, false);
        empty.setReadable(true, true);
        empty.setWritable(false, false);
        empty.setWritable(true, true);
    }

    /**
     * Writes beside the file first, so that under its name there is a complete profile or none.
     * Devices and pipes are written to as they are.
     */
    public static void write(File file) throws IOException {
        if (file.exists() && !file.isFile()) {
            FileOutputStream device = new FileOutputStream(file);
            try {
                new ProfileWriter(device).write();
            } finally {
                device.close();
            }
            return;
        }
        File folder = besideIt(file);
        File temporary = new File(folder, file.getName());
        boolean complete = false;
        try {
            if (!temporary.createNewFile()) {
                // While the folder was not closed to them yet, where the umask lets others write.
                throw new IOException(temporary + " was made by somebody else");
            }
            keepPrivate(temporary);
            FileOutputStream out = new FileOutputStream(temporary);
            try {
                new ProfileWriter(out).write();
            } finally {
                out.close();
            }
            complete = temporary.renameTo(file);
            if (!complete) {
                // Some systems do not rename over an existing file.
                file.delete();
                complete = temporary.renameTo(file);
            }
            if (!complete) {
                throw new IOException(file + ": cannot be replaced by " + temporary);
            }
        } finally {
            if (!complete) {
                temporary.delete();
            }
            folder.delete();
        }
    }
}
