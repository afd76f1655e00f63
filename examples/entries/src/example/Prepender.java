package example;

import cctrewrite.udi.Abort;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;

/**
 * Puts code in front of methods, by hand and without a library.
 *
 * <p>What is inserted has a length that is a multiple of four and no jumps. So the padding of
 * switches stays, and jumps, which are relative, do: only what counts from the beginning of the
 * code moves (exception table, tables of lines and variables, frames).
 */
final class Prepender {
    /** What is to be inserted. */
    interface Inserter {
        /** Writes the code for a method; nothing, to leave it as it is. */
        void insert(String method, Code code) throws IOException;
    }

    /** Code in the making, for a method without arguments on the stack. */
    final class Code {
        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

        /** Pushes a string. */
        void loadString(String text) throws IOException {
            instruction(0x13, constant(8, utf8(text)));
        }

        /** Calls a static method of a class. */
        void invokeStatic(String owner, String name, String descriptor) throws IOException {
            int nameAndType = constant(12, utf8(name), utf8(descriptor));
            instruction(0xb8, constant(10, constant(7, utf8(owner)), nameAndType));
        }

        private void instruction(int opcode, int index) {
            bytes.write(opcode);
            bytes.write(index >> 8);
            bytes.write(index);
        }

        private byte[] padded() {
            while (bytes.size() % 4 != 0) {
                bytes.write(0);
            }
            return bytes.toByteArray();
        }
    }

    private static final int NATIVE_OR_ABSTRACT = 0x0500;

    private final byte[] old;
    private final DataInputStream in;
    private String[] texts;
    private int constants;
    private final ByteArrayOutputStream added = new ByteArrayOutputStream();
    /** Of constants that were added: their contents as text, and their indices. */
    private final java.util.Map<String, Integer> indices = new java.util.HashMap<String, Integer>();

    Prepender(byte[] classFile) {
        old = classFile;
        in = new DataInputStream(new ByteArrayInputStream(classFile));
    }

    /** The class with code in front of its methods; null if nothing was inserted. */
    byte[] transform(Inserter inserter) throws IOException, Abort {
        in.readInt();
        in.readInt();
        constants = in.readUnsignedShort();
        readConstants();
        int body = at();
        in.skipBytes(6);
        in.skipBytes(2 * in.readUnsignedShort());
        for (int fields = in.readUnsignedShort(); fields > 0; fields--) {
            in.skipBytes(6);
            for (int n = in.readUnsignedShort(); n > 0; n--) {
                in.skipBytes(2);
                in.skipBytes(in.readInt());
            }
        }
        ByteArrayOutputStream methods = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(methods);
        int begin = at();
        int count = in.readUnsignedShort();
        out.writeShort(count);
        for (; count > 0; count--) {
            method(inserter, out);
        }
        int end = at();
        if (added.size() == 0) {
            return null;
        }
        if (constants > 0xffff) {
            throw new Abort("it has no room for more constants");
        }
        ByteArrayOutputStream made = new ByteArrayOutputStream();
        made.write(old, 0, 8);
        new DataOutputStream(made).writeShort(constants);
        made.write(old, 10, body - 10);
        added.writeTo(made);
        made.write(old, body, begin - body);
        methods.writeTo(made);
        made.write(old, end, old.length - end);
        // The constants that were added stand behind the old ones.
        return made.toByteArray();
    }

    private int at() throws IOException {
        return old.length - in.available();
    }

    private void readConstants() throws IOException {
        texts = new String[constants];
        for (int i = 1; i < constants; i++) {
            int tag = in.readUnsignedByte();
            switch (tag) {
                case 1:
                    texts[i] = in.readUTF();
                    break;
                case 5:
                case 6:
                    in.skipBytes(8);
                    i++;
                    break;
                case 7:
                case 8:
                case 16:
                case 19:
                case 20:
                    in.skipBytes(2);
                    break;
                case 15:
                    in.skipBytes(3);
                    break;
                default:
                    in.skipBytes(4);
            }
        }
    }

    private int utf8(String text) throws IOException {
        Integer known = indices.get("1" + text);
        if (known != null) {
            return known;
        }
        DataOutputStream out = new DataOutputStream(added);
        out.writeByte(1);
        out.writeUTF(text);
        indices.put("1" + text, constants);
        return constants++;
    }

    /** A constant that consists of indices. */
    private int constant(int tag, int... parts) throws IOException {
        String key = tag + java.util.Arrays.toString(parts);
        Integer known = indices.get(key);
        if (known != null) {
            return known;
        }
        DataOutputStream out = new DataOutputStream(added);
        out.writeByte(tag);
        for (int part : parts) {
            out.writeShort(part);
        }
        indices.put(key, constants);
        return constants++;
    }

