//! The JDK's compiler, instrumented itself, compiles as before.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use walkdir::{DirEntry, WalkDir};

use crate::support::{Blocks, Java, Jdk, Library, copy_all, fixture, folder};

/// Sources of a library of a hundred and fifty classes: interfaces, generics, inner classes,
/// lambdas, switches, exceptions, enums.
fn write_library(to: &Path) {
    for i in 0..150 {
        let mut source =
            format!("package synthetic.p{};\n\nimport java.util.*;\nimport java.util.function.*;\n\n", i % 7);
        let before = (i + 149) % 150;
        if before < i {
            writeln!(source, "import synthetic.p{}.Class{before};", before % 7).unwrap();
        }
        writeln!(
            source,
            "public class Class{i}<T extends Comparable<T>> implements Iterable<T>, Supplier<T> {{"
        )
        .unwrap();
        writeln!(source, "    public enum Kind {{ FIRST, SECOND {{ @Override int weight() {{ return {i}; }} }}; int weight() {{ return 1; }} }}").unwrap();
        writeln!(
            source,
            "    private final List<T> items = new ArrayList<>();\n    protected long total = {i}L;"
        )
        .unwrap();
        writeln!(source, "    public Iterator<T> iterator() {{ return new Iterator<T>() {{ int at; public boolean hasNext() {{ return at < items.size(); }} public T next() {{ return items.get(at++); }} }}; }}").unwrap();
        writeln!(source, "    public T get() {{ return items.isEmpty() ? null : Collections.max(items); }}")
            .unwrap();
        for m in 0..i % 5 + 3 {
            writeln!(source, "    public int method{m}(int n, String s) {{").unwrap();
            writeln!(source, "        int sum = {m};\n        for (int k = 0; k < n; k++) {{ sum += k * {i} ^ s.length(); }}").unwrap();
            writeln!(source, "        switch (s) {{ case \"a{m}\": sum++; break; case \"b\": sum--; break; default: sum *= 2; }}").unwrap();
            writeln!(source, "        switch (sum % 7) {{ case 0: case 3: return sum; case 6: throw new IllegalStateException(s + sum); }}").unwrap();
            writeln!(source, "        try {{ sum /= n; }} catch (ArithmeticException e) {{ sum = -1; }} finally {{ total += sum; }}").unwrap();
            writeln!(source, "        int fixed = sum;\n        IntBinaryOperator plus = (x, y) -> x + y + fixed;\n        return plus.applyAsInt(n, {m});\n    }}").unwrap();
        }
        if before < i {
            writeln!(source, "    public long chain(Class{before}<String> other) {{ return other.method0(3, \"b\") + (long) other.items().size() + Class{before}.Kind.SECOND.ordinal(); }}").unwrap();
        }
        source += "    public List<T> items() { return items; }\n}\n";
        let folder = to.join(format!("synthetic/p{}", i % 7));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(format!("Class{i}.java")), source).unwrap();
    }
}

fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = WalkDir::new(folder).sort_by_file_name().into_iter().map(Result::unwrap);
    let files = entries.filter(|entry| !entry.file_type().is_dir()).map(DirEntry::into_path);
    files.filter(|path| path.extension() == Some(OsStr::new(extension))).collect()
}

/// The sources and the classes to compile against.
#[derive(Debug, Clone, Copy)]
struct Project<'p> {
    sources: &'p Path,
    class_path: &'p str,
    /// A folder of classes that precedes the class library.
    boot: Option<&'p Path>,
}

/// Compiles the sources with this JVM, and returns the class files by name.
fn compile(java: &mut Java, jdk: &Jdk, project: Project<'_>) -> BTreeMap<PathBuf, Vec<u8>> {
    let Project { sources, class_path, boot } = project;
    let to = folder("classes");
    let list: Vec<String> = files(sources, "java").iter().map(|f| f.display().to_string()).collect();
    assert!(!list.is_empty(), "no sources in {}", sources.display());
    let list_file = to.with_extension("sources");
    fs::write(&list_file, list.join("\n")).unwrap();
    // Both compile against the plain class library.
    let library = jdk.boot_jars();
    let boot =
        boot.into_iter().chain(library.iter().map(PathBuf::as_path)).map(|path| path.display().to_string());
    let boot = boot.collect::<Vec<_>>().join(":");
    let list_argument = format!("@{}", list_file.display());
    let to_argument = to.display().to_string();
    let arguments = [
        "-nowarn",
        "-Xlint:none",
        "-XDignore.symbol.file",
        "-proc:none",
        "-encoding",
        "UTF-8",
        "-g",
        "-extdirs",
        "",
        "-bootclasspath",
        &boot,
        "-cp",
        class_path,
        "-d",
        &to_argument,
        &list_argument,
    ];
    java.succeed("com.sun.tools.javac.Main", &arguments);
    files(&to, "class")
        .into_iter()
        .map(|f| (f.strip_prefix(&to).unwrap().to_owned(), fs::read(&f).unwrap()))
        .collect()
}

fn check(jdk: &'static Jdk, project: Project<'_>, at_least: usize) {
    let expected = compile(jdk.java("javac-plain").class_path([jdk.tools_jar()]), jdk, project);
    let library = Library::whole(jdk, Blocks::Exact);
    let mut java = library.java("javac");
    java.forget_class_path().class_path(&library.tools);
    let found = compile(&mut java, jdk, project);
    assert!(expected.len() >= at_least, "only {} class files", expected.len());
    assert!(found.keys().eq(expected.keys()));
    for (name, bytes) in &expected {
        assert!(
            found[name] == *bytes,
            "{}: the instrumented compiler made another class file",
            name.display()
        );
    }
    eprintln!("{}: {} class files", project.sources.display(), expected.len());
}

#[test]
fn a_synthetic_library() {
    let Some(jdk) = Jdk::find() else { return };
    let sources = folder("synthetic");
    write_library(&sources);
    check(jdk, Project { sources: &sources, class_path: "", boot: None }, 600);
}

#[test]
fn the_fixtures() {
    let Some(jdk) = Jdk::find() else { return };
    let sources = folder("fixtures");
    for name in ["calls", "control", "exceptions", "lambdas", "semantics", "types", "natives", "batch"] {
        copy_all(&fixture(name), &sources.join(name));
    }
    check(jdk, Project { sources: &sources, class_path: "", boot: None }, 50);
}

/// As in the build: first the stubs, then the rest with the stubs before the class library.
#[test]
fn the_runtime() {
    let Some(jdk) = Jdk::find() else { return };
    let stubs = folder("stubs");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../jdk-wrap");
    let stub_sources = Project { sources: &root.join("stubs"), class_path: "", boot: None };
    for (name, bytes) in compile(jdk.java("javac-stubs").class_path([jdk.tools_jar()]), jdk, stub_sources) {
        let file = stubs.join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, bytes).unwrap();
    }
    check(jdk, Project { sources: &root.join("java"), class_path: "", boot: Some(&stubs) }, 30);
}

/// Any library's sources: a folder, and its dependencies besides the JDK as a class path.
#[test]
fn sources_that_the_environment_names() {
    let Some(jdk) = Jdk::find() else { return };
    let Some(sources) = std::env::var_os("CCTREWRITE_SOURCES") else {
        eprintln!("skipped: CCTREWRITE_SOURCES is not set");
        return;
    };
    let class_path = std::env::var("CCTREWRITE_SOURCES_CLASS_PATH").unwrap_or_default();
    check(jdk, Project { sources: Path::new(&sources), class_path: &class_path, boot: None }, 1);
}
