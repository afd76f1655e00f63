package cctrewrite.runtime;

/**
 * XXH3-64 with seed 0, after its specification (xxHash, doc/xxhash_spec.md). The runtime compares
 * the hash of provenance lines with the hash in rewritten classes.
 */
public final class Xxh3 {
    private static final long PRIME32_1 = 0x9E3779B1L;
    private static final long PRIME32_2 = 0x85EBCA77L;
    private static final long PRIME32_3 = 0xC2B2AE3DL;
    private static final long PRIME64_1 = 0x9E3779B185EBCA87L;
    private static final long PRIME64_2 = 0xC2B2AE3D27D4EB4FL;
    private static final long PRIME64_3 = 0x165667B19E3779F9L;
    private static final long PRIME64_4 = 0x85EBCA77C2B2AE63L;
    private static final long PRIME64_5 = 0x27D4EB2F165667C5L;
    private static final long PRIME_MX1 = 0x165667919E3779F9L;
    private static final long PRIME_MX2 = 0x9FB21C651E98DF25L;

    private static final int STRIPE = 64;

    /** The default secret, 192 bytes as hexadecimal digits. */
    private static final byte[] SECRET =
            bytes("b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f"
            + "cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c"
            + "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
            + "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364"
            + "eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e"
            + "2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e");

    private Xxh3() {}

    public static long hash(byte[] b) {
        int n = b.length;
        if (n == 0) {
            return avalanche64(secret(56) ^ secret(64));
        }
        if (n <= 3) {
            long combined = (b[0] & 0xFFL) << 16 | (b[n >> 1] & 0xFFL) << 24 | b[n - 1] & 0xFFL
                    | (long) n << 8;
            return avalanche64(combined ^ (word(SECRET, 0) ^ word(SECRET, 4)));
        }
        if (n <= 8) {
            long value = (word(b, 0) << 32 | word(b, n - 4)) ^ secret(8) ^ secret(16);
            value ^= (value << 49 | value >>> 15) ^ (value << 24 | value >>> 40);
            value *= PRIME_MX2;
            value ^= (value >>> 35) + n;
            value *= PRIME_MX2;
            return value ^ value >>> 28;
        }
        if (n <= 16) {
            long low = (secret(24) ^ secret(32)) ^ twoWords(b, 0);
            long high = (secret(40) ^ secret(48)) ^ twoWords(b, n - 8);
            return avalanche(n + reversed(low) + high + fold(low, high));
        }
        if (n <= 128) {
            return upTo128(b, n);
        }
        return n <= 240 ? upTo240(b, n) : longer(b, n);
    }

    private static long upTo128(byte[] b, int n) {
        long sum = n * PRIME64_1;
        for (int i = (n - 1) / 32; i >= 0; i--) {
            sum += mix16(b, 16 * i, 32 * i);
            sum += mix16(b, n - 16 * (i + 1), 32 * i + 16);
        }
        return avalanche(sum);
    }

    private static long upTo240(byte[] b, int n) {
        long sum = n * PRIME64_1;
        for (int i = 0; i < 8; i++) {
            sum += mix16(b, 16 * i, 16 * i);
        }
        sum = avalanche(sum);
        for (int i = 8; i < n / 16; i++) {
            sum += mix16(b, 16 * i, 16 * (i - 8) + 3);
        }
        return avalanche(sum + mix16(b, n - 16, 119));
    }

    private static long longer(byte[] b, int n) {
        long[] acc = {PRIME32_3, PRIME64_1, PRIME64_2, PRIME64_3, PRIME64_4, PRIME32_2, PRIME64_5,
                PRIME32_1};
        int stripesPerBlock = (SECRET.length - STRIPE) / 8;
        int block = STRIPE * stripesPerBlock;
        int blocks = (n - 1) / block;
        for (int i = 0; i < blocks; i++) {
            for (int s = 0; s < stripesPerBlock; s++) {
                stripe(acc, b, i * block + s * STRIPE, 8 * s);
            }
            for (int lane = 0; lane < 8; lane++) {
                acc[lane] = (acc[lane] ^ acc[lane] >>> 47
                        ^ secret(SECRET.length - STRIPE + 8 * lane)) * PRIME32_1;
            }
        }
        int stripes = (n - 1 - blocks * block) / STRIPE;
        for (int s = 0; s < stripes; s++) {
            stripe(acc, b, blocks * block + s * STRIPE, 8 * s);
        }
        stripe(acc, b, n - STRIPE, SECRET.length - STRIPE - 7);
        long sum = n * PRIME64_1;
        for (int i = 0; i < 4; i++) {
            sum += fold(acc[2 * i] ^ secret(11 + 16 * i), acc[2 * i + 1] ^ secret(11 + 16 * i + 8));
        }
        return avalanche(sum);
    }

    private static void stripe(long[] acc, byte[] b, int at, int secretAt) {
        for (int lane = 0; lane < 8; lane++) {
            long value = twoWords(b, at + 8 * lane);
            long key = value ^ secret(secretAt + 8 * lane);
            acc[lane ^ 1] += value;
            acc[lane] += (key & 0xFFFFFFFFL) * (key >>> 32);
        }
    }

    private static long mix16(byte[] b, int at, int secretAt) {
        return fold(twoWords(b, at) ^ secret(secretAt), twoWords(b, at + 8) ^ secret(secretAt + 8));
    }

    /** Both halves of the 128-bit product, xored. */
    private static long fold(long a, long b) {
        long aLow = a & 0xFFFFFFFFL;
        long aHigh = a >>> 32;
        long bLow = b & 0xFFFFFFFFL;
        long bHigh = b >>> 32;
        long lowLow = aLow * bLow;
        long cross = (lowLow >>> 32) + (aHigh * bLow & 0xFFFFFFFFL) + aLow * bHigh;
        long high = (aHigh * bLow >>> 32) + (cross >>> 32) + aHigh * bHigh;
        return a * b ^ high;
    }

    /**
     * The bytes in reverse order. Does not use {@code Long}: the program must be the first to
     * initialise that class.
     */
    private static long reversed(long x) {
        x = (x & 0x00FF00FF00FF00FFL) << 8 | x >>> 8 & 0x00FF00FF00FF00FFL;
        x = (x & 0x0000FFFF0000FFFFL) << 16 | x >>> 16 & 0x0000FFFF0000FFFFL;
        return x << 32 | x >>> 32;
    }

    private static long avalanche(long x) {
        x ^= x >>> 37;
        x *= PRIME_MX1;
        return x ^ x >>> 32;
    }

    private static long avalanche64(long x) {
        x ^= x >>> 33;
        x *= PRIME64_2;
        x ^= x >>> 29;
        x *= PRIME64_3;
        return x ^ x >>> 32;
    }

    private static long secret(int at) {
        return twoWords(SECRET, at);
    }

    private static long twoWords(byte[] b, int at) {
        return word(b, at) | word(b, at + 4) << 32;
    }

    private static long word(byte[] b, int at) {
        return b[at] & 0xFFL | (b[at + 1] & 0xFFL) << 8 | (b[at + 2] & 0xFFL) << 16
                | (b[at + 3] & 0xFFL) << 24;
    }

    private static byte[] bytes(String hex) {
        byte[] bytes = new byte[hex.length() / 2];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) (Character.digit(hex.charAt(2 * i), 16) << 4
                    | Character.digit(hex.charAt(2 * i + 1), 16));
        }
        return bytes;
    }
}
