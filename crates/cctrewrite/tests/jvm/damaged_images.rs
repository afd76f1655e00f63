//! Damaged images are reported or rebuilt, and the cache keeps images in use.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use cct_profile::Profile;

use crate::support::caches::{cached_images, cctrewrite, ended};
use crate::support::{Jdk, copy_all, fixture, folder, jdks};

fn ending() -> String {
    fixture("ending/classes").to_str().unwrap().to_owned()
}

/// A program on the image of a JDK, or on an image.
fn run(here: &Path, jdk: &Path) -> Command {
    let jdk = jdk.to_str().unwrap();
    cctrewrite(here, &["run", "--jdk", jdk, "--", "java", "-cp", &ending(), "Ending", "return"])
}

fn assert_profiled(here: &Path, jdk: &Path) -> String {
    let (code, said) = ended(run(here, jdk));
    assert_eq!(code, Some(0), "{said}");
    let profile = Profile::read(&fs::read(here.join("cctrewrite.cct")).unwrap()).unwrap();
    let is_work = |method: u32| profile.methods.get(method as usize).is_some_and(|m| &*m.name == "work");
    assert!(profile.threads.iter().flat_map(|thread| thread.tree.nodes()).any(|node| is_work(node.method)));
    said
}

/// The only image in the cache.
fn cached(here: &Path) -> PathBuf {
    let [image] = <[PathBuf; 1]>::try_from(cached_images(here)).unwrap();
    image
}

