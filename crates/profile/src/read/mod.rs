//! Reading a `.cct` file (`docs/reference/formats/profile.md`).
//!
//! The input is not trusted. Sections are held in memory one at a time and only as far as their
//! bytes really arrive. Counts in the file never size an allocation. Every section's checksum is
//! verified before its contents are used.

use crate::columns::is_column;
use crate::meta_keys::COLUMNS;
use crate::section::{COLUMNS_SINCE, Fields, SITES_SINCE, Section, Sections, Step, TYPES_SINCE};
use crate::{Damage, Method, MissingPart, Problem, Profile, ReadError, Site, ThreadTree, TreeBuilder};
use std::io::{self, Read};
use std::sync::Arc;

#[cfg(test)]
mod damaged;
#[cfg(test)]
mod tests;

impl Profile {
    /// Reads a profile from the bytes of its file. If the file is truncated, or some of its bytes
    /// are altered, this returns the sound parts, and [`Profile::damage`] names the missing ones.
    ///
    /// # Errors
    /// Fails if the bytes are no profile, or if a section whose checksum is right is invalid. Also
    /// fails if the names of methods are damaged, without which trees mean nothing.
    pub fn read(bytes: &[u8]) -> Result<Profile, ReadError> {
        Profile::read_from(bytes)
    }

    /// Reads a profile, as [`Profile::read`], section by section from a stream, which need not be
    /// buffered.
    ///
    /// # Errors
    /// Fails as [`Profile::read`], and if the stream fails.
    pub fn read_from(input: impl Read) -> Result<Profile, ReadError> {
        let mut input = Sections::of(io::BufReader::new(input))?;
        let mut reader = Reader { version: input.version(), ..Reader::default() };
        loop {
            match input.next()? {
                Step::Section(section) => reader.section(&section)?,
                Step::End => break,
                Step::Cut(start) if reader.stage == Stage::Done => return Err(after_the_end(start)),
                Step::Damaged(start, _) if reader.stage == Stage::Done => return Err(after_the_end(start)),
                Step::Cut(start) => {
                    let length = input.offset();
                    match input.find(reader.wanted())? {
                        Some(section) => reader.goes_on(start, &section)?,
                        None => return Ok(reader.finish(length).with_columns()?),
                    }
                }
                Step::Damaged(start, error) => match input.find(reader.wanted())? {
                    Some(section) => reader.goes_on(start, &section)?,
                    None if reader.stage < Stage::Trees => return Err(error),
                    None => return Ok(reader.ends_at(start).with_columns()?),
                },
            }
        }
        Ok(reader.finish(input.offset()).with_columns()?)
    }
}

/// The error for a file that does not end where it should: perhaps two profiles in one file.
fn after_the_end(offset: u64) -> ReadError {
    ReadError::Section { section: "DONE".to_owned(), offset, problem: Problem::TrailingBytes }
}

/// Position in the file: the section that was last.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    #[default]
    Start,
    Meta,
    Notes,
    Strings,
    /// `METH`, or a complete tree.
    Trees,
    /// `THRD`, or a `NODE` that did not complete the tree.
    InTree,
    Done,
}

#[derive(Default)]
struct Reader {
    version: u32,
    stage: Stage,
    profile: Profile,
    strings: Vec<Arc<str>>,
    tree: Option<OpenTree>,
}

/// A tree whose records are not all read yet.
struct OpenTree {
    name: Arc<str>,
    threads: u64,
    flags: u64,
    /// `None` before the root's record.
    builder: Option<TreeBuilder>,
    open: Vec<OpenNode>,
}

struct OpenNode {
    /// Number of children whose records are still to follow.
    due: u64,
    /// Method of the child read last.
    last: u64,
}

impl Reader {
    fn section(&mut self, section: &Section) -> Result<(), ReadError> {
        use Stage::{Done, InTree, Meta, Notes, Start, Strings, Trees};
        if self.stage == Done {
            return Err(section.at_start(Problem::TrailingBytes));
        }
        self.stage = match (&section.tag, self.stage) {
            (b"META", Start) => self.meta(section.fields())?,
            (b"NOTE", Meta) => self.notes(section.fields())?,
            (b"STRS", Meta | Notes) => self.strings(section.fields())?,
            (b"METH", Strings) => self.methods(section.fields())?,
            (b"THRD", Trees) => self.thread(section.fields())?,
            (b"NODE", InTree) => self.nodes(section.fields())?,
            (b"DONE", Trees) => {
                section.fields().end()?;
                Done
            }
            (b"THRD" | b"DONE", InTree) => return Err(section.at_start(Problem::IncompleteTree)),
            (b"META" | b"NOTE" | b"STRS" | b"METH" | b"THRD" | b"NODE" | b"DONE", _) => {
                return Err(section.at_start(Problem::Misplaced));
            }
            (tag, stage) if tag[0].is_ascii_lowercase() => stage,
            _ => return Err(section.at_start(Problem::UnknownSection)),
        };
        Ok(())
    }

