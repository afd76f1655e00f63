//! Lookup of a class library's class files by the names of their classes, without a walk over the
//! whole.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::container::Container;
use crate::entry::EntryKind;
use crate::error::{ArchiveProblem, EntryProblem};
use crate::jar::Jar;
use crate::jimage;
use crate::limits::{Budget, Limits};

/// A jar or an image in memory, for reading single classes.
#[derive(Debug)]
pub struct Classes<'b> {
    kind: Kind<'b>,
}

#[derive(Debug)]
enum Kind<'b> {
    /// A jar, with the indices of its classes by their names. Never iterated.
    Jar(Jar<'b>, HashMap<Box<str>, usize>),
    Image(jimage::Lookup<'b>),
}

impl<'b> Classes<'b> {
    /// Opens the bytes of a jar or of an image.
    pub fn of(bytes: &'b [u8]) -> Result<Self, ArchiveProblem> {
        let kind = if jimage::Image::is_announced_by(bytes) {
            Kind::Image(jimage::Lookup::new(bytes)?)
        } else {
            let jar = Jar::parse(Cow::Borrowed(bytes))?;
            let classes =
                jar.entries().iter().enumerate().filter(|(_, entry)| entry.kind == EntryKind::Class);
            // Of two entries of one name the JVM takes the last.
            let places =
                classes.filter_map(|(index, entry)| Some((entry.name.strip_suffix(".class")?.into(), index)));
            let places = places.collect();
            Kind::Jar(jar, places)
        };
        Ok(Classes { kind })
    }

    /// The class file of a class by its internal name; `None` if there is no such class.
    pub fn find(&self, name: &str) -> Result<Option<Cow<'_, [u8]>>, EntryProblem> {
        let limits = Limits::default();
        let budget = Budget::new(&limits);
        match &self.kind {
            Kind::Jar(jar, places) => places.get(name).map(|&index| jar.read(index, &budget)).transpose(),
            Kind::Image(image) => image.class(name, &budget),
        }
    }
}
