package cctrewrite.markers;

/** The static data of a marker, from the class's attribute. */
public final class MarkerDescriptor {
    static final Subscriber[] NOBODY = {};

    final MarkerTable table;
    final int index;
    final int number;
    private final String token;
    private final String predicate;
    private final boolean pair;
    private final String place;
    private final MethodDescriptor method;
    private final int bci;
    private final int line;
    private final String detail;
    final boolean perObject;
    final boolean instant;
    /** The subscribers. The array is replaced and never changed. */
    volatile Subscriber[] subscribers = NOBODY;
    volatile boolean enabled = true;

    MarkerDescriptor(MarkerTable table, int index, int number, Row row, MethodDescriptor method) {
        this.table = table;
        this.index = index;
        this.number = number;
        this.method = method;
        token = row.token;
        predicate = row.predicate;
        pair = row.pair;
        place = row.place;
        bci = row.bci;
        line = row.line;
        detail = row.detail;
        perObject = row.perObject;
        instant = row.instant;
    }

    /** The marker's number, unique in this run. */
    public int number() {
        return number;
    }

    /** Its index in its class, as in the class's attribute. */
    public int index() {
        return index;
    }

    /** The class that contains it. */
    public Class<?> owner() {
        return table.owner;
    }

    /** The token, by which clients recognise the marker. */
    public String token() {
        return token;
    }

    /** The rule's further text for clients; empty if there is none. */
    public String predicate() {
        return predicate;
    }

    /** Whether it has an exit. */
    public boolean isPair() {
        return pair;
    }

    /**
     * The kind of its location, by the word of the rule: {@code method}, {@code loop}, {@code call}
     * ...
     */
    public String place() {
        return place;
    }

    /** Whether each pass of a loop reaches the entry, of which only the first counts. */
    boolean isLoop() {
        return pair && place.equals("loop");
    }

    /** The method that contains it. */
    public MethodDescriptor method() {
        return method;
    }

    /** The bytecode index in the original method. */
    public int bci() {
        return bci;
    }

    /** The line number, or -1. */
    public int line() {
        return line;
    }

    /** The callee, field, or type of its location; empty if it has none. */
    public String detail() {
        return detail;
    }

    /** Whether clients can {@linkplain Markers#ignore ignore} single objects. */
    public boolean isPerObject() {
        return perObject;
    }

    /** Whether the marker is enabled, which is the default. */
    public boolean isEnabled() {
        return enabled;
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder(token);
        if (!predicate.isEmpty()) {
            text.append(':').append(predicate);
        }
        text.append(' ').append(place).append(' ').append(method);
        if (!place.equals("method")) {
            text.append(" @").append(bci);
        }
        if (!detail.isEmpty()) {
            text.append(' ').append(detail);
        }
        return text.toString();
    }

    /** One marker's data in the text from inserted code. */
    static final class Row {
        String token;
        String predicate;
        boolean pair;
        String place;
        String methodName;
        String methodDescriptor;
        int bci;
        int line;
        String detail;
        boolean perObject;
        boolean instant;

        /**
         * Parses a text. U+0001 separates the fields; no rule and no name in a compiled program
         * contains it.
         */
        static Row parse(String text) {
            String[] fields = new String[9];
            int from = 0;
            for (int i = 0; i < fields.length; i++) {
                int to = text.indexOf('\1', from);
                fields[i] = text.substring(from, to < 0 ? text.length() : to);
                from = to + 1;
            }
            Row row = new Row();
            row.token = fields[0];
            row.predicate = fields[1];
            row.pair = fields[2].indexOf('p') >= 0;
            row.perObject = fields[2].indexOf('o') >= 0;
            row.instant = fields[2].indexOf('i') >= 0;
            row.place = fields[3];
            row.methodName = fields[4];
            row.methodDescriptor = fields[5];
            row.bci = Integer.parseInt(fields[6]);
            row.line = Integer.parseInt(fields[7]);
            row.detail = fields[8];
            return row;
        }
    }
}
