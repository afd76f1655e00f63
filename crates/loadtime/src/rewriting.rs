//! Rewriting of one class in a world of its own: the class, the classes that it names, and their
//! ancestors, as far as they are known.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use cct_classfile::ClassFile;
use cct_classfile::constant_pool::tag;
use cct_index::class_attribute::{ClassAttribute, MethodRow};
use cct_index::provenance::Provenance;
use cct_jdk::convention;
use cct_rewrite::filter::Filter;
use cct_rewrite::kept_members::KeptMembers;
use cct_rewrite::markers::SharedMarkers;
use cct_rewrite::marks::Marks;
use cct_rewrite::report::Fallback;
use cct_rewrite::rewriter::tells_of_null_references;
use cct_rewrite::{ClassSummary, Rewriter, RewrittenClass, Role, World, hooks};
use cct_settings::Settings;
use rustc_hash::FxHashMap;

use crate::class_file::read;
use crate::frames;
use crate::identity::{DefinitionKind, Identity, type_name};
use crate::jni::{Env, jclass, jobject};
use crate::jvmti::Jvmti;
use crate::kept_members;
use crate::known_class::KnownClass;
use crate::loaders::Number;
use crate::marking::counted_classes;
use crate::members::Members;
use crate::module;
use crate::originals;
use crate::packages;
use crate::pcc;
use crate::state::{jvmti, state};
use crate::tracing::tracer;
use crate::{debugger, sweep};

/// Loaders of the JDK that ask the boot class loader first, for any name.
pub(crate) const PARENT_FIRST: &[&[u8]] = &[
    b"sun/misc/Launcher$AppClassLoader",
    b"sun/misc/Launcher$ExtClassLoader",
    b"jdk/internal/loader/ClassLoaders$AppClassLoader",
    b"jdk/internal/loader/ClassLoaders$PlatformClassLoader",
];

/// The class loader that a name is resolved for.
#[derive(Debug, Clone, Copy)]
struct Scope {
    /// Null for the boot class loader.
    loader: jobject,
    number: Number,
}

/// A resolved class: its record, and the loader that defined it, for which its ancestors are
/// resolved.
struct ScopedClass {
    class: Arc<KnownClass>,
    scope: Scope,
}

/// Rewrites the class that `loader` (or the host's loader) is about to define, after the user's
/// module if there is one. `None` if it stays unchanged.
///
/// `patched` are the constants that the definer replaces.
pub fn rewrite(
    env: Env,
    loader: jobject,
    host: jclass,
    bytes: &[u8],
    how: DefinitionKind,
    patched: &[usize],
) -> Option<Vec<u8>> {
    let given = module::given(bytes, !patched.is_empty());
    let rewritten = rewrite_given(env, loader, host, given.as_deref().unwrap_or(bytes), how, patched);
    rewritten.or(given)
}

/// Rewrites a class file after all agents: one that they have changed, or one that the boot class
/// loader does not take from the class library. `None` if it stays unchanged.
///
/// `redefined` is the class that it replaces; null for a new one.
pub fn rewrite_last(env: Env, loader: jobject, redefined: jclass, bytes: &[u8]) -> Option<Vec<u8>> {
    // The JVM will report what is wrong with it.
    let class = ClassFile::parse(bytes).ok()?;
    if originals::is_rewritten(&class) {
        return None;
    }
    rewrite_at(
        env,
        Moment::Last { redefined },
        loader,
        std::ptr::null_mut(),
        bytes,
        DefinitionKind::Loaded,
        &[],
    )
}

fn rewrite_given(
    env: Env,
    loader: jobject,
    host: jclass,
    bytes: &[u8],
    how: DefinitionKind,
    patched: &[usize],
) -> Option<Vec<u8>> {
    rewrite_at(env, Moment::Definition, loader, host, bytes, how, patched)
}

/// The moment at which a class is rewritten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Moment {
    /// Before the JVM is asked to define it.
    Definition,
    /// After all agents, as the new form of a class unless that is null.
    Last { redefined: jclass },
}

