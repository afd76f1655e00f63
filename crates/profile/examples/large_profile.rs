//! Writes a synthetic profile of any size, for measuring the time and memory of programs that read
//! profiles.
//!
//!     cargo run --release -p cct-profile --example large_profile -- 10000000 base.cct
//!     cargo run --release -p cct-profile --example large_profile -- 10000000 new.cct changed
//!
//! The same arguments give the same bytes. With `changed`, about one context in a thousand has one
//! more bytecode for each call.

use cct_profile::{Method, Profile, ThreadTree, TreeBuilder};
use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};

const METHODS: u32 = 8_000;

/// Stacks are about as deep as those of a compiler.
const DEPTH: usize = 90;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let usage = "usage: large_profile CONTEXTS FILE [changed]";
    let contexts: usize = arguments.next().ok_or(usage)?.parse()?;
    let path = arguments.next().ok_or(usage)?;
    let changed = arguments.next().is_some();
    let mut out = BufWriter::new(File::create(path)?);
    profile(contexts, changed)?.write(&mut out)?;
    Ok(out.flush()?)
}

fn profile(contexts: usize, changed: bool) -> Result<Profile, Box<dyn Error>> {
    let methods = (0..METHODS).map(|number| {
        let package = if number % 3 == 0 { "java/util" } else { "org/example/app" };
        Method {
            class: format!("{package}/Class{:04}", number / 8).into(),
            name: format!("method{}", number % 8).into(),
            descriptor: "(Ljava/lang/Object;I)V".into(),
            site: None,
            mid: u64::from(number + 1) << 7,
            flags: if number % 19 == 0 { Method::NATIVE } else { 0 },
        }
    });
    let mut methods: Vec<Method> = methods.collect();
    methods.sort();
    let flags = ThreadTree::ENDED;
    let threads = vec![ThreadTree { name: "main".into(), threads: 1, flags, tree: tree(contexts, changed)? }];
    let meta = [("main", "org.example.app.Main"), ("metrics", "calls+bytecodes"), ("blocks", "default")];
    let meta = meta.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
    Ok(Profile { meta, methods, threads, ..Profile::default() })
}

fn tree(contexts: usize, changed: bool) -> Result<cct_profile::Tree, Box<dyn Error>> {
    let mut random = Random(1);
    let mut builder = TreeBuilder::new();
    // For each open node the smallest method that its next child may have: children are sorted.
    let mut open: Vec<u32> = vec![0];
    for _ in 0..contexts {
        // Near the outermost frames there is always more to follow.
        while open.len() > 4 && (open.len() > DEPTH || random.below(100) < 44) {
            open.pop();
            builder.leave();
        }
        while open.last().is_some_and(|&least| least >= METHODS) {
            open.pop();
            builder.leave();
        }
        let Some(least) = open.last_mut() else { return Err("the tree is full".into()) };
        // Most callees are among a few: recursion is frequent.
        let step = if random.below(4) == 0 { random.below(400) } else { random.below(6) };
        let method = (*least + step).min(METHODS - 1);
        *least = method + 1;
        let calls = u64::from(random.below(50)) + 1;
        let longer = u64::from(changed && random.0.is_multiple_of(1000));
        builder.enter(method, calls, calls * (u64::from(random.below(40)) + longer))?;
        open.push(0);
    }
    Ok(builder.finish())
}

/// Splitmix64.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u32) -> u32 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % u64::from(limit)) as u32
    }
}
