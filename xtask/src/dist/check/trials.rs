//! The trial of each package: `root` installs it, a user profiles a program with it, `root` removes
//! it.

use anyhow::{Context as _, Result, ensure};
use xtask_tools::print::print_line;
use xtask_tools::workspace::cargo_alone;
use xtask_tools::workspace::target_folder;

use super::root::{ROOT, Root, Trial, USER};
use super::setting::Setting;
use super::table::Row;
use crate::dist::glibc;
use crate::dist::packages::FULL_NAME;

/// The user's script, without the first line that puts the command on the path. Prints the
/// profile's description (`cctrewrite info`).
const USE: &str = r#"
    mkdir ~/work && cd ~/work
    said=$(cctrewrite run -q -- java -jar /srv/js.jar -opt -1 -e 'function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2) } print(fib(15))')
    test "$said" = 610
    cctrewrite info cctrewrite.cct > info
    cctrewrite report cctrewrite.cct --format json > report
    grep -q 'org.mozilla.javascript.Interpreter' report
    cctrewrite doctor > doctor
    cat info
"#;

/// Folders that may be left: the user's cache and profiles.
const OF_USER: [&str; 2] = ["home/user/.cache", "home/user/work"];

/// Files and folders in which dpkg keeps records, also of removed packages.
const OF_DPKG: [&str; 4] = ["var/lib/dpkg", "var/log/dpkg.log", "var/cache/debconf", "var/log/apt"];

/// Tries the tarball, unpacked in a separate folder.
pub fn tarball(setting: &Setting<'_>, root: &Root) -> Result<Row> {
    let trial = begin(setting, root, "the tarball")?;
    trial.give(&setting.packages.tarball(), "cctrewrite.tar.gz")?;
    trial.run(ROOT, "tar -xzf /srv/cctrewrite.tar.gz -C /opt")?;
    let sums = format!("cd /opt/{FULL_NAME} && sha256sum --quiet --check share/doc/cctrewrite/SHA256SUMS");
    trial.run(USER, &sums)?;
    let folder = format!("/opt/{FULL_NAME}");
    let size = size(&trial, &format!("{folder}/bin/cctrewrite {folder}/lib/cctrewrite/*"))?;
    let profile = used(&trial, &format!("PATH={folder}/bin:$PATH"))?;
    trial.run(ROOT, &format!("rm -r {folder}"))?;
    trial.check_left(&OF_USER)?;
    Ok(row("tarball, unpacked in `/opt`", root, size, profile))
}

/// Tries the Debian package, installed by dpkg.
pub fn debian_package(setting: &Setting<'_>, root: &Root) -> Result<Row> {
    let trial = begin(setting, root, "the Debian package")?;
    trial.give(&setting.packages.deb(), "cctrewrite.deb")?;
    trial.run(ROOT, "dpkg --install /srv/cctrewrite.deb && test -z \"$(dpkg --verify cctrewrite)\"")?;
    let size = size(&trial, "/usr/bin/cctrewrite /usr/lib/cctrewrite/*")?;
    let profile = used(&trial, "")?;
    trial.run(ROOT, "dpkg --purge cctrewrite")?;
    trial.check_left(&[OF_USER.as_slice(), &OF_DPKG].concat())?;
    Ok(row("Debian package, `dpkg --install`", root, size, profile))
}

/// Tries the container image: skopeo reads it, umoci unpacks it, and its files are copied into the
/// root as by `COPY --from`.
pub fn container(setting: &Setting<'_>) -> Result<Row> {
    let tools = Trial::of(setting.roots.tools())?;
    tools.give(&setting.packages.oci(), "oci.tar")?;
    let script = "
        skopeo inspect --raw oci-archive:/srv/oci.tar > /dev/null
        skopeo --insecure-policy copy --quiet oci-archive:/srv/oci.tar oci:/var/tmp/copy:it
        skopeo inspect --config oci:/var/tmp/copy:it > /dev/null
        umoci stat --image /var/tmp/copy:it > /dev/null
        umoci unpack --image /var/tmp/copy:it /var/tmp/bundle > /dev/null
        tar -C /var/tmp/bundle/rootfs -cf /srv/files.tar .";
    tools.run(ROOT, script).context("skopeo and umoci with the container image")?;
    let root = setting.roots.first();
    let trial = begin(setting, root, "the container image")?;
    trial.give(&tools.given("files.tar"), "files.tar")?;
    trial.run(ROOT, "tar -xf /srv/files.tar -C /")?;
    let size = size(&trial, "/usr/local/bin/cctrewrite /usr/local/lib/cctrewrite/*")?;
    let profile = used(&trial, "")?;
    // The steps of the Dockerfile.
    let script = "
        cctrewrite jdk \"$(dirname \"$(dirname \"$(readlink -f \"$(command -v java)\")\")\")\" -q -o /opt/profiled-jdk
        cctrewrite jdk --check /opt/profiled-jdk
        cd /tmp && /opt/profiled-jdk/bin/java -Dcctrewrite.out=/tmp/a.cct -jar /srv/js.jar -e 'print(1)'
        cctrewrite info a.cct > /dev/null";
    trial.run(ROOT, script).context("the steps of packaging/Dockerfile")?;
    Ok(Row {
        left: "not applicable".to_owned(),
        ..row("container image, its files copied", root, size, profile)
    })
}