#[allow(clippy::too_many_arguments)]
fn rewrite_at(
    env: Env,
    moment: Moment,
    loader: jobject,
    host: jclass,
    bytes: &[u8],
    how: DefinitionKind,
    patched: &[usize],
) -> Option<Vec<u8>> {
    // The JVM rejects a malformed class file as well, and says so. Otherwise the class is stranger
    // than this program can handle.
    let class = match read(bytes) {
        Ok(class) => class,
        Err(e) => {
            state().note("class files that cannot be read stayed as they are", &e.to_string());
            return None;
        }
    };
    let name = cct_classfile::mutf8::lossy(class.name());
    env.frame(64, || Definition { env, moment, loader, host, how, class: &class, patched }.rewrite())
        .unwrap_or_else(|| Err("no memory for references".to_owned()))
        .unwrap_or_else(|trouble| {
            state().note(format!("classes stayed as they are because of: {trouble}"), &name);
            None
        })
}

/// Rewrites the class with this identity, which is in the world.
pub(crate) fn in_world(
    class: &ClassFile<'_>,
    identity: &Identity,
    world: World,
    (settings, provenance): (Settings, Provenance),
    names_locals: bool,
    (marks, filter): (Marks, Filter),
    markers: Option<SharedMarkers>,
) -> Result<RewrittenClass, String> {
    let id = world.class_hashed(identity.hash).ok_or("the class is not in its own world")?;
    let numbers = tracer().map(|tracer| tracer.number(class.methods.len()));
    let rewriter = Rewriter::marked(world, settings, marks, provenance, move |c| filter.records(c))
        .map_err(|e| e.to_string())?
        .with_local_names(names_locals)
        .with_own_name(type_name(class.name(), &identity.name))
        .with_shown_name(&identity.name);
    let rewriter = match numbers {
        Some(numbers) => rewriter.with_numbers(numbers),
        None => rewriter,
    };
    let (rewriter, is_marked) = match markers {
        Some(markers) => (rewriter.with_markers(markers), true),
        None => (rewriter, false),
    };
    let rewritten = match rewriter.rewrite_as(class, id) {
        // Counting does not depend on markers.
        Err(error) if is_marked => {
            let rewritten = rewriter.without_markers().rewrite_as(class, id);
            if rewritten.is_ok() {
                counted_classes::not_marked(class.name(), &error.to_string());
            }
            rewritten
        }
        other => other,
    };
    let rewritten = rewritten.map_err(|e| e.to_string())?;
    if let (Some(tracer), Some(structure)) = (tracer(), &rewritten.structure) {
        tracer.class(structure);
    }
    Ok(rewritten)
}

/// A class about to be defined.
struct Definition<'d, 'a> {
    env: Env,
    moment: Moment,
    loader: jobject,
    host: jclass,
    how: DefinitionKind,
    class: &'d ClassFile<'a>,
    patched: &'d [usize],
}