    fn meta(&mut self, mut fields: Fields<'_>) -> Result<Stage, ReadError> {
        let mut last = None;
        while !fields.is_empty() {
            let key = fields.string()?;
            if last.is_some_and(|last| last >= key) {
                return Err(fields.error(Problem::Order("keys")));
            }
            last = Some(key);
            let value = fields.string()?;
            if key != COLUMNS || self.version >= COLUMNS_SINCE {
                self.profile.meta.insert(key.to_owned(), value.to_owned());
            }
        }
        Ok(Stage::Meta)
    }

    fn notes(&mut self, mut fields: Fields<'_>) -> Result<Stage, ReadError> {
        while !fields.is_empty() {
            let note = fields.string()?;
            self.profile.notes.push(note.to_owned());
        }
        // Their order means nothing: no reason to reject a profile.
        self.profile.notes.sort();
        Ok(Stage::Notes)
    }

    fn strings(&mut self, mut fields: Fields<'_>) -> Result<Stage, ReadError> {
        for _ in 0..fields.varint()? {
            let string = fields.string()?;
            if self.strings.last().is_some_and(|last| &**last >= string) {
                return Err(fields.error(Problem::Order("strings")));
            }
            self.strings.push(string.into());
        }
        fields.end()?;
        Ok(Stage::Strings)
    }

    fn methods(&mut self, mut fields: Fields<'_>) -> Result<Stage, ReadError> {
        for _ in 0..fields.varint()? {
            let class = fields.entry("string", &self.strings)?.clone();
            let name = fields.entry("string", &self.strings)?.clone();
            let descriptor = fields.entry("string", &self.strings)?.clone();
            let (flags, mid) = (fields.varint()?, fields.u64()?);
            let site = if flags & Method::SITE == 0 { None } else { Some(self.site(&mut fields)?) };
            if flags & Method::TYPE != 0 && self.version < TYPES_SINCE {
                return Err(fields.error(Problem::TypeInOldVersion));
            }
            let is_new = flags & (Method::COLUMN | Method::SYNCHRONIZED) != 0;
            if is_new && self.version < COLUMNS_SINCE {
                return Err(fields.error(Problem::ColumnInOldVersion));
            }
            let method = Method { class, name, descriptor, site, mid, flags: flags & !Method::SITE };
            let is_plain = method.name.is_empty() && method.descriptor.is_empty() && method.site.is_none();
            if method.flags & Method::MARKER != 0 && !is_plain {
                return Err(fields.error(Problem::BadMarker));
            }
            // Only columns have no class: their rows precede all others.
            let is_row_of_column = flags & Method::COLUMN != 0 || method.class.is_empty();
            if self.version >= COLUMNS_SINCE && is_row_of_column && !is_column(&method) {
                return Err(fields.error(Problem::BadColumn));
            }
            if self.profile.methods.last().is_some_and(|last| last.key() >= method.key()) {
                return Err(fields.error(Problem::Order("methods")));
            }
            self.profile.methods.push(method);
        }
        fields.end()?;
        Ok(Stage::Trees)
    }

    /// Reads a call site, which only later versions of the format have.
    fn site(&self, fields: &mut Fields<'_>) -> Result<Site, ReadError> {
        if self.version < SITES_SINCE {
            return Err(fields.error(Problem::SiteTooEarly));
        }
        let bci = fields.varint()?;
        let bci = u16::try_from(bci).ok().filter(|&bci| bci <= Site::LAST);
        let bci = bci.ok_or_else(|| fields.error(Problem::NoSuchSite("bytecode index")))?;
        let line = u32::try_from(fields.varint()?);
        let line = line.map_err(|_| fields.error(Problem::NoSuchSite("line")))?;
        Ok(Site { bci, line })
    }

    fn thread(&mut self, mut fields: Fields<'_>) -> Result<Stage, ReadError> {
        let name = fields.entry("string", &self.strings)?.clone();
        if self.profile.threads.last().is_some_and(|last| last.name > name) {
            return Err(fields.error(Problem::Order("threads")));
        }
        let (threads, flags) = (fields.varint()?, fields.varint()?);
        fields.end()?;
        self.tree = Some(OpenTree { name, threads, flags, builder: None, open: Vec::new() });
        Ok(Stage::InTree)
    }

    fn nodes(&mut self, mut fields: Fields<'_>) -> Result<Stage, ReadError> {
        let Some(mut tree) = self.tree.take() else { return Err(fields.error(Problem::Misplaced)) };
        while !fields.is_empty() {
            if tree.record(&mut fields, &self.profile.methods)? {
                fields.end()?;
                self.profile.threads.push(tree.finish());
                return Ok(Stage::Trees);
            }
        }
        self.tree = Some(tree);
        Ok(Stage::InTree)
    }