    private void method(Inserter inserter, DataOutputStream out) throws IOException, Abort {
        int flags = in.readUnsignedShort();
        int name = in.readUnsignedShort();
        out.writeShort(flags);
        out.writeShort(name);
        out.writeShort(in.readUnsignedShort());
        Code code = new Code();
        if ((flags & NATIVE_OR_ABSTRACT) == 0) {
            inserter.insert(texts[name], code);
        }
        byte[] inserted = code.padded();
        int attributes = in.readUnsignedShort();
        out.writeShort(attributes);
        for (; attributes > 0; attributes--) {
            int attribute = in.readUnsignedShort();
            out.writeShort(attribute);
            byte[] content = new byte[in.readInt()];
            in.readFully(content);
            if (inserted.length > 0 && "Code".equals(texts[attribute])) {
                content = prepended(texts[name], content, inserted);
            }
            out.writeInt(content.length);
            out.write(content);
        }
    }

    /** The content of a Code attribute (JVMS 4.7.3). */
    private byte[] prepended(String method, byte[] content, byte[] inserted) throws IOException, Abort {
        int by = inserted.length;
        DataInputStream from = new DataInputStream(new ByteArrayInputStream(content));
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream to = new DataOutputStream(bytes);
        to.writeShort(Math.max(from.readUnsignedShort(), 1));
        to.writeShort(from.readUnsignedShort());
        byte[] code = new byte[from.readInt()];
        from.readFully(code);
        if (code.length + by > 0xffff) {
            throw new Abort("its method " + method + " has no room for more code");
        }
        to.writeInt(code.length + by);
        to.write(inserted);
        to.write(code);
        int handlers = from.readUnsignedShort();
        to.writeShort(handlers);
        for (; handlers > 0; handlers--) {
            for (int i = 0; i < 3; i++) {
                to.writeShort(from.readUnsignedShort() + by);
            }
            to.writeShort(from.readUnsignedShort());
        }
        ByteArrayOutputStream kept = new ByteArrayOutputStream();
        DataOutputStream attributes = new DataOutputStream(kept);
        int count = 0;
        for (int n = from.readUnsignedShort(); n > 0; n--) {
            int name = from.readUnsignedShort();
            byte[] table = new byte[from.readInt()];
            from.readFully(table);
            byte[] moved = moved(texts[name], table, by);
            if (moved != null) {
                attributes.writeShort(name);
                attributes.writeInt(moved.length);
                attributes.write(moved);
                count++;
            }
        }
        to.writeShort(count);
        kept.writeTo(to);
        return bytes.toByteArray();
    }

    /**
     * An attribute of code, of which the beginning has moved; null for those that a debugger can do
     * without.
     */
    private static byte[] moved(String name, byte[] table, int by) throws IOException {
        switch (name) {
            case "LineNumberTable":
                return movedEntries(table, 4, by);
            case "LocalVariableTable":
            case "LocalVariableTypeTable":
                return movedEntries(table, 10, by);
            case "StackMapTable":
                return movedFrames(table, by);
            default:
                return null;
        }
    }

    /** A table of entries of one size that begin with a place in the code. */
    private static byte[] movedEntries(byte[] table, int size, int by) {
        byte[] moved = table.clone();
        for (int at = 2; at + size <= table.length; at += size) {
            int place = ((table[at] & 0xff) << 8 | table[at + 1] & 0xff) + by;
            moved[at] = (byte) (place >> 8);
            moved[at + 1] = (byte) place;
        }
        return moved;
    }

    /**
     * Frames (JVMS 4.7.4): each says how far it is from the one before, so only the first moves;
     * and what is uninitialised names its {@code new}.
     */
    private static byte[] movedFrames(byte[] table, int by) throws IOException {
        DataInputStream from = new DataInputStream(new ByteArrayInputStream(table));
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream to = new DataOutputStream(bytes);
        int frames = from.readUnsignedShort();
        to.writeShort(frames);
        for (int i = 0; i < frames; i++) {
            int more = i == 0 ? by : 0;
            int type = from.readUnsignedByte();
            if (type < 128) {
                boolean hasStack = type >= 64;
                int delta = type % 64 + more;
                if (delta < 64) {
                    to.writeByte((hasStack ? 64 : 0) + delta);
                } else {
                    to.writeByte(hasStack ? 247 : 251);
                    to.writeShort(delta);
                }
                types(from, to, hasStack ? 1 : 0, by);
                continue;
            }
            to.writeByte(type);
            to.writeShort(from.readUnsignedShort() + more);
            if (type == 247) {
                types(from, to, 1, by);
            } else if (type > 251 && type < 255) {
                types(from, to, type - 251, by);
            } else if (type == 255) {
                for (int list = 0; list < 2; list++) {
                    int n = from.readUnsignedShort();
                    to.writeShort(n);
                    types(from, to, n, by);
                }
            }
        }
        return bytes.toByteArray();
    }

    private static void types(DataInputStream from, DataOutputStream to, int count, int by) throws IOException {
        for (; count > 0; count--) {
            int tag = from.readUnsignedByte();
            to.writeByte(tag);
            if (tag == 7) {
                to.writeShort(from.readUnsignedShort());
            } else if (tag == 8) {
                to.writeShort(from.readUnsignedShort() + by);
            }
        }
    }
}
