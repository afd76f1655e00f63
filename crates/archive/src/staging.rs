//! Rewriting inputs: each is written whole, beside its target.

use std::fs;
use std::io::{BufWriter, Write};

use crate::error::{Error, Failure};
use crate::folder::{self};
use crate::jar::{self};
use crate::jimage::{self};
use crate::layout::Layout;
use crate::limits::Budget;
use crate::lone;
use crate::patches;
use crate::rewrite::{Pass, RewriteOptions, Rewriter};
use crate::target::{Staged, StagedPlace, Target};

use crate::input::{Input, Root};

/// Bytes gathered before each write to an output file.
const WRITE_BUFFER: usize = 1 << 20;

impl Input {
    /// Writes the input, as `rewriter` wants it, beside `target`: a jar, an image or a class file
    /// to a file, a folder to a folder. Of several errors, that of the first entry is returned, and
    /// nothing is left behind.
    pub fn rewrite<R: Rewriter>(
        &self,
        target: &Target,
        options: &RewriteOptions,
        rewriter: &R,
    ) -> Result<Staged<R::Record>, Failure<R::Error>> {
        let pass = Pass { rewriter, options, budget: Budget::new(&self.limits) };
        let archive = self.archive_path();
        match &self.root {
            Root::Jar(jar) => {
                let (file, temp) = target.stage_file()?;
                let mut out = BufWriter::with_capacity(WRITE_BUFFER, file);
                let account = jar::rewrite(&pass, jar, &archive, &mut out)?;
                out.flush().map_err(Error::io(target.path(), "write"))?;
                Ok(Staged::new(target, StagedPlace::File(temp), account))
            }
            Root::Image(image) => {
                let (mut file, temp) = target.stage_file()?;
                let account = jimage::rewrite(&pass, image, &archive, &mut file, target.scratch_file()?)?;
                Ok(Staged::new(target, StagedPlace::File(temp), account))
            }
            Root::Class(class) => {
                let (mut file, temp) = target.stage_file()?;
                let account = lone::rewrite(&pass, class, &archive, target.path(), &mut file)?;
                Ok(Staged::new(target, StagedPlace::File(temp), account))
            }
            Root::Folder(folder) => {
                let temp = target.stage_folder()?;
                let account = folder::rewrite(&pass, folder, &archive, temp.path())?;
                let mode =
                    fs::metadata(&self.canonical).map_err(Error::io(&self.path, "read"))?.permissions();
                fs::set_permissions(temp.path(), mode)
                    .map_err(Error::io(target.path(), "set the mode bits of"))?;
                Ok(Staged::new(target, StagedPlace::Folder(temp), account))
            }
        }
    }

    /// Writes only what `rewriter` replaces and adds, for `--patch-module`: of a jmod a jar, of an
    /// image or a folder of modules a folder with a jar for each module, `NAME.jar`. Entries added
    /// beside [`crate::INDEX_NAME`] lie at the top of the jar or folder. Of anything else the whole
    /// is written, as [`Input::rewrite`] does.
    pub fn rewrite_as_patches<R: Rewriter>(
        &self,
        target: &Target,
        options: &RewriteOptions,
        rewriter: &R,
    ) -> Result<Staged<R::Record>, Failure<R::Error>> {
        let pass = Pass { rewriter, options, budget: Budget::new(&self.limits) };
        let archive = self.archive_path();
        match self.layout() {
            Layout::Plain => self.rewrite(target, options, rewriter),
            Layout::Modules => {
                let temp = target.stage_folder()?;
                let place = patches::Place::Folder(temp.path());
                let account = patches::rewrite(&pass, self.container(), &archive, place)?;
                Ok(Staged::new(target, StagedPlace::Folder(temp), account))
            }
            Layout::Jmod => {
                let (file, temp) = target.stage_file()?;
                let place = patches::Place::Jar(file);
                let account = patches::rewrite(&pass, self.container(), &archive, place)?;
                Ok(Staged::new(target, StagedPlace::File(temp), account))
            }
        }
    }
}
