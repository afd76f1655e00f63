import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.FieldInsnNode;
import org.objectweb.asm.tree.FieldNode;
import org.objectweb.asm.tree.IincInsnNode;
import org.objectweb.asm.tree.InsnList;
import org.objectweb.asm.tree.InsnNode;
import org.objectweb.asm.tree.JumpInsnNode;
import org.objectweb.asm.tree.LabelNode;
import org.objectweb.asm.tree.LdcInsnNode;
import org.objectweb.asm.tree.LookupSwitchInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.TableSwitchInsnNode;
import org.objectweb.asm.tree.TryCatchBlockNode;
import org.objectweb.asm.tree.TypeInsnNode;
import org.objectweb.asm.tree.VarInsnNode;

/**
 * Rewrites the classes of a folder, a program without superclasses of others, as the papers'
 * figures do it, for {@code cargo xtask bench run}.
 *
 * <p>{@code java Recreate jp|simple FROM TO}. {@code jp} is JP (2005, figures 1 and 5): the
 * caller's context is an object and an argument more, the callee looks its own up in a hash map,
 * each block adds its bytecodes to a field, methods keep a wrapper under their old signature.
 * {@code simple} is the approach that CCCP sets out from (2009, figure 2): the context is in a
 * thread-local variable, restored by a {@code finally}.
 *
 * <p>The class library stays as it is. What calls by old signatures (it, and the classes that the
 * JVM makes for lambdas) comes by way of {@link RC}.
 */
final class Recreate implements Opcodes {
    private static final String IC = "LIC;";

    private final Map<String, ClassNode> classes = new TreeMap<>();
    private final boolean simple;

    private Recreate(boolean simple) {
        this.simple = simple;
    }

    public static void main(String[] args) throws IOException {
        Recreate recreate = new Recreate(args[0].equals("simple"));
        for (File file : new File(args[1]).listFiles((folder, name) -> name.endsWith(".class"))) {
            ClassNode node = new ClassNode();
            new ClassReader(Files.readAllBytes(file.toPath())).accept(node, ClassReader.SKIP_FRAMES);
            recreate.classes.put(node.name, node);
        }
        for (ClassNode node : recreate.classes.values()) {
            recreate.rewrite(node);
            ClassWriter writer = new ClassWriter(ClassWriter.COMPUTE_FRAMES);
            node.accept(writer);
            Files.write(new File(args[2], node.name + ".class").toPath(), writer.toByteArray());
        }
    }

    private void rewrite(ClassNode node) {
        InsnList mids = new InsnList();
        List<MethodNode> more = new ArrayList<>();
        List<MethodNode> methods = new ArrayList<>(node.methods);
        for (MethodNode method : methods) {
            boolean isAbstract = (method.access & ACC_ABSTRACT) != 0;
            if (method.name.equals("<clinit>") || (isAbstract && simple)) {
                continue;
            }
            if (isAbstract) {
                more.add(abstractTwin(node, method));
                continue;
            }
            String mid = "mid$" + node.fields.size();
            int flags = ACC_STATIC | ACC_FINAL | ACC_SYNTHETIC | ACC_PUBLIC;
            node.fields.add(new FieldNode(flags, mid, "Ljava/lang/Object;", null, null));
            if (simple) {
                mids.add(new LdcInsnNode(node.name + "." + method.name + method.desc));
            } else {
                mids.add(new TypeInsnNode(NEW, "java/lang/Object"));
                mids.add(new InsnNode(DUP));
                mids.add(new MethodInsnNode(INVOKESPECIAL, "java/lang/Object", "<init>", "()V", false));
            }
            mids.add(new FieldInsnNode(PUTSTATIC, node.name, mid, "Ljava/lang/Object;"));
            if (simple) {
                simple(node, method, mid);
            } else {
                more.add(body(node, method, mid));
            }
        }
        node.methods.addAll(more);
        initialise(node, mids);
    }

    /** The fields come first, as in JP's figure 4. */
    private static void initialise(ClassNode node, InsnList mids) {
        for (MethodNode method : node.methods) {
            if (method.name.equals("<clinit>")) {
                method.instructions.insert(mids);
                return;
            }
        }
        MethodNode method = new MethodNode(ACC_STATIC, "<clinit>", "()V", null, null);
        method.instructions.add(mids);
        method.instructions.add(new InsnNode(RETURN));
        node.methods.add(method);
    }

    // ---- JP -------------------------------------------------------------------------------------

    private static String extended(String descriptor) {
        return descriptor.replace(")", IC + ")");
    }

