//! The program of a trace, as far as the trace contains it.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::Path;
use std::sync::Arc;

use cct_events::file::Places;
use cct_events::structure::{CallSite, CalleeEvents, MOST_IMPLIED, Name, Recording};
use cct_events::{Class, Method};
use rustc_hash::FxHashMap;

use crate::found::TracedMethod;
use crate::sites::Sites;

/// Classes, methods and callees.
#[derive(Debug, Default)]
pub struct Program {
    /// Ordered by the number of the first method.
    classes: Vec<Class>,
    /// The index of the class of each method whose number fits into a table.
    places: Vec<u32>,
    /// Methods as contexts identify them, sorted: the trace may have several with one name and id.
    callees: Vec<MethodKey>,
    /// For each class, by index, its methods among the callees.
    of_methods: Vec<Vec<Callee>>,
    /// Callees that events of call sites name: by the class's index, method and call site.
    of_sites: FxHashMap<(u32, u16, u32), Callee>,
    by_id: FxHashMap<u64, Callee>,
    /// Call sites by their callees.
    sites: Sites,
    /// The number of `Finalizer.register`, which the VM calls in `Object.<init>`.
    registers: Option<u32>,
}

/// The index of a method among those of contexts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Callee(pub u32);

/// A method as contexts identify it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MethodKey {
    /// Class, with slashes.
    pub class: Arc<str>,
    /// Name.
    pub name: Arc<str>,
    /// Descriptor.
    pub descriptor: Arc<str>,
    /// The method's id.
    pub id: u64,
    /// Whether it is a native.
    pub is_native: bool,
}

/// Size of the table. Methods with greater numbers are searched. Words of events have room for half
/// as many, and numbers of a damaged file must not determine the size of a table.
const TABLE: usize = 1 << 20;

/// A number that no class's method has.
const NOWHERE: u32 = u32::MAX;

const FINALIZER: &[u8] = b"java/lang/ref/Finalizer";

const NATIVE: u16 = 0x100;

/// Names of classes as texts, each once. Each name of a class is converted once, for all its uses.
#[derive(Default)]
struct Texts {
    list: Vec<Arc<str>>,
    places: FxHashMap<Arc<str>, u32>,
    /// By the address of the bytes, which the classes own.
    seen: FxHashMap<usize, u32>,
}

/// A method as contexts identify it, by the indices of its class, name and descriptor among the
/// texts.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Parts {
    names: [u32; 3],
    id: u64,
    is_native: bool,
}

impl Texts {
    fn parts(&mut self, names: [&Name; 3], id: u64, is_native: bool) -> Parts {
        Parts { names: names.map(|name| self.place(name)), id, is_native }
    }

    fn place(&mut self, name: &Name) -> u32 {
        let Texts { list, places, seen } = self;
        *seen.entry(name.as_ptr() as usize).or_insert_with(|| {
            let text: Arc<str> = String::from_utf8_lossy(name).into();
            *places.entry(text).or_insert_with_key(|text| {
                list.push(text.clone());
                list.len() as u32 - 1
            })
        })
    }

    /// The rank of each text in sorted order.
    fn ranks(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.list.len() as u32).collect();
        order.sort_unstable_by_key(|&at| &self.list[at as usize]);
        let mut ranks = vec![0; order.len()];
        for (rank, at) in (0..).zip(order) {
            ranks[at as usize] = rank;
        }
        ranks
    }
}

impl Program {
    /// Adds classes; `None` if the bytes are invalid.
    pub(crate) fn add(&mut self, mut packed: &[u8]) -> Option<()> {
        while !packed.is_empty() {
            self.classes.push(Class::unpack(&mut packed)?);
        }
        Some(())
    }

    /// Adds the classes of these methods, in order, from the static data of a class library; `None`
    /// if it cannot be read. The path comes from another file and may be anything: opening a pipe
    /// would block for ever.
    pub(crate) fn add_of(&mut self, structure: &Path, methods: &[u32]) -> Option<()> {
        if !fs::metadata(structure).ok()?.is_file() {
            return None;
        }
        let mut file = BufReader::new(File::open(structure).ok()?);
        let places = Places::of(&mut file).ok()?;
        let mut wanted = methods;
        for (place, next) in places.list.iter().zip(places.list.iter().skip(1).map(Some).chain([None])) {
            let end = next.map_or(u32::MAX, |next| next.head.sequence);
            let (here, behind) = wanted.split_at(wanted.partition_point(|&method| method < end));
            wanted = behind;
            if here.is_empty() {
                continue;
            }
            let content = place.content(&mut file).ok()??;
            let mut rest = &content[..];
            while !rest.is_empty() {
                let whole = Class::split(&mut rest)?;
                let head = Class::head(whole)?;
                let from = here.partition_point(|&method| method < head.first_method);
                let is_wanted =
                    here.get(from).is_some_and(|&method| method - head.first_method < head.methods);
                if is_wanted {
                    self.classes.push(Class::of_bytes(whole)?);
                }
            }
        }
        Some(())
    }