impl Definition<'_, '_> {
    fn rewrite(&self) -> Result<Option<Vec<u8>>, String> {
        let class = self.class;
        if hooks::is_runtime_class(class.name()) {
            return Ok(None);
        }
        let members =
            Members::find(self.env).ok_or("the class library is of another version of cctrewrite")?;
        // Before its live phase the JVM has only its own loaders, and cannot be asked for the
        // loader of a class.
        let jvmti = jvmti(self.env);
        let mut summary = ClassSummary::of(class).map_err(|e| e.to_string())?;
        let scope = self.scope(members, jvmti)?;
        if let Some(attribute) = ClassAttribute::of(class).map_err(|e| e.to_string())? {
            if self.own_loader(scope).is_some() {
                let name = cct_classfile::mutf8::lossy(class.name());
                state().note(
                    "classes of the program's loaders that were rewritten beforehand, and \
                              cannot be distinguished by loader",
                    &name,
                );
            }
            let known = Arc::new(KnownClass { summary: Arc::new(summary), rows: attribute.methods.into() });
            if pcc::tables().is_some() {
                // The writer of values uses only the class library's indexes.
                state().add(class.name(), known.clone(), &[]);
            }
            self.offer(scope, known, None);
            return Ok(None);
        }
        let identity = Identity::of(class.bytes, class.name(), self.how).map_err(|e| e.to_string())?;
        let identity = match self.own_loader(scope) {
            Some(loader) => identity.in_loader(&loader, self.how),
            None => identity,
        };
        summary.hash = identity.hash;
        summary.has_host = self.how == DefinitionKind::Anonymous;
        summary.kept = self.kept(scope, members, jvmti, &summary).map(Arc::new);
        summary.is_debugged = debugger::is_there();
        let summary = Arc::new(summary);
        let provenance = state().library.provenance();
        let provenance = provenance.ok_or("no output on the boot class path")?;
        let world = World::new(self.surroundings(scope, members, jvmti, &summary));
        let exception = state().library.class(b"java/lang/NullPointerException");
        let names_locals = exception.is_some_and(|e| tells_of_null_references(&e.summary));
        let rules = state().selected.rules();
        let loader = || {
            let loader = (!scope.loader.is_null()).then_some(scope.loader)?;
            jvmti?.class_name(self.env.object_class(loader)?)
        };
        let markers = counted_classes::wanted(class, &world, !self.how.is_unnamable(), loader);
        let rewritten = in_world(class, &identity, world, provenance, names_locals, rules, markers)?;
        counted_classes::add(&rewritten.marked);
        let (Some(bytes), Some(record)) = (rewritten.bytes, rewritten.record) else { return Ok(None) };
        let rows = record.methods.iter().map(MethodRow::from).collect();
        let known = Arc::new(KnownClass::rewritten(Arc::unwrap_or_clone(summary), rows));
        {
            let mut state = state();
            state.add(&identity.name, known.clone(), &record.foreign);
            let name = cct_classfile::mutf8::lossy(&identity.name);
            state.selected.found(&rewritten.report);
            for what in &rewritten.report.unpinned {
                state.note("missing methods that were to be pinned", &format!("{name}.{what}"));
            }
            for (method, fallback) in &rewritten.report.fallbacks {
                let what = match fallback {
                    Fallback::DefaultBlocks => {
                        "methods too large for this rule of basic blocks, counted by default blocks"
                    }
                    Fallback::CallsOnly => "methods too large to count their bytecodes",
                    Fallback::CallsWithoutObjects => {
                        "methods too large to count their bytecodes, the objects that they make and columns"
                    }
                    Fallback::NotInstrumented => "methods too large to be instrumented",
                };
                state.note(what, &format!("{name}.{method}"));
            }
        }
        match self.moment {
            Moment::Definition => {
                if !self.how.is_unnamable() {
                    state().originals.keep(identity.hash, class.bytes);
                }
                self.offer(scope, known, Some(&identity));
            }
            Moment::Last { redefined } => self.change(scope, known, redefined),
        }
        Ok(Some(bytes))
    }

    /// The members that the class must keep: those of the class that it replaces.
    fn kept(
        &self,
        scope: Scope,
        members: &Members,
        jvmti: Option<Jvmti>,
        summary: &ClassSummary,
    ) -> Option<KeptMembers> {
        let redefined = match self.moment {
            Moment::Last { redefined } => redefined,
            // Those of the boot class loader follow later; and nobody can call a class without a
            // name.
            Moment::Definition if scope.number == 0 || self.how.is_unnamable() => return None,
            // From another class path, or from a module that `--upgrade-module-path` replaces.
            Moment::Definition => std::ptr::null_mut(),
        };
        let known = if redefined.is_null() {
            self.of_library(scope, jvmti, &summary.name)
        } else {
            frames::class_by_name(self.env, members, scope.loader, &summary.name)
        };
        if redefined.is_null() {
            return known.map(|known| kept_members::of_callers(&known));
        }
        let methods = jvmti?.class_methods(redefined)?;
        let methods: Vec<_> = methods.into_iter().filter_map(|method| jvmti?.method_name(method)).collect();
        Some(kept_members::of_loaded(&methods, known.as_deref()))
    }

    /// The class of the library that a class of this loader replaces.
    fn of_library(&self, scope: Scope, jvmti: Option<Jvmti>, name: &[u8]) -> Option<Arc<KnownClass>> {
        let library = {
            let mut state = state();
            let asks_library = scope.number == 0 || state.loaders.is_parent_first(scope.number);
            asks_library.then(|| state.library.class(name)).flatten()
        };
        let has = || packages::has(self.env, jvmti, scope.loader, scope.number, name);
        library.filter(|_| scope.number == 0 || has())
    }

    /// Notes that the JVM is about to take this form of the class.
    fn change(&self, scope: Scope, class: Arc<KnownClass>, redefined: jclass) {
        {
            let mut state = state();
            if redefined.is_null() {
                state.loaders.offer_instead(scope.number, class.clone());
            }
            let versions = state.versions.entry((scope.number, class.summary.name.clone())).or_default();
            if !versions.iter().any(|version| version.summary.hash == class.summary.hash) {
                versions.push(class);
            }
        }
        frames::forget();
    }