    private static int slots(int access, String descriptor) {
        int size = Type.getArgumentsAndReturnSizes(descriptor) >> 2;
        return (access & ACC_STATIC) != 0 ? size - 1 : size;
    }

    /** The extended method, with the body; {@code method} becomes a wrapper. */
    private MethodNode body(ClassNode node, MethodNode method, String mid) {
        int context = slots(method.access, method.desc);
        MethodNode body = new MethodNode(method.access | ACC_SYNTHETIC, method.name, extended(method.desc), null, null);
        body.instructions = method.instructions;
        body.tryCatchBlocks = method.tryCatchBlocks;
        shift(body.instructions, context, 1);
        count(body, context);
        for (AbstractInsnNode i : body.instructions.toArray()) {
            if (i instanceof MethodInsnNode && isExtended((MethodInsnNode) i)) {
                MethodInsnNode call = (MethodInsnNode) i;
                body.instructions.insertBefore(call, new VarInsnNode(ALOAD, context));
                call.desc = extended(call.desc);
            }
        }
        InsnList prologue = new InsnList();
        prologue.add(new VarInsnNode(ALOAD, context));
        enter(prologue, node, mid);
        prologue.add(new VarInsnNode(ASTORE, context));
        body.instructions.insert(prologue);

        method.instructions = new InsnList();
        method.tryCatchBlocks = new ArrayList<>();
        method.localVariables = null;
        InsnList wrapper = method.instructions;
        arguments(wrapper, method);
        wrapper.add(new MethodInsnNode(INVOKESTATIC, "RC", "current", "()" + IC, false));
        boolean isStatic = (method.access & ACC_STATIC) != 0;
        boolean isInterface = (node.access & ACC_INTERFACE) != 0;
        wrapper.add(new MethodInsnNode(isStatic ? INVOKESTATIC : INVOKESPECIAL, node.name, method.name, body.desc, isInterface));
        wrapper.add(new InsnNode(Type.getReturnType(method.desc).getOpcode(IRETURN)));
        return body;
    }

    /** Of an interface a default method, for the classes that the JVM makes. */
    private static MethodNode abstractTwin(ClassNode node, MethodNode method) {
        boolean isInterface = (node.access & ACC_INTERFACE) != 0;
        int access = isInterface ? method.access & ~ACC_ABSTRACT : method.access;
        MethodNode twin = new MethodNode(access | ACC_SYNTHETIC, method.name, extended(method.desc), null, null);
        if (isInterface) {
            twin.instructions.add(new VarInsnNode(ALOAD, slots(method.access, method.desc)));
            twin.instructions.add(new MethodInsnNode(INVOKESTATIC, "RC", "carry", "(" + IC + ")V", false));
            arguments(twin.instructions, method);
            twin.instructions.add(new MethodInsnNode(INVOKEINTERFACE, node.name, method.name, method.desc, true));
            twin.instructions.add(new InsnNode(Type.getReturnType(method.desc).getOpcode(IRETURN)));
        }
        return twin;
    }

    private static void arguments(InsnList to, MethodNode method) {
        int slot = 0;
        if ((method.access & ACC_STATIC) == 0) {
            to.add(new VarInsnNode(ALOAD, slot++));
        }
        for (Type type : Type.getArgumentTypes(method.desc)) {
            to.add(new VarInsnNode(type.getOpcode(ILOAD), slot));
            slot += type.getSize();
        }
    }

    /** Whether a call leads to a method of these classes. */
    private boolean isExtended(MethodInsnNode call) {
        List<String> owners = new ArrayList<>();
        owners.add(call.owner);
        for (int i = 0; i < owners.size(); i++) {
            ClassNode owner = classes.get(owners.get(i));
            if (owner == null) {
                continue;
            }
            for (MethodNode method : owner.methods) {
                if (method.name.equals(call.name) && method.desc.equals(call.desc)) {
                    return true;
                }
            }
            if (!call.name.equals("<init>")) {
                owners.add(owner.superName);
                owners.addAll(owner.interfaces);
            }
        }
        return false;
    }

    // ---- CCCP's simple approach -----------------------------------------------------------------

