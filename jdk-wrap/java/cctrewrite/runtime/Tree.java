package cctrewrite.runtime;

import java.lang.invoke.DontInline;
import sun.misc.Unsafe;

/**
 * A calling-context tree outside the Java heap. Only its thread writes it. Others may read it at
 * any time, since a node is complete before the one store that links it. Memory of a tree is never
 * freed or moved.
 *
 * <p>The thread's context may be in any state: no library code may be called here (see
 * {@link CctRuntime}).
 */
public final class Tree {
    /**
     * How often a method may be on a path (Ammons, Ball and Larus, 1997); 0 for no bound. Set
     * before there is any tree.
     */
    private static int recursion;

    private Tree() {}

    /**
     * Sets the bound: if the path of a call contains the method {@code times} times, the call leads
     * back to the last of these nodes.
     */
    static void fold(int times) {
        recursion = times;
    }

    /**
     * Creates an empty tree.
     *
     * @return its record, or 0 if there is no memory
     */
    public static long create() {
        Unsafe u = CctMemory.U;
        long run = CctMemory.take(1);
        if (run == 0L) {
            return 0L;
        }
        long record = run & Layout.CHUNK_MASK;
        for (long field = 0L; field < Layout.RECORD_SIZE; field += 8L) {
            u.putLong(null, record + field, 0L);
        }
        u.putLong(null, record, record);
        u.putLong(null, record + Layout.FREE, record + Layout.RECORD_SIZE);
        u.putLong(null, record + Layout.CHUNKS, 1L);
        u.putLong(null, record + Layout.ACTIVATION, Long.MAX_VALUE);
        u.putLong(null, record + Layout.PERMITTED, Long.MAX_VALUE);
        u.putLong(null, record + Layout.ROOT, node(record, record, Layout.ROOT_MID, 0L, 1));
        u.putLong(null, record + Layout.MERGED, node(record, u.getLong(null, record + Layout.ROOT),
                Layout.MERGED_MID, 0L, Layout.MERGED_SLOTS));
        u.fullFence();
        return record;
    }

    /**
     * Finds the child {@code mid} of the node that contains {@code slot}, for an entry. Creates the
     * child if there is none. The slot then leads to it. Never fails: without memory, or past the
     * bound on contexts, it returns the tree's node for merged contexts, which is its own child.
     *
     * <p>Not inlined: each prologue calls it, and where receivers alternate it is hot enough for
     * the JVM's compilers to inline it. It would use up their inlining budgets.
     */
    @DontInline
    @jdk.internal.vm.annotation.DontInline
    public static long child(long slot, long mid) {
        Unsafe u = CctMemory.U;
        long last = u.getLong(null, slot);
        if (u.getLong(null, last) == Layout.TABLE_MID) {
            return entered(Dispatch.child(slot, last, mid), mid);
        }
        long parent;
        // The slot leads to a child of its owner, except for calls that lead back.
        if (last != CctMemory.SENTINEL && recursion == 0) {
            // Another callee at the same call site: first test the siblings after it, which are
            // older. The last one leads to the parent.
            long next = u.getLong(null, last + Layout.NEXT);
            int left = ChildIndex.LISTED;
            while ((next & Layout.LAST) == 0L && left != 0) {
                long node = -next;
                if (u.getLong(null, node) == mid) {
                    u.putLong(null, slot, node);
                    Dispatch.offer(slot, last);
                    return node;
                }
                next = u.getLong(null, node + Layout.NEXT);
                left--;
            }
            parent = (next & Layout.LAST) != 0L ? Layout.LAST - next : owner(slot);
        } else {
            parent = owner(slot);
        }
        long node = entered(remembered(slot, childOf(parent, mid, 0L), mid), mid);
        if (last != CctMemory.SENTINEL && recursion == 0
                && u.getLong(null, node + Layout.CALLS) != 0L) {
            Dispatch.offer(slot, last);
        }
        return node;
    }

    /**
     * {@link #child} where call sites are distinguished: finds the child entered from the call site
     * of {@code context}. It is a separate method, because one method for both is slower where
     * receivers alternate.
     */
    @DontInline
    @jdk.internal.vm.annotation.DontInline
    public static long childAt(long context, long mid) {
        Unsafe u = CctMemory.U;
        long slot = context & Layout.ADDRESS;
        long site = context & Layout.SITE;
        long last = u.getLong(null, slot);
        long parent;
        if (u.getLong(null, last) == Layout.TABLE_MID) {
            return entered(childOf(owner(slot), mid, site), mid);
        }
        if (last != CctMemory.SENTINEL && recursion == 0) {
            long next = u.getLong(null, last + Layout.NEXT);
            int left = ChildIndex.LISTED;
            while ((next & Layout.LAST) == 0L && left != 0) {
                long node = -next;
                if (u.getLong(null, node) == mid && site(node) == site) {
                    u.putLong(null, slot, node);
                    return node;
                }
                next = u.getLong(null, node + Layout.NEXT);
                left--;
            }
            parent = (next & Layout.LAST) != 0L ? Layout.LAST - next : owner(slot);
        } else {
            parent = owner(slot);
        }
        return entered(remembered(slot, childOf(parent, mid, site), mid), mid);
    }

