//! Rewriting of inputs: each is written completely, next to its target.

use std::fs;
use std::io::{BufWriter, Write};

use crate::error::{Error, Failure};
use crate::folder::{self};
use crate::jar::{self};
use crate::jimage::{self};
use crate::layout::Layout;
use crate::limits::Budget;
use crate::lone_class;
use crate::patches;
use crate::rewrite::{Pass, RewriteOptions, Rewriter};
use crate::target::{StagedOutput, StagedPlace, Target};

use crate::input::{Input, Root};

/// Size of the buffer for an output file, in bytes.
const WRITE_BUFFER: usize = 1 << 20;

impl Input {
    /// Writes the input, with the changes of `rewriter`, next to `target`. A jar, an image or a
    /// class file becomes a file, a folder becomes a folder. Of several errors it returns that of
    /// the first entry, and leaves nothing.
    pub fn rewrite<R: Rewriter>(
        &self,
        target: &Target,
        options: &RewriteOptions,
        rewriter: &R,
    ) -> Result<StagedOutput<R::Record>, Failure<R::Error>> {
        let pass = Pass { rewriter, options, budget: Budget::new(&self.limits) };
        let archive = self.archive_path();
        match &self.root {
            Root::Jar(jar) => {
                let (file, temp) = target.stage_file()?;
                let mut out = BufWriter::with_capacity(WRITE_BUFFER, file);
                let account = jar::rewrite(&pass, jar, &archive, &mut out)?;
                out.flush().map_err(Error::io(target.path(), "write"))?;
                Ok(StagedOutput::new(target, StagedPlace::File(temp), account))
            }
            Root::Image(image) => {
                let (mut file, temp) = target.stage_file()?;
                let account = jimage::rewrite(&pass, image, &archive, &mut file, target.scratch_file()?)?;
                Ok(StagedOutput::new(target, StagedPlace::File(temp), account))
            }
            Root::Class(class) => {
                let (mut file, temp) = target.stage_file()?;
                let account = lone_class::rewrite(&pass, class, &archive, target.path(), &mut file)?;
                Ok(StagedOutput::new(target, StagedPlace::File(temp), account))
            }
            Root::Folder(folder) => {
                let temp = target.stage_folder()?;
                let account = folder::rewrite(&pass, folder, &archive, temp.path())?;
                let mode =
                    fs::metadata(&self.canonical).map_err(Error::io(&self.path, "read"))?.permissions();
                fs::set_permissions(temp.path(), mode)
                    .map_err(Error::io(target.path(), "set the mode bits of"))?;
                Ok(StagedOutput::new(target, StagedPlace::Folder(temp), account))
            }
        }
    }

    /// Writes only the entries that `rewriter` replaces and adds, for `--patch-module`. A jmod
    /// gives a jar; an image or a folder of modules gives a folder with a jar for each module,
    /// `NAME.jar`. Entries added next to [`crate::INDEX_NAME`] are at the top of the jar or folder.
    /// For any other input it writes everything, as [`Input::rewrite`] does.
    pub fn rewrite_as_patches<R: Rewriter>(
        &self,
        target: &Target,
        options: &RewriteOptions,
        rewriter: &R,
    ) -> Result<StagedOutput<R::Record>, Failure<R::Error>> {
        let pass = Pass { rewriter, options, budget: Budget::new(&self.limits) };
        let archive = self.archive_path();
        match self.layout() {
            Layout::Plain => self.rewrite(target, options, rewriter),
            Layout::Modules => {
                let temp = target.stage_folder()?;
                let place = patches::Place::Folder(temp.path());
                let account = patches::rewrite(&pass, self.container(), &archive, place)?;
                Ok(StagedOutput::new(target, StagedPlace::Folder(temp), account))
            }
            Layout::Jmod => {
                let (file, temp) = target.stage_file()?;
                let place = patches::Place::Jar(file);
                let account = patches::rewrite(&pass, self.container(), &archive, place)?;
                Ok(StagedOutput::new(target, StagedPlace::File(temp), account))
            }
        }
    }
}
