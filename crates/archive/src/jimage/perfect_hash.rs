//! Search for seeds that give every name a slot of its own ("hash, displace"). Names that share a
//! first hash form a bucket, and the largest buckets choose first. A bucket's redirect is the seed
//! that takes all its names to free slots. A bucket of one name takes the first free slot, and its
//! redirect names that slot.
//!
//! Every choice is that of jlink, so that an image of the same names has the same tables.

use super::format::{HASH_MULTIPLIER, hash};

/// Number of seeds tried for one bucket before the number of slots grows.
const SEEDS: u32 = 1000;

/// Number of sizes tried before giving up. jlink's images nearly always succeed with the first.
const SIZES: u32 = 64;

/// The tables of a set of names.
#[derive(Debug)]
pub(super) struct Tables {
    /// For each first hash: 0 if no name has it, -1-slot if one has, otherwise the seed of the
    /// second hash.
    pub(super) redirect: Vec<i32>,
    /// The name in each slot.
    pub(super) order: Vec<Option<usize>>,
}

/// The slot that `redirect` gives to a name.
pub(super) fn slot_of(name: &[u8], slots: u32, redirect: impl FnOnce(usize) -> Option<u32>) -> Option<usize> {
    let first = hash(HASH_MULTIPLIER, name).checked_rem(slots)?;
    let value = redirect(first as usize)?.cast_signed();
    match value {
        0 => None,
        1.. => Some((hash(value.cast_unsigned(), name) % slots) as usize),
        _ => usize::try_from(-1 - value).ok().filter(|&slot| slot < slots as usize),
    }
}

/// Finds tables for these names, all different. `None` if all attempts fail, which takes names
/// constructed for that.
pub(super) fn tables<N: AsRef<[u8]>>(names: &[N]) -> Option<Tables> {
    let mut slots = names.len();
    for _ in 0..SIZES {
        if let Some(tables) = attempt(names, slots) {
            return Some(tables);
        }
        slots = (slots + 1) | 1;
    }
    None
}

fn attempt<N: AsRef<[u8]>>(names: &[N], slots: usize) -> Option<Tables> {
    let count = u32::try_from(slots).ok()?;
    let mut buckets: Vec<(usize, Vec<usize>)> = (0..slots).map(|first| (first, Vec::new())).collect();
    for (index, name) in names.iter().enumerate() {
        buckets[(hash(HASH_MULTIPLIER, name.as_ref()) % count) as usize].1.push(index);
    }
    buckets.retain(|(_, bucket)| !bucket.is_empty());
    // Stable: buckets of one size stay in the order of their hashes.
    buckets.sort_by_key(|(_, bucket)| std::cmp::Reverse(bucket.len()));

    let mut tables = Tables { redirect: vec![0; slots], order: vec![None; slots] };
    let mut free = 0;
    for (first, bucket) in buckets {
        if let [only] = *bucket {
            free += tables.order[free..].iter().position(Option::is_none)?;
            tables.order[free] = Some(only);
            tables.redirect[first] = -1 - i32::try_from(free).ok()?;
        } else {
            let seed = seed_of(names, &bucket, count, &tables.order)?;
            for &index in &bucket {
                tables.order[(hash(seed, names[index].as_ref()) % count) as usize] = Some(index);
            }
            tables.redirect[first] = i32::try_from(seed).ok()?;
        }
    }
    Some(tables)
}

/// The first seed that takes the names of a bucket to different free slots.
fn seed_of<N: AsRef<[u8]>>(
    names: &[N],
    bucket: &[usize],
    slots: u32,
    order: &[Option<usize>],
) -> Option<u32> {
    let mut taken = Vec::with_capacity(bucket.len());
    (HASH_MULTIPLIER + 1..).take(SEEDS as usize + 1).find(|&seed| {
        taken.clear();
        bucket.iter().all(|&index| {
            let slot = hash(seed, names[index].as_ref()) % slots;
            let fits = order[slot as usize].is_none() && !taken.contains(&slot);
            taken.push(slot);
            fits
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_finds_its_slot() {
        for count in [0, 1, 2, 3, 10, 1000] {
            let names: Vec<Vec<u8>> =
                (0..count).map(|i| format!("/java.base/a/C{i}.class").into_bytes()).collect();
            let tables = tables(&names).unwrap();
            let slots = tables.order.len() as u32;
            for (index, name) in names.iter().enumerate() {
                let slot =
                    slot_of(name, slots, |first| Some(tables.redirect[first].cast_unsigned())).unwrap();
                assert_eq!(tables.order[slot], Some(index));
            }
            assert_eq!(tables.order.iter().flatten().count(), count);
        }
    }

    #[test]
    fn equal_names_end_in_no_tables_and_not_in_a_loop() {
        assert!(tables(&["/a/b", "/a/b"]).is_none());
    }

    #[test]
    fn no_slots_give_no_slot() {
        assert_eq!(slot_of(b"/a", 0, |_| Some(1)), None);
        assert_eq!(slot_of(b"/a", 3, |_| Some(0)), None);
        assert_eq!(slot_of(b"/a", 3, |_| Some((-4i32).cast_unsigned())), None);
        assert_eq!(slot_of(b"/a", 3, |_| Some(i32::MIN.cast_unsigned())), None);
        assert_eq!(slot_of(b"/a", 3, |_| Some((-3i32).cast_unsigned())), Some(2));
    }
}
