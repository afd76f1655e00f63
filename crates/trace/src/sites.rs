//! Call sites by their callees. The callee's name and descriptor identify the calling site of a
//! block. A block may have thousands of sites, each with a name of 60,000 bytes. So names are
//! numbered once, and sites are found without scanning the others.

use cct_events::structure::{CallSite, Name};
use cct_events::{Class, Method};
use rustc_hash::FxHashMap;

use crate::found::TracedMethod;

/// A name and a descriptor, as a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Signature(u32);

/// The signature of call sites that may call any method.
const ANY: Signature = Signature(u32::MAX);

const INVOKEDYNAMIC: u8 = 186;

/// The classes of method handles and variable handles: their call sites may call any method.
const POLYMORPHIC: [&[u8]; 2] = [b"java/lang/invoke/MethodHandle", b"java/lang/invoke/VarHandle"];

/// Signatures of all methods, and call sites by their signatures.
#[derive(Debug, Default)]
pub struct Sites {
    /// By the class's index and the method's index in it.
    methods: Vec<Vec<Of>>,
}

/// The sites of a method.
#[derive(Debug)]
struct Of {
    signature: Signature,
    /// The method's call sites, by their callees and then in code order.
    calls: Box<[(Signature, u32)]>,
}

/// Numbers for names, and for pairs of them.
#[derive(Default)]
struct Signatures<'c> {
    names: FxHashMap<&'c [u8], u32>,
    /// By the address of the bytes: each name of a class is hashed once, for all its uses.
    seen: FxHashMap<usize, u32>,
    pairs: FxHashMap<(u32, u32), Signature>,
}

impl<'c> Signatures<'c> {
    fn name(&mut self, name: &'c Name) -> u32 {
        let Signatures { names, seen, .. } = self;
        *seen.entry(name.as_ptr() as usize).or_insert_with(|| {
            let next = names.len() as u32;
            *names.entry(&**name).or_insert(next)
        })
    }

    fn of(&mut self, name: &'c Name, descriptor: &'c Name) -> Signature {
        let pair = (self.name(name), self.name(descriptor));
        let next = Signature(self.pairs.len() as u32);
        *self.pairs.entry(pair).or_insert(next)
    }

    fn of_method(&mut self, method: &'c Method) -> Of {
        let mut calls = Vec::with_capacity(method.calls.len());
        for (site, at) in method.calls.iter().zip(0..) {
            calls.push((self.of(&site.name, &site.descriptor), at));
            if is_any(site) {
                calls.push((ANY, at));
            }
        }
        calls.sort_unstable();
        Of { signature: self.of(&method.name, &method.descriptor), calls: calls.into() }
    }
}

impl Sites {
    /// Builds the tables for classes, by their indices.
    pub fn of(classes: &[Class]) -> Sites {
        let mut signatures = Signatures::default();
        let methods = classes
            .iter()
            .map(|class| class.methods.iter().map(|method| signatures.of_method(method)).collect());
        Sites { methods: methods.collect() }
    }

    /// The name and descriptor of a method.
    pub fn signature(&self, found: TracedMethod<'_>) -> Option<Signature> {
        self.of_method(found).map(|of| of.signature)
    }

    /// The first call site of a method, starting at one, that calls a method with this signature.
    pub fn next(&self, caller: TracedMethod<'_>, callee: Signature, from: usize) -> Option<usize> {
        let calls = &self.of_method(caller)?.calls;
        let at = calls.partition_point(|&(of, at)| (of, at as usize) < (callee, from));
        calls.get(at).filter(|(of, _)| *of == callee).map(|&(_, at)| at as usize)
    }

    /// The first call site, starting at one, that may call any method.
    pub fn next_any(&self, caller: TracedMethod<'_>, from: usize) -> Option<usize> {
        self.next(caller, ANY, from)
    }

    fn of_method(&self, found: TracedMethod<'_>) -> Option<&Of> {
        self.methods.get(found.place as usize)?.get(usize::from(found.index))
    }
}

fn is_any(site: &CallSite) -> bool {
    site.opcode == INVOKEDYNAMIC || POLYMORPHIC.contains(&&*site.class)
}
