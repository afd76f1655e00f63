//! The walk over the classes of containers, including those of nested archives.

use std::borrow::Cow;

use crate::container::Container;
use crate::entry::EntryKind;
use crate::error::{ArchiveProblem, Error, Failure, Notice};
use crate::jar::Jar;
use crate::limits::Budget;
use crate::location::{ArchivePath, Location};
use crate::pipeline;

/// Bytes of classes visited between two points where results are collected.
pub(crate) const SURVEY_WINDOW: u64 = 64 << 20;

/// The results of a visitor for the classes of a container, with notices, in order.
pub(crate) struct SurveyResults<T> {
    pub(crate) results: Vec<T>,
    pub(crate) notices: Vec<Notice>,
}

/// The visitor of classes. Not a generic parameter: the walk calls itself.
pub(crate) type Visitor<'v, T, E> = dyn Fn(&Location<'_>, &[u8]) -> Result<T, E> + Sync + 'v;

/// Passes each class of a container, and of the archives nested in it, to `visit`.
pub(crate) fn survey<T: Send, E: Send>(
    container: &dyn Container,
    archive: &ArchivePath<'_>,
    budget: &Budget<'_>,
    visit: &Visitor<'_, T, E>,
) -> Result<SurveyResults<T>, Failure<E>> {
    let entries = container.entries();
    let mut all = SurveyResults { results: Vec::new(), notices: Vec::new() };
    pipeline::in_order(
        entries.len(),
        SURVEY_WINDOW,
        |index| entries[index].size,
        |index| {
            let at = Location { archive, index, entry: &entries[index] };
            match at.entry.kind {
                EntryKind::Class => {
                    let bytes = container.read(index, budget).map_err(Error::entry(&at))?;
                    let result = visit(&at, &bytes)
                        .map_err(|cause| Failure::Callback { at: at.to_string(), cause })?;
                    Ok(SurveyResult::Class(result))
                }
                EntryKind::NestedArchive => {
                    let bytes = container.read(index, budget).map_err(Error::entry(&at))?;
                    match open_nested(&at, bytes, budget)? {
                        Ok(jar) => {
                            survey(&jar, &ArchivePath::nested(&at), budget, visit).map(SurveyResult::Archive)
                        }
                        Err(notice) => Ok(SurveyResult::Archive(SurveyResults {
                            results: vec![],
                            notices: vec![notice],
                        })),
                    }
                }
                _ => Ok(SurveyResult::Other),
            }
        },
        |_, window| {
            for seen in window {
                match seen {
                    SurveyResult::Class(result) => all.results.push(result),
                    SurveyResult::Archive(nested) => {
                        all.results.extend(nested.results);
                        all.notices.extend(nested.notices);
                    }
                    SurveyResult::Other => {}
                }
            }
            Ok(())
        },
    )?;
    Ok(all)
}

pub(crate) enum SurveyResult<T> {
    Class(T),
    Archive(SurveyResults<T>),
    Other,
}

/// Opens an archive inside another. If it only has the name of an archive, or is damaged as a
/// whole, the result is a notice. Test data often contains such files, and no JVM loads a class
/// from them.
pub(crate) fn open_nested<'a>(
    at: &Location<'_>,
    bytes: Cow<'a, [u8]>,
    budget: &Budget<'_>,
) -> Result<Result<Jar<'a>, Notice>, Error> {
    match Jar::parse(bytes) {
        Ok(_) if at.archive.depth() >= budget.limits.max_depth => Err(Error::Archive {
            archive: at.to_string(),
            problem: ArchiveProblem::TooDeep { limit: budget.limits.max_depth },
        }),
        Ok(jar) => Ok(Ok(jar)),
        Err(problem) => Ok(Err(Notice::NotAnArchive { entry: at.to_string(), problem })),
    }
}
