package cctrewrite.runtime;

import cctrewrite.agent.Profile;
import cctrewrite.agent.RootContext;
import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.lang.management.ManagementFactory;

/** The end of the JVM: the agent's last call, and by default the profile. In bypass. */
public final class Finish {
    private static boolean finished;

    private Finish() {}

    /** No profile will be written. */
    static synchronized void abandon() {
        finished = true;
    }

    /** Once. A second thread that ends the JVM waits until the first has written, or the file would be cut off. */
    public static synchronized void finish() {
        if (finished) {
            return;
        }
        finished = true;
        try {
            TreeEntry[] all = Threads.snapshot();
            RootContext[] roots = new RootContext[all.length];
            for (int i = 0; i < all.length; i++) {
                roots[i] = Agents.root(all[i]);
            }
            Profile profile = new Profile(roots);
            if (!Agents.end(profile)) {
                profile.write(profile.file());
            }
        } catch (Throwable e) {
            try {
                Settings.say("the profile could not be written: " + e);
            } catch (Throwable again) {
                // Nothing is left to say it with; the program's own end must not suffer.
            }
        }
    }

    /** Where the profile goes. */
    public static File file() {
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

    /** Writes beside the file first, so that under its name there is a complete profile or none. Devices and pipes are written to as they are. */
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
        File temporary = new File(file.getPath() + ".tmp");
        boolean complete = false;
        FileOutputStream out = new FileOutputStream(temporary);
        try {
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
        }
    }
}
