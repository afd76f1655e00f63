//! Finding the rest of the JDK in which an input lies.

use std::path::{Path, PathBuf};

/// Folders of a JDK 8's class library, relative to its home (or to its `jre`).
const LIBRARY_FOLDERS: &[&str] = &["jre/lib", "jre/lib/ext", "lib", "lib/ext"];

/// The image of a JDK from 9 on, relative to its home: its whole class library.
const IMAGE: &str = "lib/modules";

/// Its class library as a JDK's build leaves it, which HotSpot takes where there is no image: a
/// folder for each module.
const EXPLODED: &str = "modules";

/// What the class library of the JDK (or JRE) is made of in which `path` lies, in a fixed order:
/// the image of a JDK from 9 on, the jars of a JDK 8. Nothing if it lies in none.
pub fn class_library_around(path: &Path) -> Vec<PathBuf> {
    home_around(path).map_or(Vec::new(), |home| class_library_of(&home))
}

/// Likewise of the JDK (or JRE) whose home this is.
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
        // rt.jar first: the first class of a name stands for it, as on the boot class path.
        here.sort_by_key(|p| (p.file_name().is_none_or(|n| n != "rt.jar"), p.clone()));
        jars.extend(here);
    }
    jars
}

/// The JDK or JRE in which a file lies: the outermost folder that looks like a home, a JDK's rather
/// than that of the JRE inside it.
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