/// Tries the command from `cargo install`: only this file is copied into the root, without
/// libraries.
pub fn cargo_install(setting: &Setting<'_>) -> Result<Row> {
    let folder = tempfile::Builder::new().prefix("dist-install-").tempdir_in(target_folder())?;
    let prefix = std::fs::canonicalize(folder.path())?;
    print_line(&"cargo install --path crates/cctrewrite")?;
    let mut install = cargo_alone();
    install.args(["install", "--locked", "--quiet", "--path", "crates/cctrewrite", "--root"]).arg(&prefix);
    ensure!(install.status()?.success(), "cargo install failed");
    let command = prefix.join("bin/cctrewrite");
    glibc::needed_by_all(&[command.as_path()])?;
    let root = setting.roots.first();
    let trial = begin(setting, root, "cargo install")?;
    trial.give(&command, "cctrewrite")?;
    trial.run(ROOT, "cp /srv/cctrewrite /usr/local/bin/")?;
    let size = size(&trial, "/usr/local/bin/cctrewrite")?;
    let profile = used(&trial, "")?;
    let found = trial.run(USER, "cd ~/.cache/cctrewrite/libraries && stat --format '%a %n' . * */*.so")?;
    let modes: Vec<&str> = found.lines().filter_map(|line| line.split(' ').next()).collect();
    ensure!(modes == ["700", "700", "700", "700", "644", "644", "644"], "libraries in the cache: {found}");
    trial.run(ROOT, "rm /usr/local/bin/cctrewrite")?;
    trial.check_left(&OF_USER)?;
    let mut uninstall = cargo_alone();
    uninstall.args(["uninstall", "--quiet", "cctrewrite", "--root"]).arg(&prefix);
    ensure!(uninstall.status()?.success(), "cargo uninstall failed");
    ensure!(!command.exists(), "cargo uninstall left {}", command.display());
    Ok(row("`cargo install`, without libraries beside", root, size, profile))
}

/// Checks the Debian package with lintian.
pub fn linted(setting: &Setting<'_>) -> Result<()> {
    let trial = Trial::of(setting.roots.tools())?;
    trial.give(&setting.packages.deb(), "cctrewrite.deb")?;
    let said = trial.run(USER, "lintian /srv/cctrewrite.deb || true")?;
    ensure!(said.trim().is_empty(), "lintian: {said}");
    print_line(&"lintian has nothing to say of the Debian package")
}

/// Begins a trial with the program's jar.
fn begin(setting: &Setting<'_>, root: &Root, what: &str) -> Result<Trial> {
    print_line(&format!("{what} in {}", root.name))?;
    let trial = Trial::of(root)?;
    trial.give(&setting.jar, "js.jar")?;
    Ok(trial)
}

/// Runs the program as the user. Returns how exact its profile is.
fn used(trial: &Trial, preparation: &str) -> Result<String> {
    let said = trial.run(USER, &format!("{preparation}\n{USE}"))?;
    let exact = said.lines().find(|line| line.contains("Exact"));
    let exact = exact.with_context(|| format!("the profile does not say how exact it is: {said}"))?;
    // Exceptions follow after a colon.
    let exact = exact.split(':').next().unwrap_or_default();
    Ok(exact.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// The total size of files, in bytes.
fn size(trial: &Trial, files: &str) -> Result<u64> {
    let sizes = trial.run(USER, &format!("stat --format %s {files}"))?;
    sizes.lines().map(|line| line.parse::<u64>().context("stat: a number expected")).sum()
}

fn row(what: &'static str, root: &Root, size: u64, profile: String) -> Row {
    Row { what, root: root.name.clone(), size, profile, left: "the cache and the profile".to_owned() }
}