    /// The tags to search for if the next section is damaged. Without the names it is useless to go
    /// on.
    fn wanted(&self) -> &'static [&'static [u8; 4]] {
        match self.stage {
            Stage::Start => &[b"NOTE", b"STRS"],
            Stage::Meta => &[b"STRS"],
            Stage::Notes | Stage::Strings | Stage::Done => &[],
            Stage::Trees | Stage::InTree => &[b"THRD", b"DONE"],
        }
    }

    /// Continues with a sound section after damaged bytes.
    fn goes_on(&mut self, offset: u64, section: &Section) -> Result<(), ReadError> {
        let mut note = |missing| self.profile.damage.push(Damage::Corrupt { offset, missing });
        match self.stage {
            Stage::Start => {
                note(MissingPart::Meta);
                // The notes may have been between them, or there were none.
                if section.tag == *b"STRS" {
                    note(MissingPart::Notes);
                }
                self.stage = Stage::Meta;
            }
            Stage::Meta => {
                note(MissingPart::Notes);
                self.stage = Stage::Notes;
            }
            _ => {
                let missing = match self.close_tree() {
                    Some((thread, contexts)) => MissingPart::RestOfOneTree { thread, contexts },
                    None => MissingPart::SomeTrees,
                };
                self.profile.damage.push(Damage::Corrupt { offset, missing });
                self.stage = Stage::Trees;
            }
        }
        self.section(section)
    }

    /// The profile, if nothing sound follows.
    fn ends_at(mut self, offset: u64) -> Profile {
        let missing = match self.close_tree() {
            Some((thread, contexts)) => MissingPart::RestOfTree { thread, contexts },
            None if self.profile.threads.is_empty() => MissingPart::AllTrees,
            None => MissingPart::EndMark,
        };
        self.profile.damage.push(Damage::Corrupt { offset, missing });
        self.profile
    }

    /// Keeps the part of the open tree that was read. Returns its thread's name and number of
    /// contexts.
    fn close_tree(&mut self) -> Option<(String, usize)> {
        let tree = self.tree.take()?.finish();
        let described = (tree.name.to_string(), tree.tree.contexts());
        self.profile.threads.push(tree);
        Some(described)
    }

    /// The profile, at the end of a file of `length` bytes.
    fn finish(mut self, length: u64) -> Profile {
        let missing = match self.stage {
            Stage::Done => return self.profile,
            Stage::Start | Stage::Meta | Stage::Notes | Stage::Strings => MissingPart::Names,
            Stage::Trees if self.profile.threads.is_empty() => MissingPart::AllTrees,
            Stage::Trees | Stage::InTree => match self.close_tree() {
                Some((thread, contexts)) => MissingPart::RestOfTree { thread, contexts },
                None => MissingPart::LaterTrees,
            },
        };
        self.profile.damage.push(Damage::Truncated { length, missing });
        self.profile
    }
}

impl OpenTree {
    /// Reads one node record; true when it was the tree's last.
    fn record(&mut self, fields: &mut Fields<'_>, methods: &[Method]) -> Result<bool, ReadError> {
        let method = fields.varint()?;
        let (calls, bytecodes, children) = (fields.varint()?, fields.varint()?, fields.varint()?);
        if (method == 0) != self.builder.is_none() {
            return Err(fields.error(Problem::Root));
        }
        let builder = self.builder.get_or_insert_with(|| TreeBuilder::with_root(calls, bytecodes));
        if method != 0 {
            let count = methods.len();
            let index = u32::try_from(method - 1).ok().filter(|&index| (index as usize) < count);
            let index = index
                .ok_or_else(|| fields.error(Problem::NoSuchEntry { what: "method", index: method, count }))?;
            let is_cell = methods[index as usize].flags & Method::COLUMN != 0;
            if is_cell && (children != 0 || bytecodes != 0) {
                return Err(fields.error(Problem::BadCell));
            }
            if let Some(parent) = self.open.last_mut() {
                if method < parent.last {
                    return Err(fields.error(Problem::Order("children")));
                }
                parent.last = method;
                parent.due -= 1;
            }
            builder.enter(index, calls, bytecodes).map_err(|full| fields.error(full.into()))?;
        }
        self.open.push(OpenNode { due: children, last: 0 });
        while self.open.last().is_some_and(|node| node.due == 0) {
            self.open.pop();
            builder.leave();
        }
        Ok(self.open.is_empty())
    }

    fn finish(self) -> ThreadTree {
        let tree = self.builder.unwrap_or_default().finish();
        ThreadTree { name: self.name, threads: self.threads, flags: self.flags, tree }
    }
}
