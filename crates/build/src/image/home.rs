//! The JDK that an image is built from: the paths of its parts, and whether it is supported.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::release::Release;
use cct_image::record;

/// A JDK or JRE.
#[derive(Debug)]
pub struct Home {
    /// The absolute path, without links.
    pub path: PathBuf,
    /// The contents of its `release` file.
    pub release: Release,
    /// The storage of its class library.
    pub layout: Layout,
}

/// The storage of a class library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Layout {
    /// JDK 8: jars.
    Jars {
        /// The folder of `libjava` and `jvm.cfg` within `lib`: the name of the processor's
        /// architecture.
        arch: String,
        /// `java.home` relative to the home: `jre`, or empty for a JRE.
        jre: &'static str,
    },
    /// JDK 9 and later: one file, `lib/modules`.
    Modules,
}

impl Home {
    /// Opens the JDK in a folder.
    pub fn open(path: &Path) -> Result<Home> {
        let shown = path.display();
        let path = fs::canonicalize(path).with_context(|| format!("{shown}: cannot find"))?;
        if !path.is_dir() {
            bail!("{shown}: not a folder; name the home of a JDK, the folder in which `bin` and `lib` are");
        }
        let release = Release::read(&path)?;
        let layout = layout(&path, &release).with_context(|| shown.to_string())?;
        let home = Home { path, release, layout };
        if home.path.join(home.own_folder()).join(record::NAME).is_file() {
            bail!("{shown}: a profiled JDK already; name the JDK that it was made from");
        }
        Ok(home)
    }

    /// `java.home`'s folder `lib`, relative to the home.
    pub fn lib(&self) -> PathBuf {
        match &self.layout {
            Layout::Jars { jre, .. } => Path::new(jre).join("lib"),
            Layout::Modules => PathBuf::from("lib"),
        }
    }

    /// The folder of an image's files besides a JDK's own, relative to the home.
    pub fn own_folder(&self) -> PathBuf {
        self.lib().join(record::FOLDER)
    }

    /// The folder in which HotSpot searches libraries by name, relative to the home.
    pub fn libraries(&self) -> PathBuf {
        match &self.layout {
            Layout::Jars { arch, .. } => self.lib().join(arch),
            Layout::Modules => self.lib(),
        }
    }

    /// The folder of HotSpot, relative to the home.
    pub fn server(&self) -> PathBuf {
        match &self.layout {
            Layout::Jars { arch, .. } => self.lib().join(arch).join("server"),
            Layout::Modules => self.lib().join("server"),
        }
    }
}

/// The layout of a home, if its JVM is HotSpot.
fn layout(home: &Path, release: &Release) -> Result<Layout> {
    if home.join("Contents/Home").is_dir() {
        bail!("not the home of a JDK but a bundle around it; name its folder Contents/Home");
    }
    if home.join("modules/java.base").is_dir() && !home.join("lib/modules").is_file() {
        bail!(
            "a JDK as its build leaves it, with classes in folders; give the image that `make images` makes"
        );
    }
    if release.is_openj9() || home.join("lib/j9vm").is_dir() || home.join("lib/compressedrefs").is_dir() {
        bail!("the JVM of this JDK is OpenJ9; only HotSpot is supported");
    }
    if home.join("lib/modules").is_file() {
        if !home.join("lib/server").is_dir() {
            bail!("it has no HotSpot in lib/server; only HotSpot's server VM is supported");
        }
        return Ok(Layout::Modules);
    }
    for jre in ["jre", ""] {
        let lib = home.join(jre).join("lib");
        if lib.join("rt.jar").is_file() {
            return Ok(Layout::Jars { arch: architecture(&lib)?, jre });
        }
    }
    bail!(
        "not the home of a JDK: it has neither lib/modules nor jre/lib/rt.jar; name the folder in which `bin` and `lib` are"
    );
}

/// The folder of a JDK 8's `lib` that contains its JVMs.
fn architecture(lib: &Path) -> Result<String> {
    let mut others = false;
    for entry in fs::read_dir(lib).with_context(|| format!("cannot list {}", lib.display()))? {
        let entry = entry?;
        if !entry.path().join("jvm.cfg").is_file() {
            continue;
        }
        if entry.path().join("server").is_dir() {
            // All architectures have names of letters and digits.
            return Ok(entry.file_name().to_string_lossy().into_owned());
        }
        others = true;
    }
    if others {
        bail!("it has no HotSpot in a folder `server`; only HotSpot's server VM is supported")
    } else {
        bail!("it has no jvm.cfg in lib, so its launchers find no JVM; the JDK is not complete")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn home(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, b"").unwrap();
        }
        folder
    }

    fn refusal(files: &[&str]) -> String {
        format!("{:#}", Home::open(home(files).path()).unwrap_err())
    }

    #[test]
    fn layouts_are_told_by_their_files() {
        let jdk = home(&["jre/lib/rt.jar", "jre/lib/amd64/jvm.cfg", "jre/lib/amd64/server/libjvm.so"]);
        let jdk = Home::open(jdk.path()).unwrap();
        assert_eq!(jdk.layout, Layout::Jars { arch: "amd64".to_owned(), jre: "jre" });
        assert_eq!(jdk.server(), Path::new("jre/lib/amd64/server"));
        let jre = home(&["lib/rt.jar", "lib/aarch64/jvm.cfg", "lib/aarch64/server/libjvm.so"]);
        let jre = Home::open(jre.path()).unwrap();
        assert_eq!(jre.own_folder(), Path::new("lib/cctrewrite"));
        let modules = home(&["lib/modules", "lib/server/libjvm.so"]);
        assert_eq!(Home::open(modules.path()).unwrap().layout, Layout::Modules);
    }

    #[test]
    fn what_is_no_home_is_named() {
        assert!(refusal(&["bin/java"]).contains("not the home of a JDK"));
        assert!(refusal(&["Contents/Home/lib/modules"]).contains("Contents/Home"));
        assert!(refusal(&["modules/java.base/module-info.class"]).contains("make images"));
        assert!(refusal(&["lib/modules", "lib/j9vm/libjvm.so"]).contains("OpenJ9"));
        assert!(refusal(&["lib/modules"]).contains("HotSpot"));
        assert!(refusal(&["jre/lib/rt.jar"]).contains("jvm.cfg"));
        let files = ["lib/modules", "lib/server/libjvm.so", "lib/cctrewrite/IMAGE"];
        assert!(refusal(&files).contains("already"));
    }
}
