//! The JDK that an image is built from: the paths of its parts, and whether it is supported.

use std::fs;
use std::path::{Path, PathBuf};

use super::release::Release;
use crate::file_error::{FileError, Operation};
use cct_image::record;

/// A folder of which no image can be built.
#[derive(Debug, thiserror::Error)]
pub enum HomeError {
    /// It, or its `release` file, cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// It is a file.
    #[error("{}: not a folder; name the home of a JDK, the folder in which `bin` and `lib` are", .0.display())]
    NotAFolder(PathBuf),
    /// It is the home of no JDK that is supported.
    #[error("{}", .path.display())]
    Unsupported {
        /// The folder.
        path: PathBuf,
        /// The reason.
        source: UnsupportedJdk,
    },
    /// It is an image.
    #[error("{}: a profiled JDK already; name the JDK that it was made from", .0.display())]
    Profiled(PathBuf),
}

/// Why a folder is not the home of a supported JDK.
#[derive(Debug, thiserror::Error)]
pub enum UnsupportedJdk {
    /// A folder cannot be listed.
    #[error(transparent)]
    File(#[from] FileError),
    /// A bundle of macOS.
    #[error("not the home of a JDK but a bundle around it; name its folder Contents/Home")]
    Bundle,
    /// The JDK has its classes in folders.
    #[error("a JDK as its build leaves it, with classes in folders; give the image that `make images` makes")]
    Exploded,
    /// The JVM is OpenJ9.
    #[error("the JVM of this JDK is OpenJ9; only HotSpot is supported")]
    OpenJ9,
    /// A JDK 9 or later has no `lib/server`.
    #[error("it has no HotSpot in lib/server; only HotSpot's server VM is supported")]
    NoServer,
    /// A JDK 8 has no folder `server`.
    #[error("it has no HotSpot in a folder `server`; only HotSpot's server VM is supported")]
    NoServerOfJars,
    /// A JDK 8 has no list of its JVMs.
    #[error("it has no jvm.cfg in lib, so its launchers find no JVM; the JDK is not complete")]
    NoListOfJvms,
    /// There is no class library.
    #[error(
        "not the home of a JDK: it has neither lib/modules nor jre/lib/rt.jar; name the folder in which `bin` and `lib` are"
    )]
    NoClassLibrary,
}

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
    ///
    /// # Errors
    /// Fails if the folder cannot be read, or if it is not the home of a supported JDK.
    pub fn open(given: &Path) -> Result<Home, HomeError> {
        let path = fs::canonicalize(given).map_err(Operation::Resolve.failed_on(given))?;
        if !path.is_dir() {
            return Err(HomeError::NotAFolder(given.to_path_buf()));
        }
        let release = Release::read(&path)?;
        let layout = layout(&path, &release)
            .map_err(|source| HomeError::Unsupported { path: given.to_path_buf(), source })?;
        let home = Home { path, release, layout };
        if home.path.join(home.own_folder()).join(record::NAME).is_file() {
            return Err(HomeError::Profiled(given.to_path_buf()));
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
fn layout(home: &Path, release: &Release) -> Result<Layout, UnsupportedJdk> {
    if home.join("Contents/Home").is_dir() {
        return Err(UnsupportedJdk::Bundle);
    }
    if home.join("modules/java.base").is_dir() && !home.join("lib/modules").is_file() {
        return Err(UnsupportedJdk::Exploded);
    }
    if release.is_openj9() || home.join("lib/j9vm").is_dir() || home.join("lib/compressedrefs").is_dir() {
        return Err(UnsupportedJdk::OpenJ9);
    }
    if home.join("lib/modules").is_file() {
        if !home.join("lib/server").is_dir() {
            return Err(UnsupportedJdk::NoServer);
        }
        return Ok(Layout::Modules);
    }
    for jre in ["jre", ""] {
        let lib = home.join(jre).join("lib");
        if lib.join("rt.jar").is_file() {
            return Ok(Layout::Jars { arch: architecture(&lib)?, jre });
        }
    }
    Err(UnsupportedJdk::NoClassLibrary)
}

/// The folder of a JDK 8's `lib` that contains its JVMs.
fn architecture(lib: &Path) -> Result<String, UnsupportedJdk> {
    let mut others = false;
    let cannot = Operation::List.failed_on(lib);
    for entry in fs::read_dir(lib).map_err(cannot)? {
        let entry = entry.map_err(cannot)?;
        if !entry.path().join("jvm.cfg").is_file() {
            continue;
        }
        if entry.path().join("server").is_dir() {
            // All architectures have names of letters and digits.
            return Ok(entry.file_name().to_string_lossy().into_owned());
        }
        others = true;
    }
    Err(if others { UnsupportedJdk::NoServerOfJars } else { UnsupportedJdk::NoListOfJvms })
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

    fn refusal(files: &[&str]) -> UnsupportedJdk {
        match Home::open(home(files).path()) {
            Err(HomeError::Unsupported { source, .. }) => source,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn layouts_are_recognised_by_their_files() {
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
    fn folders_that_are_no_home_are_named() {
        assert!(matches!(refusal(&["bin/java"]), UnsupportedJdk::NoClassLibrary));
        assert!(matches!(refusal(&["Contents/Home/lib/modules"]), UnsupportedJdk::Bundle));
        assert!(matches!(refusal(&["modules/java.base/module-info.class"]), UnsupportedJdk::Exploded));
        assert!(matches!(refusal(&["lib/modules", "lib/j9vm/libjvm.so"]), UnsupportedJdk::OpenJ9));
        assert!(matches!(refusal(&["lib/modules"]), UnsupportedJdk::NoServer));
        assert!(matches!(refusal(&["jre/lib/rt.jar"]), UnsupportedJdk::NoListOfJvms));
        let image = home(&["lib/modules", "lib/server/libjvm.so", "lib/cctrewrite/IMAGE"]);
        assert!(matches!(Home::open(image.path()), Err(HomeError::Profiled(_))));
    }
}