/// Flips a bit in the middle of a file.
fn flip(file: &Path) {
    let mut bytes = fs::read(file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(file, bytes).unwrap();
}

/// Flips a bit in the index that a file is or contains. The file keeps its time, as with a
/// corrupting disk.
fn flip_index(file: &Path) {
    let time = fs::metadata(file).unwrap().modified().unwrap();
    let mut bytes = fs::read(file).unwrap();
    let first = bytes.windows(4).position(|word| word == b"CCTI").unwrap();
    let last = bytes[first..].windows(4).position(|word| word == b"CCTX").unwrap();
    bytes[first + last / 2] ^= 1;
    fs::write(file, bytes).unwrap();
    fs::File::options().append(true).open(file).unwrap().set_modified(time).unwrap();
}

fn all_damage_is_found(jdk: &'static Jdk) {
    let here = folder("damaged");
    let said = assert_profiled(&here, jdk.home());
    assert!(said.contains("was made in"), "{said}");
    let image = cached(&here);
    // On JDK 8 JVMs read the index in each jar.
    let index = if jdk.version == 8 { "jre/lib/rt.jar" } else { "lib/cctrewrite/index" };

    // A JVM ends without a profile: all of its image is read, and the next run builds it again.
    flip_index(&image.join(index));
    let (code, said) = ended(run(&here, jdk.home()));
    assert_ne!(code, Some(0), "{said}");
    assert!(said.contains("a damaged index (its checksum differs)"), "{said}");
    assert!(said.contains(&format!("{index} has other contents, which may be why")), "{said}");
    assert!(said.contains("the next run makes the image again"), "{said}");
    let said = assert_profiled(&here, jdk.home());
    assert!(said.contains(&format!("{index} has other contents; the image is made again")), "{said}");
    assert!(!assert_profiled(&here, jdk.home()).contains("made"));

    an_image_of_ones_own(jdk, &here, &image);
    used_images_stay(jdk, &here, &image);
}

/// A copy of the image, outside of the cache.
fn an_image_of_ones_own(jdk: &'static Jdk, here: &Path, image: &Path) {
    let copy = here.join("copy");
    copy_all(image, &copy);
    let files: &[&str] = match jdk.version {
        8 => &[
            "jre/lib/cctrewrite/index",
            "jre/lib/rt.jar",
            "jre/lib/libcctrewrite_loadtime.so",
            "jre/lib/amd64/server/libjvm.so",
            "jre/lib/amd64/jvm.cfg",
            "jre/lib/cctrewrite/IMAGE",
            "jre/lib/cctrewrite/manifest",
        ],
        _ => &[
            "lib/cctrewrite/index",
            "lib/modules",
            "lib/server/classes.jsa",
            "lib/libcctrewrite_loadtime.so",
            "lib/server/libjvm.so",
            "lib/cctrewrite/IMAGE",
            "lib/cctrewrite/manifest",
        ],
    };
    let own = Path::new(files[0]).parent().unwrap();
    let stamp = || fs::read(copy.join(own).join("stamp")).unwrap();
    let copied = stamp();
    assert_profiled(here, &copy);
    let renewed = stamp();
    assert_ne!(copied, renewed);
    // Moving does not change it.
    let moved = here.join("moved");
    fs::rename(&copy, &moved).unwrap();
    fs::rename(&moved, &copy).unwrap();
    assert_profiled(here, &copy);
    assert_eq!(stamp(), renewed);

    let check = |more: &[&str]| {
        let mut arguments = vec!["jdk", "--check", copy.to_str().unwrap()];
        arguments.extend(more);
        ended(cctrewrite(here, &arguments))
    };
    assert_eq!(check(&[]), (Some(0), format!("{}: sound\n", copy.display())));
    for file in files {
        flip(&copy.join(file));
        let (code, said) = ended(run(here, &copy));
        assert_eq!(code, Some(125), "{file}: {said}");
        assert_eq!(said.lines().count(), 1, "{said}");
        for part in [&format!("{}", copy.join(file).display()), "jdk --check", "make the image again"] {
            assert!(said.contains(part), "{file}: {said}");
        }
        let (code, said) = check(&[]);
        assert!(code == Some(1) && said.contains(file), "{file}: {said}");
        flip(&copy.join(file));
    }
    assert_profiled(here, &copy);
    if jdk.version != 8 {
        an_archive_that_a_jvm_has_made_is_no_damage(here, &copy);
    }

    // The cache has the same bytes.
    for file in &files[..6] {
        flip(&copy.join(file));
    }
    fs::remove_file(copy.join(files[1])).unwrap();
    let (code, said) = check(&["--repair"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("6 files replaced with sound copies"), "{said}");
    assert_profiled(here, &copy);
    flip(&copy.join(files[1]));
    let (code, said) = check(&["--repair", "--cache=nowhere"]);
    assert!(code == Some(1) && said.contains("no sound copy"), "{said}");
    fs::remove_file(copy.join(files[6])).unwrap();
    let (code, said) = ended(run(here, &copy));
    assert!(code == Some(125) && said.contains("manifest is missing"), "{said}");
    fs::remove_dir_all(copy).unwrap();
}

fn wait_for_a_word(running: &mut Child) {
    running.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
}

/// Independent of who started the JVM, and of whether that process still lives.
fn used_images_stay(jdk: &'static Jdk, here: &Path, image: &Path) {
    let prune = || ended(cctrewrite(here, &["cache", "prune", "--all"]));
    let ending = ending();
    let program = ["-cp", &ending, "Ending", "wait"];
    let home = jdk.home().to_str().unwrap();
    let mut started = cctrewrite(here, &[&["run", "--jdk", home, "--", "java"][..], &program].concat());
    let mut started = started.stdout(Stdio::piped()).spawn().unwrap();
    wait_for_a_word(&mut started);
    let (code, said) = prune();
    assert!(code == Some(0) && said.contains("in use; kept"), "{said}");
    started.kill().unwrap();
    started.wait().unwrap();
    let (_, said) = prune();
    assert!(said.contains("in use; kept"), "{said}");
    let collection = fs::read_dir(here).unwrap().map(|entry| entry.unwrap().path());
    let collection = collection.into_iter().find(|path| path.to_str().unwrap().ends_with(".run")).unwrap();
    let entry = fs::read_to_string(collection.join("000001.jvm")).unwrap();
    let process = entry.split('\0').next().unwrap().to_owned();
    assert!(Command::new("kill").args(["-9", &process]).status().unwrap().success());
    // It holds the lock until the system has closed its files.
    let is_held = || ended(cctrewrite(here, &["cache", "prune", "--all", "--dry-run"])).1.contains("in use");
    assert!((0..300).any(|_| {
        std::thread::sleep(Duration::from_millis(100));
        !is_held()
    }));
    fs::remove_dir_all(collection).unwrap();

    // A JVM that uses the image without any lock.
    let mut java = Command::new(image.join("bin/java"));
    java.args(["-Dcctrewrite.record=off"]).args(program).current_dir(here);
    let mut java = java.stdout(Stdio::piped()).spawn().unwrap();
    wait_for_a_word(&mut java);
    let (_, said) = prune();
    assert!(said.contains(&format!("in use by process {}; kept", java.id())), "{said}");
    java.kill().unwrap();
    java.wait().unwrap();

    let (_, said) = ended(cctrewrite(here, &["cache", "list"]));
    let key = image.file_name().unwrap().to_str().unwrap();
    for part in [key, home, "profiles: --context=argument --metrics=bytecodes", "used ", "1 image"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let (_, said) = ended(cctrewrite(here, &["cache", "prune", "--gone", "--unused-for", "1"]));
    assert!(said.contains("0 images removed"), "{said}");
    let (_, said) = ended(cctrewrite(here, &["cache", "prune", "--all", "--dry-run"]));
    assert!(said.contains("1 image would be removed") && image.exists(), "{said}");
    let (code, said) = prune();
    assert!(code == Some(0) && said.contains("1 image removed"), "{said}");
    assert_eq!(fs::read_dir(here.join("cache/images")).unwrap().count(), 0);
}

jdks!(damaged, all_damage_is_found, [8], all[25]);

/// HotSpot replaces the image's archive on request.
fn an_archive_that_a_jvm_has_made_is_no_damage(here: &Path, image: &Path) {
    let archive = image.join("lib/server/classes.jsa");
    let made = fs::read(&archive).unwrap();
    // Another heap size, which gives another archive.
    let dump = ["-Dcctrewrite.record=off", "-Xshare:dump", "-XX:+UseG1GC", "-Xmx200m"];
    let mut java = Command::new(image.join("bin/java"));
    assert!(java.args(dump).current_dir(here).output().unwrap().status.success());
    // Archives contain addresses and times: no two are equal.
    assert!(fs::read(&archive).unwrap() != made);
    assert_profiled(here, image);
    let (code, said) = ended(cctrewrite(here, &["jdk", "--check", image.to_str().unwrap()]));
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("a JVM rewrote this archive"), "{said}");
    fs::write(&archive, made).unwrap();
}
