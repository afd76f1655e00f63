//! The methods of several profiles in one table.

use crate::{Method, Profile, Site};

/// Treatment of methods with the same class, name and descriptor, but different MIDs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bodies {
    /// They stay different methods.
    #[default]
    Apart,
    /// They become one, for a class that was recompiled between the runs. Its MID is 0 if they
    /// differ.
    Together,
}

/// The united methods, and for each profile the new index of each of its methods. With `drop_sites`
/// the methods of all call sites are united.
pub(crate) fn united_methods(
    profiles: &[&Profile],
    bodies: Bodies,
    drop_sites: bool,
) -> (Vec<Method>, Vec<Vec<u32>>) {
    // A method that native code calls has no site in a profile; the tree shows that it is below
    // native code.
    let site = |method: &Method| method.site.filter(|&site| !drop_sites && site != Site::NATIVE);
    let key = |method: &Method| {
        let mid = if bodies == Bodies::Together { 0 } else { method.mid };
        let site = site(method);
        (method.class.clone(), method.name.clone(), method.descriptor.clone(), site, mid)
    };
    let mut all: Vec<(usize, usize)> = Vec::new();
    for (p, profile) in profiles.iter().enumerate() {
        all.extend((0..profile.methods.len()).map(|m| (p, m)));
    }
    all.sort_by_cached_key(|&(p, m)| key(&profiles[p].methods[m]));
    let mut labels: Vec<Vec<u32>> = profiles.iter().map(|p| vec![0; p.methods.len()]).collect();
    let mut methods = Vec::new();
    for same in all.chunk_by(|&(p, m), &(q, n)| key(&profiles[p].methods[m]) == key(&profiles[q].methods[n]))
    {
        let Some((&(p, m), others)) = same.split_first() else { continue };
        let mut method = profiles[p].methods[m].clone();
        method.site = site(&method);
        for other in others.iter().map(|&(p, m)| &profiles[p].methods[m]) {
            method.flags |= other.flags;
            if method.mid != other.mid {
                method.mid = 0;
            }
        }
        for &(p, m) in same {
            labels[p][m] = methods.len() as u32;
        }
        methods.push(method);
    }
    (methods, labels)
}
