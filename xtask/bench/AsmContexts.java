import java.util.Arrays;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.Handle;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/**
 * About the work that cctrewrite does on a class, without the planning: it is not asked which
 * methods may be treated so, so the result is not meant to run.
 *
 * Each method with a body gets it under an extended descriptor, with one more parameter; it enters
 * its context at the start, counts at the start of each basic block, and passes its context on at
 * each call. Under the original descriptor a wrapper takes the context from the thread, calls the
 * body and restores the context however the call ends.
 */
final class AsmContexts extends ClassVisitor {
    /** What extended descriptors have behind the original parameters. */
    private static final String EXTRA = "J[[[[J";
    private static final int EXTRA_SLOTS = 3;
    private static final String HELPERS = "java/lang/Object";

    private String owner;
    private boolean isInterface;
    private boolean hasFrames;

    AsmContexts(ClassVisitor next) {
        super(Opcodes.ASM9, next);
    }

    @Override
    public void visit(int version, int access, String name, String signature, String parent, String[] interfaces) {
        owner = name;
        isInterface = (access & Opcodes.ACC_INTERFACE) != 0;
        hasFrames = (version & 0xFFFF) >= Opcodes.V1_6;
        super.visit(version, access, name, signature, parent, interfaces);
    }

    @Override
    public MethodVisitor visitMethod(int access, String name, String descriptor, String signature, String[] exceptions) {
        boolean hasBody = (access & (Opcodes.ACC_ABSTRACT | Opcodes.ACC_NATIVE)) == 0;
        if (!hasBody || name.equals("<clinit>") || isInterface) {
            return super.visitMethod(access, name, descriptor, signature, exceptions);
        }
        boolean isStatic = (access & Opcodes.ACC_STATIC) != 0;
        wrapper(super.visitMethod(access, name, descriptor, signature, exceptions), isStatic, name, descriptor);
        MethodVisitor body = super.visitMethod(access | Opcodes.ACC_SYNTHETIC, name, extended(descriptor), null, exceptions);
        return new Body(body, slots(isStatic, descriptor), hasFrames);
    }

    private static String extended(String descriptor) {
        int end = descriptor.indexOf(')');
        return descriptor.substring(0, end) + EXTRA + descriptor.substring(end);
    }

    /** Slots of the receiver and the parameters. */
    private static int slots(boolean isStatic, String descriptor) {
        int sizes = Type.getArgumentsAndReturnSizes(descriptor) >> 2;
        return isStatic ? sizes - 1 : sizes;
    }

    private void wrapper(MethodVisitor method, boolean isStatic, String name, String descriptor) {
        boolean isConstructor = name.equals("<init>");
        int thread = slots(isStatic, descriptor);
        int context = thread + 1;
        method.visitCode();
        helper(method, "thread", "()Ljava/lang/Object;");
        method.visitVarInsn(Opcodes.ASTORE, thread);
        method.visitVarInsn(Opcodes.ALOAD, thread);
        helper(method, "context", "(Ljava/lang/Object;)J");
        method.visitVarInsn(Opcodes.LSTORE, context);
        Label start = new Label();
        Label end = new Label();
        Label handler = new Label();
        if (!isConstructor) {
            method.visitTryCatchBlock(start, end, handler, null);
        }
        method.visitLabel(start);
        int slot = 0;
        if (!isStatic) {
            method.visitVarInsn(Opcodes.ALOAD, slot++);
        }
        for (Type parameter : Type.getArgumentTypes(descriptor)) {
            method.visitVarInsn(parameter.getOpcode(Opcodes.ILOAD), slot);
            slot += parameter.getSize();
        }
        method.visitVarInsn(Opcodes.LLOAD, context);
        method.visitInsn(Opcodes.ACONST_NULL);
        int call = isStatic ? Opcodes.INVOKESTATIC : Opcodes.INVOKESPECIAL;
        method.visitMethodInsn(call, owner, name, extended(descriptor), false);
        method.visitLabel(end);
        restore(method, thread, context);
        method.visitInsn(Type.getReturnType(descriptor).getOpcode(Opcodes.IRETURN));
        if (!isConstructor) {
            method.visitLabel(handler);
            if (hasFrames) {
                Object[] locals = handlerLocals(isStatic, descriptor);
                method.visitFrame(Opcodes.F_FULL, locals.length, locals, 1, new Object[] {"java/lang/Throwable"});
            }
            restore(method, thread, context);
            method.visitInsn(Opcodes.ATHROW);
        }
        method.visitMaxs(0, 0);
        method.visitEnd();
    }

    /** Parameters as unknown, then the thread and its context. */
    private static Object[] handlerLocals(boolean isStatic, String descriptor) {
        int slots = slots(isStatic, descriptor);
        Object[] locals = new Object[slots + 2];
        Arrays.fill(locals, 0, slots, Opcodes.TOP);
        locals[slots] = "java/lang/Object";
        locals[slots + 1] = Opcodes.LONG;
        return locals;
    }

    private static void restore(MethodVisitor method, int thread, int context) {
        method.visitVarInsn(Opcodes.ALOAD, thread);
        method.visitVarInsn(Opcodes.LLOAD, context);
        helper(method, "restore", "(Ljava/lang/Object;J)V");
    }

