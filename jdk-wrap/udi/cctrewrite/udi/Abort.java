package cctrewrite.udi;

/**
 * A module cannot transform a class. The class stays as it is, and the user gets this exception's
 * message.
 */
public class Abort extends Exception {
    private static final long serialVersionUID = 1L;

    /**
     * Creates the exception.
     *
     * @param why the message for the user
     */
    public Abort(String why) {
        super(why);
    }
}