    /// The loader that defines the class, with its number.
    fn scope(&self, members: &Members, jvmti: Option<Jvmti>) -> Result<Scope, String> {
        let loader = if self.host.is_null() {
            self.loader
        } else {
            jvmti.and_then(|jvmti| jvmti.class_loader(self.host)).ok_or("the host's loader is unknown")?
        };
        Ok(scope_of(self.env, loader, members, jvmti))
    }

    /// The name of the loader, if loaders distinguish classes and the loader is the program's.
    fn own_loader(&self, scope: Scope) -> Option<Box<[u8]>> {
        let state = state();
        if state.selected.by_loader { state.loaders.name(scope.number) } else { None }
    }

    /// Notes that the JVM is about to be offered this class.
    fn offer(&self, scope: Scope, class: impl Into<Arc<KnownClass>>, identity: Option<&Identity>) {
        let class = class.into();
        let mut state = state();
        match (self.how, identity) {
            (how, Some(identity)) if how.is_unnamable() => {
                let classes = state.anonymous.entry(identity.name.clone()).or_default();
                if !classes.iter().any(|c| c.summary.hash == class.summary.hash) {
                    classes.push(class);
                }
            }
            (how, None) if how.is_unnamable() => {}
            _ => state.loaders.offer(scope.number, class),
        }
    }

    /// The class and all known classes around it.
    fn surroundings(
        &self,
        scope: Scope,
        members: &Members,
        jvmti: Option<Jvmti>,
        summary: &Arc<ClassSummary>,
    ) -> Vec<(Role, Arc<ClassSummary>)> {
        let resolver = Resolver { env: self.env, members, jvmti };
        let mut world = vec![(Role::Input, summary.clone())];
        let mut names: FxHashMap<Box<[u8]>, NameMeaning> = FxHashMap::default();
        names.insert(summary.name.clone(), NameMeaning::Itself);
        for name in self.patched_classes() {
            names.entry(name).or_insert(NameMeaning::Unknown);
        }
        // Classes that the class itself names precede all ancestors, so that names in it mean those
        // classes. In order, so that the world does not depend on hashing.
        let mut queue: VecDeque<(usize, Scope, Box<[u8]>)> =
            owners(self.class).into_iter().map(|name| (0, scope, name)).collect();
        while let Some((of, scope, name)) = queue.pop_front() {
            match names.get(&name) {
                None => {}
                // Not in the world, so it cannot be confused with another class.
                Some(NameMeaning::Unknown) => continue,
                Some(NameMeaning::Itself) => {
                    if of != 0 {
                        cut(&mut world[of].1, &name);
                    }
                    continue;
                }
                Some(NameMeaning::Class(from, standing)) => {
                    let is_same = |resolved: ScopedClass| Arc::ptr_eq(&resolved.class, standing);
                    if *from != scope.number && !resolver.resolve(scope, &name).is_some_and(is_same) {
                        cut(&mut world[of].1, &name);
                    }
                    continue;
                }
            }
            let Some(resolved) = resolver.resolve(scope, &name) else {
                names.insert(name, NameMeaning::Unknown);
                continue;
            };
            let summary = &resolved.class.summary;
            let ancestors = summary.super_name.iter().chain(&summary.interfaces);
            queue.extend(ancestors.map(|n| (world.len(), resolved.scope, n.clone())));
            world.push((Role::Library, summary.clone()));
            names.insert(name, NameMeaning::Class(scope.number, resolved.class));
        }
        world
    }

    /// The names of classes that the definer replaces by others (`Unsafe.defineAnonymousClass`).
    fn patched_classes(&self) -> impl Iterator<Item = Box<[u8]>> {
        let pool = &self.class.pool;
        let indices = self.patched.iter().filter_map(|&index| u16::try_from(index).ok());
        indices
            .filter(|&index| pool.tag(index) == Some(tag::CLASS))
            .filter_map(|index| Some(pool.class(index).ok()?.into()))
    }
}