    /// The number of a method in which an event would imply more blocks than allowed.
    pub(crate) fn unbounded(&self) -> Option<u32> {
        let is_unbounded = |method: &&Method| {
            let next = |&block: &u32| method.blocks.get(block as usize)?.next;
            let way = |start| std::iter::successors(Some(start), next).skip(1).take(MOST_IMPLIED + 1);
            (0..method.blocks.len() as u32).any(|start| way(start).count() > MOST_IMPLIED)
        };
        self.classes.iter().find_map(|class| {
            let at = class.methods.iter().position(|method| is_unbounded(&method))?;
            Some(class.first_method.saturating_add(at as u32))
        })
    }

    /// Builds the tables, once all classes are there.
    pub(crate) fn complete(&mut self) {
        self.classes.sort_by_key(|class| class.first_method);
        self.classes.dedup_by_key(|class| (class.first_method, class.number));
        self.places = self.table();
        self.sites = Sites::of(&self.classes);
        let mut texts = Texts::default();
        let mut known: FxHashMap<Parts, Callee> = FxHashMap::default();
        let mut all: Vec<Parts> = Vec::new();
        let mut place = |called: Parts| {
            *known.entry(called).or_insert_with(|| {
                all.push(called);
                Callee(all.len() as u32 - 1)
            })
        };
        for (class, at) in self.classes.iter().zip(0..) {
            let mut of_class = Vec::with_capacity(class.methods.len());
            for (method, index) in class.methods.iter().zip(0..) {
                let names = [&class.name, &method.name, &method.descriptor];
                of_class.push(place(texts.parts(names, method.id, method.access & NATIVE != 0)));
                for site in method.calls.iter().filter(|site| site.counted != CalleeEvents::Itself) {
                    let names = [&site.callee, &site.name, &site.descriptor];
                    let called = place(texts.parts(names, site.id, *site.name != *b"<init>"));
                    self.of_sites.insert((at, index, site.bci), called);
                }
            }
            self.of_methods.push(of_class);
        }
        self.registers = self.classes.iter().find(|class| *class.name == *FINALIZER).and_then(|class| {
            let place = class.methods.iter().position(|method| *method.name == *b"register")?;
            Some(class.first_method + place as u32)
        });
        // In the order of profiles.
        let ranks = texts.ranks();
        let key = |at: u32| {
            let Parts { names, id, is_native } = all[at as usize];
            (names.map(|name| ranks[name as usize]), id, is_native)
        };
        let mut order: Vec<u32> = (0..all.len() as u32).collect();
        order.sort_by_key(|&at| key(at));
        let mut moved = vec![Callee(0); all.len()];
        for (to, &from) in order.iter().enumerate() {
            moved[from as usize] = Callee(to as u32);
        }
        let moved = |callee: &mut Callee| *callee = moved[callee.0 as usize];
        self.of_methods.iter_mut().flatten().for_each(moved);
        #[allow(clippy::iter_over_hash_type)] // Each is changed by itself.
        self.of_sites.values_mut().for_each(moved);
        let called = order.iter().map(|&from| {
            let Parts { names, id, is_native } = all[from as usize];
            let [class, name, descriptor] = names.map(|name| texts.list[name as usize].clone());
            MethodKey { class, name, descriptor, id, is_native }
        });
        self.callees = called.collect();
        for (called, at) in self.callees.iter().zip(0..).filter(|(called, _)| called.id != 0) {
            self.by_id.entry(called.id).or_insert(Callee(at));
        }
    }

    /// The class of each method number.
    fn table(&self) -> Vec<u32> {
        let mut places = Vec::new();
        for (class, at) in self.classes.iter().zip(0..) {
            let first = class.first_method as usize;
            let end = (first + class.methods.len()).min(TABLE);
            if first < end {
                places.resize(end.max(places.len()), NOWHERE);
                places[first..end].fill(at);
            }
        }
        places
    }

