//! Search for the rest of the JDK that contains an input.

use std::path::{Path, PathBuf};

/// Folders of a JDK 8's class library, relative to its home (or to its `jre`).
const LIBRARY_FOLDERS: &[&str] = &["jre/lib", "jre/lib/ext", "lib", "lib/ext"];

/// The image of a JDK from 9 on, relative to its home: its whole class library.
const IMAGE: &str = "lib/modules";

/// The class library of a JDK's build, which HotSpot uses without an image: a folder for each
/// module.
const EXPLODED: &str = "modules";

/// The class library of the JDK (or JRE) that contains `path`, in a fixed order. It is the image of
/// a JDK from 9 on, or the jars of a JDK 8. Empty if no JDK contains the path.
pub fn class_library_around(path: &Path) -> Vec<PathBuf> {
    home_around(path).map_or(Vec::new(), |home| class_library_of(&home))
}

/// The class library of the JDK (or JRE) with this home, in a fixed order; see
/// [`class_library_around`].
pub fn class_library_of(home: &Path) -> Vec<PathBuf> {
    let image = home.join(IMAGE);
    if image.is_file() {
        return vec![image];
    }
    if is_exploded(home) {
        return vec![home.join(EXPLODED)];
    }
    let mut jars = Vec::new();
    for folder in LIBRARY_FOLDERS {
        let Ok(entries) = std::fs::read_dir(home.join(folder)) else { continue };
        let mut here: Vec<PathBuf> = entries
            .filter_map(|e| Some(e.ok()?.path()))
            .filter(|p| p.extension().is_some_and(|e| e == "jar") && p.is_file())
            .collect();
        // rt.jar first: the first class of a name wins, as on the boot class path.
        here.sort_by_key(|p| (p.file_name().is_none_or(|n| n != "rt.jar"), p.clone()));
        jars.extend(here);
    }
    jars
}

/// The JDK or JRE that contains a file: the outermost folder that looks like a home. That is a
/// JDK's home rather than that of the JRE inside it.
pub fn home_around(path: &Path) -> Option<PathBuf> {
    let path = std::fs::canonicalize(path).ok()?;
    path.ancestors().skip(1).filter(|home| is_home(home)).last().map(Path::to_path_buf)
}

/// Whether a folder looks like the home of a JDK or JRE.
pub fn is_home(folder: &Path) -> bool {
    let has = |file: &&str| folder.join(file).is_file();
    ["jre/lib/rt.jar", "lib/rt.jar", IMAGE].iter().any(has) || is_exploded(folder)
}

fn is_exploded(home: &Path) -> bool {
    home.join(EXPLODED).join("java.base/module-info.class").is_file()
}