    /** The node that contains the slot, or for which the slot stands. */
    static long owner(long slot) {
        Unsafe u = CctMemory.U;
        long word = slot - 8L;
        while (u.getLong(null, word) >= 0L) {
            word -= 8L;
        }
        long found = u.getLong(null, word);
        return found < Layout.SMALLEST_NEGATED ? found ^ Layout.STAND_IN_MARK : word - Layout.NEXT;
    }

    /**
     * Adds the bytecodes of an entry to the node for merged contexts. That node belongs to no
     * method, so its own MID does not count them.
     */
    private static long entered(long node, long mid) {
        Unsafe u = CctMemory.U;
        if (u.getLong(null, node) == Layout.MERGED_MID) {
            u.putLong(null, node + Layout.BYTECODES,
                    u.getLong(null, node + Layout.BYTECODES) + Mids.onEntry(mid));
        }
        return node;
    }

    /** Lets the slot lead to the node, if the node belongs to the method. */
    private static long remembered(long slot, long node, long mid) {
        Unsafe u = CctMemory.U;
        if (u.getLong(null, node) == mid) {
            u.putLong(null, slot, node);
        }
        return node;
    }

    /**
     * A slot for children of {@code node}. If the node has no slot, this is the stand-in of all
     * such nodes of the tree. Use it before the next call of this method.
     */
    public static long slotOf(long node, long record) {
        Unsafe u = CctMemory.U;
        if ((u.getLong(null, node) & Layout.SLOT_BITS) != 0L) {
            return node + Layout.SLOTS;
        }
        u.putLong(null, record + Layout.STAND_IN, node | Layout.STAND_IN_MARK);
        u.putLong(null, record + Layout.STAND_IN + 8L, CctMemory.SENTINEL);
        return record + Layout.STAND_IN + 8L;
    }

    /**
     * Finds the child {@code mid} of {@code parent} from that call site, and creates it if there is
     * none. Never fails, as {@link #child}.
     */
    public static long childOf(long parent, long mid, long site) {
        Unsafe u = CctMemory.U;
        if (u.getLong(null, parent) == Layout.MERGED_MID) {
            return parent;
        }
        long record = u.getLong(null, parent & Layout.CHUNK_MASK);
        long first = firstChild(parent);
        // The last child that the loop tests.
        long edge = 0L;
        int left = ChildIndex.LISTED;
        for (long node = first; node != 0L && left != 0; node = nextSibling(node)) {
            if (u.getLong(null, node) == mid && site(node) == site) {
                return node;
            }
            edge = node;
            left--;
        }
        if (left == 0) {
            long node = ChildIndex.find(record, parent, mid, site);
            if (node != 0L) {
                return node;
            }
        }
        if (recursion != 0) {
            long back = onPath(parent, mid);
            if (back != 0L) {
                return back;
            }
        }
        long nodes = u.getLong(null, record + Layout.NODES);
        if (nodes >= u.getLong(null, record + Layout.PERMITTED) && !permit(record, nodes)) {
            return u.getLong(null, record + Layout.MERGED);
        }
        // Add it to the index first, so that no child is missing there if a StackOverflowError
        // comes now.
        if (left == 0 && !ChildIndex.add(record, parent, edge)) {
            return merged(record, Layout.OUT_OF_MEMORY);
        }
        long node = node(record, parent, mid, site, (int) (mid & Layout.SLOT_BITS));
        if (node == 0L) {
            return merged(record, Layout.OUT_OF_MEMORY);
        }
        if (first != 0L) {
            u.putLong(null, node + Layout.NEXT, -first);
        }
        // Link it last, so that neither a reader nor code above a StackOverflowError finds half a
        // node.
        u.fullFence();
        setFirstChild(parent, node);
        u.putLong(null, record + Layout.NODES, nodes + 1L);
        return node;
    }

    /**
     * The last node of a method on the path to {@code node}, if the path contains as many as the
     * bound permits; otherwise 0.
     */
    private static long onPath(long node, long mid) {
        Unsafe u = CctMemory.U;
        long last = 0L;
        int times = 0;
        while (u.getLong(null, node) != Layout.ROOT_MID) {
            if (u.getLong(null, node) == mid) {
                last = last == 0L ? node : last;
                if (++times == recursion) {
                    return last;
                }
            }
            node = parent(node);
        }
        return 0L;
    }

    /** The parent, which the last sibling stores. */
    private static long parent(long node) {
        long next = CctMemory.U.getLong(null, node + Layout.NEXT);
        while ((next & Layout.LAST) == 0L) {
            next = CctMemory.U.getLong(null, -next + Layout.NEXT);
        }
        return Layout.LAST - next;
    }