    private void simple(ClassNode node, MethodNode method, String mid) {
        int caller = slots(method.access, method.desc);
        int callee = caller + 1;
        shift(method.instructions, caller, 2);
        method.localVariables = null;
        count(method, callee);
        for (AbstractInsnNode i : method.instructions.toArray()) {
            if (i.getOpcode() >= IRETURN && i.getOpcode() <= RETURN) {
                method.instructions.insertBefore(i, restore(caller));
            }
        }
        InsnList prologue = new InsnList();
        prologue.add(new MethodInsnNode(INVOKESTATIC, "CC", "get", "()" + IC, false));
        prologue.add(new InsnNode(DUP));
        prologue.add(new VarInsnNode(ASTORE, caller));
        enter(prologue, node, mid);
        prologue.add(new InsnNode(DUP));
        prologue.add(new VarInsnNode(ASTORE, callee));
        prologue.add(new MethodInsnNode(INVOKESTATIC, "CC", "set", "(" + IC + ")V", false));
        // No handler may cover the call of the superclass's constructor.
        if (!method.name.equals("<init>")) {
            LabelNode start = new LabelNode();
            LabelNode handler = new LabelNode();
            prologue.add(start);
            method.instructions.add(handler);
            method.instructions.add(restore(caller));
            method.instructions.add(new InsnNode(ATHROW));
            method.tryCatchBlocks.add(new TryCatchBlockNode(start, handler, handler, null));
        }
        method.instructions.insert(prologue);
    }

    private static InsnList restore(int caller) {
        InsnList to = new InsnList();
        to.add(new VarInsnNode(ALOAD, caller));
        to.add(new MethodInsnNode(INVOKESTATIC, "CC", "set", "(" + IC + ")V", false));
        return to;
    }

    // ---- both -----------------------------------------------------------------------------------

    private static void enter(InsnList to, ClassNode node, String mid) {
        to.add(new FieldInsnNode(GETSTATIC, node.name, mid, "Ljava/lang/Object;"));
        to.add(new MethodInsnNode(INVOKEVIRTUAL, "IC", "profileCall", "(Ljava/lang/Object;)" + IC, false));
    }

    /** Locals from {@code first} on move up. */
    private static void shift(InsnList instructions, int first, int by) {
        for (AbstractInsnNode i = instructions.getFirst(); i != null; i = i.getNext()) {
            if (i instanceof VarInsnNode && ((VarInsnNode) i).var >= first) {
                ((VarInsnNode) i).var += by;
            } else if (i instanceof IincInsnNode && ((IincInsnNode) i).var >= first) {
                ((IincInsnNode) i).var += by;
            }
        }
    }

    /**
     * At the start of each block its bytecodes; only jumps, returns and {@code athrow} end one
     * (JP's default).
     */
    private static void count(MethodNode method, int context) {
        Set<AbstractInsnNode> targets = new HashSet<>();
        for (AbstractInsnNode i : method.instructions.toArray()) {
            if (i instanceof JumpInsnNode) {
                targets.add(((JumpInsnNode) i).label);
            } else if (i instanceof TableSwitchInsnNode) {
                targets.addAll(((TableSwitchInsnNode) i).labels);
                targets.add(((TableSwitchInsnNode) i).dflt);
            } else if (i instanceof LookupSwitchInsnNode) {
                targets.addAll(((LookupSwitchInsnNode) i).labels);
                targets.add(((LookupSwitchInsnNode) i).dflt);
            }
        }
        for (TryCatchBlockNode block : method.tryCatchBlocks) {
            targets.add(block.handler);
        }
        AbstractInsnNode first = null;
        int length = 0;
        for (AbstractInsnNode i : method.instructions.toArray()) {
            if (targets.contains(i)) {
                flush(method.instructions, first, length, context);
                first = null;
                length = 0;
            }
            if (i.getOpcode() < 0) {
                continue;
            }
            first = first == null ? i : first;
            length++;
            int opcode = i.getOpcode();
            boolean isSwitch = opcode == TABLESWITCH || opcode == LOOKUPSWITCH;
            if (i instanceof JumpInsnNode || isSwitch || (opcode >= IRETURN && opcode <= RETURN) || opcode == ATHROW) {
                flush(method.instructions, first, length, context);
                first = null;
                length = 0;
            }
        }
        flush(method.instructions, first, length, context);
    }

    private static void flush(InsnList instructions, AbstractInsnNode first, int length, int context) {
        if (first == null) {
            return;
        }
        InsnList add = new InsnList();
        add.add(new VarInsnNode(ALOAD, context));
        add.add(new InsnNode(DUP));
        add.add(new FieldInsnNode(GETFIELD, "IC", "instr", "I"));
        add.add(new LdcInsnNode(length));
        add.add(new InsnNode(IADD));
        add.add(new FieldInsnNode(PUTFIELD, "IC", "instr", "I"));
        instructions.insertBefore(first, add);
    }
}
