//! The JDKs of the environment.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use super::{Java, assert_succeeded};

/// The versions that the tests know: 8, every release with long-term support since, and the newest.
/// `JAVA<version>_HOME` names the home of each.
const VERSIONS: [u32; cct_jdk::TESTED.len()] = cct_jdk::TESTED;

/// The home of a JDK.
#[derive(Debug)]
pub struct Jdk {
    /// 8, 11, ...
    pub version: u32,
    home: PathBuf,
}

impl Jdk {
    /// The JDK 8 of `JAVA8_HOME`. Without it the calling test is skipped, with a message.
    ///
    /// # Panics
    /// If the variable names anything but the home of a JDK 8.
    pub fn find() -> Option<&'static Jdk> {
        Jdk::of_version(8)
    }

    /// The JDK of a version, unless the variable [`super::FEWER`] leaves it out.
    pub fn unless_fewer(version: u32) -> Option<&'static Jdk> {
        if std::env::var_os(super::FEWER).is_some() {
            eprintln!("skipped: tests on JDK {version} that take long (--all-jdks)");
            return None;
        }
        Jdk::of_version(version)
    }

    /// The JDK of a version. Without it the calling test, or a part of it, is skipped, with a
    /// message.
    ///
    /// # Panics
    /// If the variable names anything but the home of a JDK of that version.
    pub fn of_version(version: u32) -> Option<&'static Jdk> {
        static JDKS: [OnceLock<Option<Jdk>>; VERSIONS.len()] = [const { OnceLock::new() }; VERSIONS.len()];
        let at = VERSIONS.iter().position(|v| *v == version);
        let at = at.unwrap_or_else(|| panic!("JDK {version} is not in cct_jdk::TESTED"));
        let variable = format!("JAVA{version}_HOME");
        let jdk = JDKS[at].get_or_init(|| {
            let jdk = Jdk { version, home: PathBuf::from(std::env::var_os(&variable)?) };
            jdk.check(&variable);
            Some(jdk)
        });
        if jdk.is_none() {
            eprintln!("skipped: {variable} is not set");
        }
        jdk.as_ref()
    }

    /// A home that a test created from a JDK.
    pub fn made(version: u32, home: PathBuf) -> Jdk {
        Jdk { version, home }
    }

    fn check(&self, variable: &str) {
        let home = self.home.display();
        let version = self.version;
        if version == 8 {
            assert!(self.rt_jar().is_file(), "{variable}={home} is no JDK 8");
        } else {
            // JEP 223: JAVA_VERSION="21.0.11"; the first release of a version has only its number.
            let release = fs::read_to_string(self.path("release")).unwrap_or_default();
            let named = release.lines().filter_map(|line| line.strip_prefix("JAVA_VERSION=\"")).next();
            let digits = named.and_then(|text| text.split(|c: char| !c.is_ascii_digit()).next());
            assert_eq!(digits, Some(version.to_string().as_str()), "{variable}={home} is no JDK {version}");
        }
    }

    /// A file or folder of the JDK.
    pub fn path(&self, below: &str) -> PathBuf {
        self.home.join(below)
    }

    /// The JDK's home.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// The largest part of JDK 8's class library.
    pub fn rt_jar(&self) -> PathBuf {
        self.path("jre/lib/rt.jar")
    }

    /// The jars on JDK 8's boot class path, in its order.
    pub fn boot_jars(&self) -> Vec<PathBuf> {
        let names = ["resources", "rt", "jsse", "jce", "charsets", "jfr"];
        let jars = names.map(|name| self.path(&format!("jre/lib/{name}.jar")));
        jars.into_iter().filter(|jar| jar.is_file()).collect()
    }

    /// The jars of JDK 8's extension folder, by name.
    pub fn extension_jars(&self) -> Vec<PathBuf> {
        let files = fs::read_dir(self.path("jre/lib/ext")).unwrap().map(|entry| entry.unwrap().path());
        let mut jars: Vec<PathBuf> = files.filter(|f| f.extension() == Some(OsStr::new("jar"))).collect();
        jars.sort();
        jars
    }

    /// JDK 8's compiler and other tools.
    pub fn tools_jar(&self) -> PathBuf {
        self.path("lib/tools.jar")
    }

    /// A JVM of the plain JDK.
    pub fn java(&self, name: &str) -> Java {
        Java::new(self, name)
    }

    /// Packs folders into a jar, one after another.
    pub fn pack(&self, jar: &Path, folders: &[PathBuf]) {
        let mut command = Command::new(self.path("bin/jar"));
        command.arg("cf").arg(jar);
        for folder in folders {
            command.arg("-C").arg(folder).arg(".");
        }
        assert_succeeded(&mut command);
    }
}
