//! A command without libraries beside it, as `cargo install` leaves it: those inside it are
//! unpacked into the cache.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use cct_test_classes::executable;
use walkdir::WalkDir;

use crate::runs::{calls_of, classes, profile, said};
use crate::support::{Jdk, folder, jdks};

struct Place {
    here: PathBuf,
    home: PathBuf,
}

impl Place {
    fn cache(&self) -> PathBuf {
        self.here.join("cache")
    }

    /// Runs the program on the profiled JDK, which is made the first time.
    fn run(&self) -> Output {
        let mut run = Command::new(self.here.join("bin/cctrewrite"));
        for variable in ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "CLASSPATH"] {
            run.env_remove(variable);
        }
        run.current_dir(&self.here).env("JAVA_HOME", &self.home).env("CCTREWRITE_CACHE", self.cache());
        run.args(["run", "-q", "--", "java", "-cp", &classes(), "Ending", "exit"]).output().unwrap()
    }

    /// The unpacked libraries, sorted by name.
    fn libraries(&self) -> Vec<PathBuf> {
        let entries = WalkDir::new(self.cache().join("libraries")).into_iter().map(Result::unwrap);
        let files = entries.filter(|entry| entry.file_type().is_file()).map(|entry| entry.into_path());
        let mut files: Vec<PathBuf> = files.collect();
        files.sort_by(|a, b| a.file_name().cmp(&b.file_name()));
        files
    }
}

fn names(files: &[PathBuf]) -> Vec<&str> {
    files.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect()
}

fn works_with_the_libraries_inside_it(jdk: &'static Jdk) {
    let here = folder("lone-command");
    fs::create_dir(here.join("bin")).unwrap();
    let command = Path::new(env!("CARGO_BIN_EXE_cctrewrite"));
    executable::copy(command, &here.join("bin/cctrewrite")).unwrap();
    let place = Place { here, home: jdk.home().to_path_buf() };
    let output = place.run();
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    // Classes that were not instrumented beforehand: the load-time library has counted them.
    let counted = || calls_of(&profile(place.here.join("cctrewrite.cct")), "work");
    assert_eq!(counted(), 10);
    let libraries = place.libraries();
    let expected = ["libcctrewrite_loadtime.so", "libcctrewrite_prefix.so", "libcctrewrite_vm.so"];
    assert_eq!(names(&libraries), expected);
    let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
    for library in &libraries {
        assert_eq!((mode(library) & 0o022, mode(library.parent().unwrap())), (0, 0o700));
    }

    // One that another version left, or that was damaged, is written again, and so the image stays
    // the same.
    let sound = fs::read(&libraries[0]).unwrap();
    fs::write(&libraries[0], &sound[..100]).unwrap();
    let output = place.run();
    assert_eq!((output.status.code(), counted()), (Some(3), 10), "{}", said(&output));
    assert!(fs::read(&libraries[0]).unwrap() == sound);
    let images = fs::read_dir(place.cache().join("images")).unwrap();
    let is_image = |entry: &fs::DirEntry| entry.path().is_dir();
    assert_eq!(images.map(Result::unwrap).filter(is_image).count(), 1);
}

jdks!(a_lone_command_has_its_libraries_inside, works_with_the_libraries_inside_it, [17], all[8]);
