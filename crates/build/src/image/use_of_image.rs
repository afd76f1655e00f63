//! Images for commands that run programs on them: found or made, checked, and kept while they are
//! used.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use cct_image::{Record, record};

use super::plan::{FillError, Plan, PlanError};
use super::request::ImageRequest;
use crate::file_error::{FileError, Operation};
use crate::image::cache::{Hold, LockError, NoPlace};
use crate::image::check::{self, Archives, Damage, Finding, NotAnImage};
use crate::observer::Observer;

/// An image that a command cannot use.
#[derive(Debug, thiserror::Error)]
pub enum UseError {
    /// The home of the image cannot be found.
    #[error(transparent)]
    File(#[from] FileError),
    /// The home is no image any more.
    #[error(transparent)]
    NotAnImage(#[from] NotAnImage),
    /// The image is damaged.
    #[error("{}; {}", .0, remedy(.0.image()))]
    Damaged(Damage),
    /// The record of the image cannot be read.
    #[error(transparent)]
    Record(#[from] record::Error),
    /// The environment names no place for the cache.
    #[error(transparent)]
    NoPlace(#[from] NoPlace),
    /// The request names no cache.
    #[error("the image of a command is in no cache")]
    NoCache,
    /// The image cannot be planned.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The image does not get into the cache.
    #[error(transparent)]
    Fill(#[from] FillError),
    /// The image cannot be protected from removal.
    #[error(transparent)]
    Lock(#[from] LockError),
}

/// An image that a command uses.
#[derive(Debug)]
pub struct ImageInUse {
    /// Its home.
    pub home: PathBuf,
    /// Of an image in the cache: nobody removes it meanwhile.
    hold: Option<Hold>,
}

/// The profiled image of a JDK, from the cache, where it is put if need be. A JDK that is one
/// already is checked and used as it is.
///
/// # Errors
/// An image that is damaged, or cannot be made.
pub fn of_home(
    home: PathBuf,
    request: impl FnOnce(PathBuf) -> Result<ImageRequest, NoPlace>,
    observer: &dyn Observer,
) -> Result<ImageInUse, UseError> {
    if check::own_folder(&home).is_none() {
        return cached(&request(home)?, observer);
    }
    let home = fs::canonicalize(&home).map_err(Operation::Resolve.failed_on(&home))?;
    if let Finding::Damaged(damage) = check::at_start(&home, Archives::MayChange)? {
        return Err(UseError::Damaged(damage));
    }
    Record::of_image(&home)?;
    observer.detail(&format!("image: {} (a profiled JDK, used as it is)", home.display()));
    Ok(ImageInUse { home, hold: None })
}

/// What to do about an image outside of the cache that is damaged.
pub fn remedy(image: &Path) -> String {
    format!(
        "try `cctrewrite jdk --check {} --repair`, or make the image again with `cctrewrite jdk`",
        image.display()
    )
}

/// The image in the cache, where it is put if need be.
fn cached(request: &ImageRequest, observer: &dyn Observer) -> Result<ImageInUse, UseError> {
    let started = Instant::now();
    let folder = request.cache.as_deref().ok_or(UseError::NoCache)?;
    let plan = Plan::new(request)?;
    let jdk = plan.home.path.display();
    observer.detail(&format!("JDK: {jdk} (Java {})", plan.home.release.version().unwrap_or("unknown")));
    let (slot, made) = plan.fill_slot(folder, observer)?;
    let origin = if made.is_some() { "made now" } else { "from the cache" };
    observer.detail(&format!(
        "image: {} ({origin}, in {:.2} s)",
        slot.path.display(),
        started.elapsed().as_secs_f64()
    ));
    let hold = slot.hold()?;
    if made.is_some() {
        let version = plan.home.release.version().unwrap_or("unknown");
        let seconds = started.elapsed().as_secs_f64();
        let (kind, path) = (plan.kind(), slot.path.display());
        observer.note(&format!(
            "cctrewrite: a {kind} JDK of Java {version} was made in {seconds:.1} s; later runs take it from {path}"
        ));
    }
    Ok(ImageInUse { home: slot.path, hold: Some(hold) })
}

impl ImageInUse {
    /// Reads the whole image after a JVM of it has ended abnormally. Says what is damaged, if
    /// anything is; returns whether it is.
    pub fn is_damaged_after_all(&self, observer: &dyn Observer) -> bool {
        let is_cached = self.hold.is_some();
        let archives = if is_cached { Archives::Fixed } else { Archives::MayChange };
        let what = match check::in_full(&self.home, archives) {
            Ok(Finding::Sound { .. } | Finding::NoManifest) => return false,
            Ok(Finding::Damaged(damage)) => damage.to_string(),
            Err(error) => error.to_string(),
        };
        let remedy =
            if is_cached { "the next run makes the image again".to_owned() } else { remedy(&self.home) };
        // Without it the next start reads all files, and finds what this one has found.
        check::forget_stamp(&self.home);
        observer.warn(&format!("cctrewrite: {what}, which may be why a JVM ended as it did; {remedy}"));
        true
    }
}