    private static void helper(MethodVisitor method, String name, String descriptor) {
        method.visitMethodInsn(Opcodes.INVOKESTATIC, HELPERS, name, descriptor, false);
    }

    /** A body under its extended descriptor. */
    private static final class Body extends MethodVisitor {
        private final int node;
        private final boolean hasFrames;
        private int sites;
        private boolean blockIsCounted = true;

        /** `node`: the local that holds the node, the first one behind the original parameters. */
        Body(MethodVisitor next, int node, boolean hasFrames) {
            super(Opcodes.ASM9, next);
            this.node = node;
            this.hasFrames = hasFrames;
        }

        @Override
        public void visitCode() {
            super.visitCode();
            super.visitVarInsn(Opcodes.LLOAD, node);
            super.visitLdcInsn(0x1234567);
            super.visitLdcInsn(10);
            super.visitLdcInsn(10);
            helper(mv, "enter", "(JIII)J");
            super.visitVarInsn(Opcodes.LSTORE, node);
        }

        /**
         * In classes without frames (below version 50) every label starts a block, though some only
         * serve debug information.
         */
        @Override
        public void visitLabel(Label label) {
            super.visitLabel(label);
            blockIsCounted &= hasFrames;
        }

        /** Before the first instruction of a block: behind its frame. */
        private void count() {
            if (!blockIsCounted) {
                blockIsCounted = true;
                super.visitVarInsn(Opcodes.LLOAD, node);
                super.visitIntInsn(Opcodes.BIPUSH, 7);
                helper(mv, "count", "(JI)V");
            }
        }

        private int shifted(int local) {
            return local < node ? local : local + EXTRA_SLOTS;
        }

        @Override
        public void visitFrame(int type, int locals, Object[] local, int stacks, Object[] stack) {
            // Each target of a jump and each handler has a frame, and nothing else has.
            blockIsCounted = false;
            if (type != Opcodes.F_FULL) {
                super.visitFrame(type, locals, local, stacks, stack);
                return;
            }
            // Parameters that a frame leaves out at its end stand for unknown ones.
            int kept = 0;
            int slots = 0;
            while (kept < locals && slots < node) {
                slots += local[kept] == Opcodes.LONG || local[kept] == Opcodes.DOUBLE ? 2 : 1;
                kept++;
            }
            int missing = node - slots;
            Object[] patched = new Object[locals + missing + 2];
            System.arraycopy(local, 0, patched, 0, kept);
            Arrays.fill(patched, kept, kept + missing, Opcodes.TOP);
            patched[kept + missing] = Opcodes.LONG;
            patched[kept + missing + 1] = "[[[[J";
            System.arraycopy(local, kept, patched, kept + missing + 2, locals - kept);
            super.visitFrame(type, patched.length, patched, stacks, stack);
        }

        @Override
        public void visitMethodInsn(int opcode, String owner, String name, String descriptor, boolean isInterface) {
            count();
            super.visitVarInsn(Opcodes.LLOAD, node);
            super.visitLdcInsn((long) (40 + 8 * (sites++ & 63)));
            super.visitInsn(Opcodes.LADD);
            super.visitInsn(Opcodes.ACONST_NULL);
            super.visitMethodInsn(opcode, owner, name, extended(descriptor), isInterface);
        }

        @Override
        public void visitVarInsn(int opcode, int local) {
            count();
            super.visitVarInsn(opcode, shifted(local));
        }

        @Override
        public void visitIincInsn(int local, int increment) {
            count();
            super.visitIincInsn(shifted(local), increment);
        }

        @Override
        public void visitLocalVariable(String name, String descriptor, String signature, Label start, Label end, int index) {
            super.visitLocalVariable(name, descriptor, signature, start, end, shifted(index));
        }

        @Override
        public void visitInsn(int opcode) {
            count();
            super.visitInsn(opcode);
        }

        @Override
        public void visitIntInsn(int opcode, int operand) {
            count();
            super.visitIntInsn(opcode, operand);
        }

        @Override
        public void visitTypeInsn(int opcode, String type) {
            count();
            super.visitTypeInsn(opcode, type);
        }

        @Override
        public void visitFieldInsn(int opcode, String owner, String name, String descriptor) {
            count();
            super.visitFieldInsn(opcode, owner, name, descriptor);
        }

        @Override
        public void visitInvokeDynamicInsn(String name, String descriptor, Handle bootstrap, Object... arguments) {
            count();
            super.visitInvokeDynamicInsn(name, descriptor, bootstrap, arguments);
        }

        @Override
        public void visitJumpInsn(int opcode, Label label) {
            count();
            super.visitJumpInsn(opcode, label);
            blockIsCounted = false;
        }

        @Override
        public void visitLdcInsn(Object value) {
            count();
            super.visitLdcInsn(value);
        }

        @Override
        public void visitTableSwitchInsn(int min, int max, Label other, Label... labels) {
            count();
            super.visitTableSwitchInsn(min, max, other, labels);
        }

        @Override
        public void visitLookupSwitchInsn(Label other, int[] keys, Label[] labels) {
            count();
            super.visitLookupSwitchInsn(other, keys, labels);
        }

        @Override
        public void visitMultiANewArrayInsn(String descriptor, int dimensions) {
            count();
            super.visitMultiANewArrayInsn(descriptor, dimensions);
        }
    }
}
