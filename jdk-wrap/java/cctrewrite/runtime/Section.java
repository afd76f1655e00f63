package cctrewrite.runtime;

import java.io.IOException;
import java.io.OutputStream;
import java.util.zip.CRC32;

/**
 * Writes sections of a profile, one at a time: collects a section in a growing buffer, then writes
 * it with its length and checksum. In bypass.
 */
final class Section {
    private static final int HEADER = 12;

    private final OutputStream out;
    private byte[] b = new byte[1 << 16];
    private int size = HEADER;

    Section(OutputStream out) {
        this.out = out;
    }

    /** Bytes of payload so far. */
    int size() {
        return size - HEADER;
    }

    void varint(long value) {
        room(10);
        long rest = value;
        while ((rest & ~0x7FL) != 0L) {
            b[size++] = (byte) (rest | 0x80L);
            rest >>>= 7;
        }
        b[size++] = (byte) rest;
    }

    void u8(long value) {
        room(8);
        put(size, value);
        size += 8;
    }

    void string(byte[] utf8) {
        varint(utf8.length);
        room(utf8.length);
        System.arraycopy(utf8, 0, b, size, utf8.length);
        size += utf8.length;
    }

    /** Writes the section and starts an empty one. {@code tag} has four ASCII characters. */
    void flush(String tag) throws IOException {
        for (int i = 0; i < 4; i++) {
            b[i] = (byte) tag.charAt(i);
        }
        put(4, size - HEADER);
        CRC32 crc = new CRC32();
        crc.update(b, 0, size);
        long sum = crc.getValue();
        room(4);
        for (int shift = 24; shift >= 0; shift -= 8) {
            b[size++] = (byte) (sum >>> shift);
        }
        out.write(b, 0, size);
        size = HEADER;
    }

    private void put(int at, long value) {
        for (int i = 0; i < 8; i++) {
            b[at + i] = (byte) (value >>> 56 - 8 * i);
        }
    }

    private void room(int bytes) {
        if (bytes > b.length - size) {
            byte[] more = new byte[2 * b.length + bytes];
            System.arraycopy(b, 0, more, 0, size);
            b = more;
        }
    }
}