    /** The newest child; 0 for none. */
    static long firstChild(long node) {
        return CctMemory.U.getLong(null, node + Layout.FIRST_CHILD) & Layout.ADDRESS;
    }

    static void setFirstChild(long node, long child) {
        CctMemory.U.putLong(null, node + Layout.FIRST_CHILD, site(node) | child);
    }

    /** The call site from which {@code node} was entered, in the {@link Layout#SITE} bits. */
    static long site(long node) {
        return CctMemory.U.getLong(null, node + Layout.FIRST_CHILD) & Layout.SITE;
    }

    /** The next sibling; 0 for the last one. */
    static long nextSibling(long node) {
        long next = CctMemory.U.getLong(null, node + Layout.NEXT);
        return (next & Layout.LAST) != 0L ? 0L : -next;
    }

    /**
     * Whether the tree may have more nodes than its present share. Once the bound is reached, it
     * stays reached.
     */
    private static boolean permit(long record, long nodes) {
        Unsafe u = CctMemory.U;
        if ((u.getLong(null, record + Layout.LACK) & Layout.BOUND_REACHED) != 0L) {
            return false;
        }
        long more = Bound.take(nodes);
        if (more == 0L) {
            merged(record, Layout.BOUND_REACHED);
            return false;
        }
        u.putLong(null, record + Layout.PERMITTED, nodes + more);
        return true;
    }

    /** The tree's node for merged contexts. Stores the reason why it is needed. */
    static long merged(long record, long why) {
        Unsafe u = CctMemory.U;
        u.putLong(null, record + Layout.LACK, u.getLong(null, record + Layout.LACK) | why);
        return u.getLong(null, record + Layout.MERGED);
    }

    /**
     * A new node that is not linked to its parent yet. Its next-sibling word marks it as an only
     * child. 0 if there is no memory.
     */
    static long node(long record, long parent, long mid, long site, int slots) {
        Unsafe u = CctMemory.U;
        long node = allocate(record, Layout.SLOTS + 8L * slots);
        if (node == 0L) {
            return 0L;
        }
        u.putLong(null, node, mid);
        u.putLong(null, node + Layout.CALLS, 0L);
        u.putLong(null, node + Layout.BYTECODES, 0L);
        u.putLong(null, node + Layout.FIRST_CHILD, site);
        u.putLong(null, node + Layout.NEXT, Layout.LAST - parent);
        long sentinel = CctMemory.SENTINEL;
        long end = node + Layout.SLOTS + 8L * slots;
        for (long slot = node + Layout.SLOTS; slot < end; slot += 8L) {
            u.putLong(null, slot, sentinel);
        }
        return node;
    }

    /** Allocates a node within one chunk. The first word of a chunk leads to the record. */
    static long allocate(long record, long size) {
        Unsafe u = CctMemory.U;
        long free = u.getLong(null, record + Layout.FREE);
        long node = free & Layout.ADDRESS;
        // A free address lies after the first word of a chunk and at most at the chunk's end, which
        // is also the start of the next chunk.
        long end = ((node - 1L) & Layout.CHUNK_MASK) + Layout.CHUNK;
        if (size > end - node) {
            if (free >= Layout.FREE_CHUNK) {
                free -= Layout.FREE_CHUNK;
                node = end + 8L;
            } else if (grow(record)) {
                free = u.getLong(null, record + Layout.FREE);
                node = free & Layout.ADDRESS;
            } else {
                return 0L;
            }
        }
        u.putLong(null, record + Layout.FREE, (free & ~Layout.ADDRESS) + node + size);
        return node;
    }

    /**
     * Takes a quarter of the tree's chunks, at least one and at most {@link Layout#LONGEST_RUN}. So
     * a small tree, of which there may be a million, wastes little memory, and a large one does not
     * grow by single chunks.
     */
    private static boolean grow(long record) {
        Unsafe u = CctMemory.U;
        long chunks = u.getLong(null, record + Layout.CHUNKS);
        int want = chunks < 8L ? 1 : chunks < 4L * Layout.LONGEST_RUN
                ? (int) chunks >> 2 : Layout.LONGEST_RUN;
        long run = CctMemory.take(want);
        if (run == 0L) {
            return false;
        }
        long first = run & Layout.CHUNK_MASK;
        long count = run & ~Layout.CHUNK_MASK;
        for (long i = 0L; i < count; i++) {
            u.putLong(null, first + i * Layout.CHUNK, record);
        }
        u.putLong(null, record + Layout.CHUNKS, chunks + count);
        // One store: if the run's address and its length were stored separately, nodes could
        // overwrite a neighbour's chunk.
        u.putLong(null, record + Layout.FREE, (count - 1L) * Layout.FREE_CHUNK + first + 8L);
        return true;
    }
}
