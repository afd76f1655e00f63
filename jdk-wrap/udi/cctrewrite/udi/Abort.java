package cctrewrite.udi;

/**
 * A module cannot deal with a class. It stays as it is, and the user is told, with this exception's
 * message.
 */
public class Abort extends Exception {
    private static final long serialVersionUID = 1L;

    /** @param why for the user */
    public Abort(String why) {
        super(why);
    }
}