    /// The method with a number.
    #[inline]
    pub fn method(&self, number: u32) -> Option<TracedMethod<'_>> {
        let place = match self.places.get(number as usize) {
            Some(&place) => place as usize,
            None => self.classes.partition_point(|class| class.first_method <= number).checked_sub(1)?,
        };
        let class = self.classes.get(place)?;
        let index = number - class.first_method;
        let method = class.methods.get(index as usize)?;
        Some(TracedMethod { place: place as u32, class, index: index as u16, method })
    }

    /// The method's callee, as contexts identify it.
    pub fn callee(&self, found: TracedMethod<'_>) -> Callee {
        self.of_methods[found.place as usize][usize::from(found.index)]
    }

    /// The callee that an event of a call site names.
    pub fn callee_at(&self, found: TracedMethod<'_>, bci: u32) -> Option<(Callee, &CallSite)> {
        let callee = *self.of_sites.get(&(found.place, found.index, bci))?;
        Some((callee, self.classes[found.place as usize].methods[usize::from(found.index)].call_at(bci)?))
    }

    /// The method with an id.
    pub fn callee_with_id(&self, id: u64) -> Option<Callee> {
        self.by_id.get(&id).copied()
    }

    /// Whether it is the method that the VM calls for an object with a finalizer, in
    /// `Object.<init>`.
    #[inline]
    pub fn registers(&self, number: u32) -> bool {
        self.registers == Some(number)
    }

    /// Call sites by their callees.
    pub(crate) fn sites(&self) -> &Sites {
        &self.sites
    }

    /// All callees of contexts.
    pub fn callees(&self) -> &[MethodKey] {
        &self.callees
    }

    /// All classes, by the numbers of their methods.
    pub fn classes(&self) -> &[Class] {
        &self.classes
    }

    /// Number of methods for each kind of recording.
    pub fn recordings(&self) -> Vec<(Recording, usize)> {
        let all = [
            Recording::Full,
            Recording::Blocks,
            Recording::Calls,
            Recording::Native,
            Recording::Leaf,
            Recording::None,
        ];
        let methods = || self.classes.iter().flat_map(|class| &class.methods);
        all.map(|how| (how, methods().filter(|method| method.recording == how).count())).to_vec()
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::sync::mpsc;
    use std::time::Duration;

    use cct_events::structure::Method;

    use super::*;

    /// The file of a killed JVM has the path of the file of classes; its sender may put any path
    /// there.
    #[cfg(unix)]
    #[test]
    fn a_pipe_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let (ended, ends) = mpsc::channel();
        std::thread::spawn(move || ended.send(Program::default().add_of(&pipe, &[1])).unwrap());
        assert_eq!(ends.recv_timeout(Duration::from_secs(60)).expect("it waits"), None);
        assert_eq!(Program::default().add_of(Path::new("/dev/zero"), &[1]), None);
    }

    /// In the table and beyond it.
    #[test]
    fn methods_are_found_by_their_numbers() {
        let mut packed = Vec::new();
        let methods = |count| vec![Method::default(); count];
        for (first_method, count) in
            [(0, 2), (5, 3), (TABLE as u32 - 1, 2), (TABLE as u32 + 7, 1), (u32::MAX - 1, 1)]
        {
            let class =
                Class { number: first_method, first_method, methods: methods(count), ..Class::default() };
            class.pack(&mut packed);
        }
        let mut program = Program::default();
        program.add(&packed).unwrap();
        program.complete();
        let found = |number| program.method(number).map(|found| (found.place, found.index));
        assert_eq!(
            [0, 1, 2, 4, 5, 7, 8].map(found),
            [Some((0, 0)), Some((0, 1)), None, None, Some((1, 0)), Some((1, 2)), None]
        );
        let table = TABLE as u32;
        assert_eq!([table - 1, table, table + 1].map(found), [Some((2, 0)), Some((2, 1)), None]);
        let last = [u32::MAX - 1, u32::MAX];
        assert_eq!([table + 7, table + 8].map(found), [Some((3, 0)), None]);
        assert_eq!(last.map(found), [Some((4, 0)), None]);
    }

    /// 200,000 call sites with names of 60,000 bytes: copying or hashing them for each site would
    /// take 36 GB, or minutes.
    #[test]
    fn long_names_that_many_use() {
        let long = |letter: u8| -> Name { vec![letter; 60_000].into() };
        let (callee, name, descriptor) = (long(b'a'), long(b'b'), long(b'c'));
        let site = |bci: u32| CallSite {
            bci,
            callee: callee.clone(),
            name: name.clone(),
            descriptor: descriptor.clone(),
            counted: CalleeEvents::Always,
            id: u64::from(bci).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1,
            ..CallSite::default()
        };
        let method = Method { calls: (0..200_000).map(site).collect(), ..Method::default() };
        let class = Class { methods: vec![method], ..Class::default() };
        let mut packed = Vec::new();
        class.pack(&mut packed);
        let mut program = Program::default();
        program.add(&packed).unwrap();
        program.complete();
        assert_eq!(program.callees().len(), 200_001);
        let [_, first, .., last] = program.callees() else { panic!("two callees at least") };
        assert!(first.id < last.id && Arc::ptr_eq(&first.class, &last.class));
    }
}
