package cctrewrite.typestate;

/** A location in the program, as reports name it. */
final class Site {
    final String owner;
    final String method;
    final String file;
    final int line;

    Site(String owner, String method, String file, int line) {
        this.owner = owner;
        this.method = method;
        this.file = file;
        this.line = line;
    }

    static Site of(StackTraceElement frame) {
        return new Site(frame.getClassName(), frame.getMethodName(), frame.getFileName(),
                frame.getLineNumber());
    }

    @Override
    public int hashCode() {
        return 31 * (31 * owner.hashCode() + method.hashCode()) + line;
    }

    @Override
    public boolean equals(Object other) {
        if (this == other) {
            return true;
        }
        if (!(other instanceof Site)) {
            return false;
        }
        Site site = (Site) other;
        return line == site.line && owner.equals(site.owner) && method.equals(site.method);
    }
}
