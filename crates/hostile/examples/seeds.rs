//! Writes the seeds of all targets in the layout of libFuzzer: `FOLDER/TARGET/NUMBER`.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::PathBuf;

fn main() {
    let folder = PathBuf::from(std::env::args_os().nth(1).expect("the name of a folder"));
    for target in cct_hostile::TARGETS {
        let folder = folder.join(target.name);
        fs::create_dir_all(&folder).unwrap();
        for (number, seed) in (target.seeds)().iter().enumerate() {
            fs::write(folder.join(format!("seed-{number}")), seed).unwrap();
        }
    }
}
