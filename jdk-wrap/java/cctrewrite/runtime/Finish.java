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

    /** Recursion depth of {@link #room}: it takes more stack than writing needs. */
    private static final int LEVELS = 1500;

    /** Stack size of the thread that only writes, in bytes. */
    private static final long STACK = 1L << 20;

    /**
     * How many milliseconds the ending thread waits while the writing thread is blocked by a lock.
     */
    private static final int PATIENCE = 10000;

    private static boolean claimed;

    /** The action to run before the profile is written, or null. */
    private static volatile Runnable before;

    /**
     * The thread that makes the agent's last call, and the call's argument; null before and after
     * it.
     */
    private static Thread asking;

    private static Profile asked;

    private Finish() {}

    /** Sets the action to run before the profile is written. */
    public static void before(Runnable what) {
        before = what;
    }

    /** No profile will be written. */
    static void abandon() {
        claim();
    }

    /** Whether the caller must end the recording. */
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
     * Ends the recording, once. A second thread that ends the JVM waits until the first has
     * written, or the file would be incomplete. If the program ends where its stack is full, a
     * thread of its own writes.
     *
     * @throws StackOverflowError if the stack has no room even to start that thread; then nothing
     *     has been done, the JVM does not end, and a later end of the JVM calls this method again
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
     * Ends the recording with the runtime's own permissions. The program's frames are on the stack,
     * and its security policy may forbid it to write files or to read properties. A profiling agent
     * and marker clients keep their own permissions, since their frames are nearer.
     */
    private static void endPrivileged() {
        AccessController.doPrivileged(new Ending());
    }

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
         * Waits for the writer with hardly any stack. Gives up if the writer waits too long for a
         * lock, which the ending thread probably holds.
         */
        void await(Thread thread) {
            int blocked = 0;
            while (!done && blocked < PATIENCE) {
                CctMemory.U.park(false, 1000000L);
                try {
                    blocked = thread.getState() == Thread.State.BLOCKED ? blocked + 1 : 0;
                } catch (StackOverflowError e) {
                    // No stack left to read the state.
                }
            }
        }
    }

    private static void end() {
        try {
            // Does nothing, unless the JVM was started without a launcher or has no main class
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
            report(e);
        }
    }

    /**
     * Runs when the agent ends the JVM in its last call, which then does not return. The runtime
     * acts as if the agent had thrown.
     */
    private static void left() {
        asking = null;
        try {
            Settings.say("the profiling agent " + Settings.AGENT
                    + " ended the JVM in its last call; the profile is written as without it");
            asked.write(asked.file());
            Arena.end();
        } catch (Throwable e) {
            report(e);
        }
    }

    private static void report(Throwable e) {
        try {
            Settings.say("the profile could not be written: " + e);
            if (Arena.left() != null) {
                Settings.say("the recorded trees are in " + Arena.left()
                        + "; `cctrewrite recover` makes a profile of them");
            }
        } catch (Throwable again) {
            // No way is left to report it, and the program's own end must go on.
        }
    }

    /** The file for the profile. */
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
        // Where /proc exists, the program need not start the management classes.
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
     * Creates a new folder next to the file, which only its owner can open. So no other user can
     * reach a file in it, from the file's first moment on. (Otherwise another user could have
     * opened the file before its permissions are restricted.) Nobody else can have created the
     * folder: not another JVM that writes to the same file, and not a user who puts a link into a
     * folder that everybody may write to.
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
                // Throws with the reason, unless a file of that name exists.
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
     * Lets only the owner read and write the file, as perf(1) does with its records: the names of a
     * program's methods, and which of them ran, are private to its owner.
     */
    private static void keepPrivate(File empty) {
        // The first call of each pair is for all users, the second for the owner. On systems
        // without such permissions the calls do nothing.
        empty.setReadable(false, false);
        empty.setReadable(true, true);
        empty.setWritable(false, false);
        empty.setWritable(true, true);
    }

    /**
     * Writes a temporary file first, so that the file is either complete or absent. Writes directly
     * to devices and pipes.
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
                // Another user created it before the folder was closed, where the umask lets others
                // write.
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