/// The meaning of a name in a world.
enum NameMeaning {
    /// The class that is being rewritten.
    Itself,
    /// The class to which the loader with this number resolves the name.
    Class(Number, Arc<KnownClass>),
    /// No known class.
    Unknown,
}

/// Hides a supertype whose name resolves to a different class in this loader.
fn cut(summary: &mut Arc<ClassSummary>, ancestor: &[u8]) {
    let summary = Arc::make_mut(summary);
    for name in summary.super_name.iter_mut().chain(&mut summary.interfaces) {
        if **name == *ancestor {
            *name = UNNAMED.into();
        }
    }
}

/// A name that no class has.
const UNNAMED: &[u8] = b"/";

/// The classes that matter for rewriting a class: its direct ancestors, and the owners of the
/// methods that it calls.
fn owners(class: &ClassFile<'_>) -> BTreeSet<Box<[u8]>> {
    let mut owners: BTreeSet<Box<[u8]>> =
        class.super_name().into_iter().chain(class.interface_names()).map(Into::into).collect();
    owners.insert(convention::OBJECT.into());
    for index in class.pool.indices() {
        if matches!(class.pool.tag(index), Some(tag::METHODREF | tag::INTERFACE_METHODREF))
            && let Ok(member) = class.pool.member_ref(index)
            && member.class.first() != Some(&b'[')
        {
            owners.insert(member.class.into());
        }
    }
    owners
}

/// A loader with its number, which it gets at the first call.
fn scope_of(env: Env, loader: jobject, members: &Members, jvmti: Option<Jvmti>) -> Scope {
    if loader.is_null() {
        return Scope { loader, number: 0 };
    }
    let number = env.get_long(loader, members.loader_number);
    if number != 0 {
        return Scope { loader, number };
    }
    let weak = env.new_weak(loader);
    let name = jvmti.and_then(|jvmti| env.object_class(loader).and_then(|class| jvmti.class_name(class)));
    let is_parent_first = name.as_ref().is_some_and(|name| PARENT_FIRST.contains(&&**name));
    let mut state = state();
    // Another thread may have been faster.
    let mut number = env.get_long(loader, members.loader_number);
    if number == 0 {
        number = state.loaders.add(weak, is_parent_first, name.as_deref());
        env.set_long(loader, members.loader_number, number);
    } else {
        env.delete_weak(weak);
    }
    drop(state);
    sweep::sweep(env);
    Scope { loader, number }
}

/// Resolves names without asking any loader.
struct Resolver<'r> {
    env: Env,
    members: &'r Members,
    jvmti: Option<Jvmti>,
}

impl Resolver<'_> {
    fn resolve(&self, scope: Scope, name: &[u8]) -> Option<ScopedClass> {
        let boot = Scope { loader: std::ptr::null_mut(), number: 0 };
        if scope.loader.is_null() {
            let mut state = state();
            // The boot class loader may also take classes from elsewhere (`-Xbootclasspath/a`).
            let library = state.library.class(name);
            let class = library.or_else(|| state.loaders.class(0, name))?;
            return Some(ScopedClass { class, scope: boot });
        }
        let of_library = {
            let mut state = state();
            // Only the boot class loader defines classes in `java`, and the JDK's own loaders
            // always ask it first.
            let asks_library = name.starts_with(b"java/") || state.loaders.is_parent_first(scope.number);
            asks_library.then(|| state.library.class(name)).flatten()
        };
        if let Some(class) = of_library
            && packages::has(self.env, self.jvmti, scope.loader, scope.number, name)
        {
            return Some(ScopedClass { class, scope: boot });
        }
        // The class to which the JVM has already resolved this name for this loader; any loader may
        // have defined it.
        let external: Vec<u8> = name.iter().map(|&b| if b == b'/' { b'.' } else { b }).collect();
        let string = self.env.new_string(&external);
        if string.is_null() {
            return None;
        }
        let class = self.env.call_native(scope.loader, self.members.find_loaded_class, string);
        self.env.delete_local(string);
        if class.is_null() {
            return None;
        }
        let loader = self.jvmti?.class_loader(class);
        self.env.delete_local(class);
        let loader = loader?;
        if loader.is_null() {
            return self.resolve(boot, name);
        }
        let number = self.env.get_long(loader, self.members.loader_number);
        let class = state().loaders.class(number, name)?;
        Some(ScopedClass { class, scope: Scope { loader, number } })
    }
}
