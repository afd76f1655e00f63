package cctrewrite.typestate;

import java.util.List;

/** Writes JSON with one object on each line. */
final class Json {
    private final StringBuilder out = new StringBuilder();
    private boolean first;

    void line(String name, String value) {
        name(out.append('{'), name);
        quote(value);
        out.append("}\n");
    }

    void raw(String line) {
        out.append(line).append('\n');
    }

    void begin(String name) {
        name(out.append('{'), name).append('{');
        first = true;
    }

    void end() {
        out.append("}}\n");
    }

    void object(String name) {
        key(name).append('{');
        first = true;
    }

    void close() {
        out.append('}');
        first = false;
    }

    void text(String name, String value) {
        key(name);
        quote(value);
    }

    void number(String name, long value) {
        key(name).append(value);
    }

    void texts(String name, List<String> values) {
        key(name).append('[');
        for (int i = 0; i < values.size(); i++) {
            if (i > 0) {
                out.append(',');
            }
            quote(values.get(i));
        }
        out.append(']');
    }

    private StringBuilder key(String name) {
        if (!first) {
            out.append(',');
        }
        first = false;
        return name(out, name);
    }

    private static StringBuilder name(StringBuilder out, String name) {
        return out.append('"').append(name).append("\":");
    }

    private void quote(String text) {
        out.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            boolean isPaired = Character.isHighSurrogate(c) && i + 1 < text.length()
                    && Character.isLowSurrogate(text.charAt(i + 1));
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (isPaired) {
                out.append(c).append(text.charAt(++i));
            } else if (c < ' ' || c == '\u007f') {
                out.append(String.format("\\u%04x", (int) c));
            } else if (Character.isSurrogate(c)) {
                // A lone surrogate is no character: names in class files may contain it, JSON must
                // not.
                out.append('\ufffd');
            } else {
                out.append(c);
            }
        }
        out.append('"');
    }

    @Override
    public String toString() {
        return out.toString();
    }
}
