//! The packages: their version, and their files in the target folder.

use std::path::PathBuf;

use xtask_tools::workspace::target_folder;

/// The version of all packages: that of the workspace.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The name of the tarball and of the folder in it.
pub const FULL_NAME: &str = concat!("cctrewrite-", env!("CARGO_PKG_VERSION"), "-x86_64-linux");

/// The package files.
pub struct Packages {
    /// The folder in which they are.
    pub folder: PathBuf,
}

impl Packages {
    /// The packages in the target folder, whether they exist or not.
    pub fn of_target() -> Packages {
        Packages { folder: target_folder().join("dist") }
    }

    /// The tarball.
    pub fn tarball(&self) -> PathBuf {
        self.folder.join(format!("{FULL_NAME}.tar.gz"))
    }

    /// The Debian package.
    pub fn deb(&self) -> PathBuf {
        self.folder.join(format!("cctrewrite_{VERSION}_amd64.deb"))
    }

    /// The container image.
    pub fn oci(&self) -> PathBuf {
        self.folder.join(format!("cctrewrite-{VERSION}-oci.tar"))
    }

    /// The bill of materials. The packages contain it, too.
    pub fn sbom(&self) -> PathBuf {
        self.folder.join(format!("cctrewrite-{VERSION}.cdx.json"))
    }
}
