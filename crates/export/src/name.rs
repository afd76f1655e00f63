//! Names of methods in exports.

use cct_profile::names::{Frame, FrameTable, NameStyle, normalised_class};
use cct_profile::{FrameId, Method, Profile, Site};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The form of method names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NameForm {
    /// `java.util.HashMap.put(Object, Object)`; if two methods share a name, with the return type,
    /// or the descriptor.
    #[default]
    Readable,
    /// `java.util.HashMap.put(Ljava/lang/Object,Ljava/lang/Object,)Ljava/lang/Object,`, as in lists
    /// of contexts.
    Exact,
    /// `java.util.HashMap.put`: methods that differ only in their parameters are united.
    Short,
}

/// The name of a context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The text, unique among names. It has no `;`, no control character, no white space at its
    /// ends, and is not empty.
    pub text: String,
    /// The class, a binary name with slashes; `None` if the name is no method's.
    pub class: Option<Arc<str>>,
    /// The method's name.
    pub method: Option<Arc<str>>,
    /// The method's descriptor (JVMS 4.3.3); `None` if methods of different descriptors were
    /// united.
    pub descriptor: Option<Arc<str>>,
    /// The bytecode index of the call in the caller, where call sites are distinguished; -1 for
    /// native code. `None` also if several were united.
    pub bci: Option<i32>,
    /// The caller's source line there, if known.
    pub line: Option<u32>,
    /// The id of the frame, which distinguishes call sites where they are kept separate.
    pub frame_id: FrameId,
    /// The id of the method: the frame's without a call site.
    pub method_id: FrameId,
    /// Length of the part of the text that names the method; the call site follows.
    method_text: usize,
}

impl Name {
    /// The name of something that is no method.
    pub(crate) fn of_text(text: &str) -> Name {
        Name::of_parts(text, "")
    }

    fn of_parts(method: &str, site: &str) -> Name {
        let mut text = clean(method);
        let method_text = text.len();
        text.push_str(site);
        let [frame_id, method_id] = [&*text, &text[..method_text]].map(FrameId::of_text);
        let (class, method, descriptor) = (None, None, None);
        let (bci, line) = (None, None);
        Name { text, class, method, descriptor, bci, line, frame_id, method_id, method_text }
    }

    /// The text without the call site: equal for all call sites of the method, and unique among
    /// methods.
    pub fn method_text(&self) -> &str {
        &self.text[..self.method_text]
    }

    /// The JVM's name of the method: `java/lang/String.indexOf:(II)I`. Empty if it equals
    /// [`method_text`](Name::method_text): pprof takes a function with two equal names for one of
    /// C++, and cuts off supposed parameters.
    pub(crate) fn system_name(&self) -> String {
        let (Some(class), Some(method)) = (&self.class, &self.method) else { return String::new() };
        let descriptor = self.descriptor.as_ref().map(|descriptor| format!(":{descriptor}"));
        let system_name = format!("{class}.{method}{}", descriptor.unwrap_or_default());
        if system_name == self.method_text() { String::new() } else { system_name }
    }

    /// The file with the method's code, as far as a profile knows: the class file
    /// (`java/util/HashMap.class`).
    pub fn file(&self) -> Option<String> {
        self.class.as_ref().map(|class| clean(&format!("{class}.class")))
    }
}

/// A text that every format can contain. Separators of stacks become commas; flame graphs cut off
/// white space, and take `# ` for a comment; XML has no U+FFFE and U+FFFF.
fn clean(text: &str) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for c in &mut chars {
        match *c {
            ';' => *c = ',',
            '\u{FFFE}' | '\u{FFFF}' => *c = '\u{FFFD}',
            control if control.is_control() => *c = '?',
            _ => {}
        }
    }
    let ends = |c: &&mut char| c.is_whitespace();
    chars.iter_mut().take_while(ends).for_each(|c| *c = '_');
    chars.iter_mut().rev().take_while(ends).for_each(|c| *c = '_');
    if let ['#', space @ ' ', ..] = &mut chars[..] {
        *space = '_';
    }
    if chars.is_empty() { "(unnamed)".to_owned() } else { chars.into_iter().collect() }
}

/// The names of a list of methods, sorted by their texts.
pub(crate) struct Names<'m> {
    /// The frames of the methods.
    table: FrameTable<'m>,
    /// The name of each frame.
    of_frame: Vec<u32>,
    /// The names.
    pub(crate) names: Vec<Name>,
}

impl<'m> Names<'m> {
    pub(crate) fn new(methods: &'m [Method], form: NameForm, style: NameStyle) -> Names<'m> {
        let table = FrameTable::new(methods, style);
        let mut methods_of_frames: Vec<Option<&Method>> = vec![None; table.frames().len()];
        for (method, &frame) in methods.iter().zip(table.of_method()) {
            methods_of_frames[frame as usize].get_or_insert(method);
        }
        let mut named: Vec<Name> = match form {
            NameForm::Readable => {
                table.readable_parts().iter().map(|(method, site)| Name::of_parts(method, site)).collect()
            }
            NameForm::Short => {
                let named = table.frames().iter().zip(table.readable_parts());
                let exact = |frame: &Frame<'_>| frame.without_call_site().exact();
                named.map(|(frame, (_, site))| Name::of_parts(&exact(frame), &site)).collect()
            }
            NameForm::Exact => {
                let site = |frame: &Frame<'_>| {
                    frame.site().map_or(String::new(), |site| format!("@{}", site.index()))
                };
                let name =
                    |frame: &Frame<'_>| Name::of_parts(&frame.without_call_site().exact(), &site(frame));
                table.frames().iter().map(name).collect()
            }
        };
        for ((name, frame), method) in named.iter_mut().zip(table.frames()).zip(methods_of_frames) {
            name.bci = frame.site().map(Site::index);
            name.line = frame.site().and_then(Site::known_line);
            (name.frame_id, name.method_id) = (FrameId::of(frame), FrameId::of(&frame.without_call_site()));
            let Some(method) = method.filter(|method| method.flags & Method::MARKER == 0) else { continue };
            let class: Arc<str> = match style {
                NameStyle::Normalised => normalised_class(&method.class).into(),
                NameStyle::Raw => method.class.clone(),
            };
            if form == NameForm::Short {
                let site = name.text.split_off(name.method_text);
                let short = Name::of_parts(&format!("{}.{}", class.replace('/', "."), method.name), &site);
                (name.text, name.method_text) = (short.text, short.method_text);
                (name.frame_id, name.method_id) = (short.frame_id, short.method_id);
            } else {
                name.descriptor = Some(method.descriptor.clone());
            }
            (name.class, name.method) = (Some(class), Some(method.name.clone()));
        }
        Names::united(table, named)
    }

    /// Unites the names of frames with equal texts.
    fn united(table: FrameTable<'m>, named: Vec<Name>) -> Names<'m> {
        // There are at most as many frames as methods, whose indices are u32 everywhere.
        let mut order: Vec<u32> = (0..u32::MAX).take(named.len()).collect();
        order.sort_by(|&a, &b| named[a as usize].text.cmp(&named[b as usize].text));
        let mut names: Vec<Name> = Vec::new();
        let mut of_frame = vec![0; named.len()];
        for frame in order {
            let name = &named[frame as usize];
            match names.last_mut() {
                Some(last) if last.text == name.text => {
                    last.descriptor.take_if(|descriptor| Some(&*descriptor) != name.descriptor.as_ref());
                    last.bci.take_if(|bci| Some(*bci) != name.bci);
                    last.line.take_if(|line| Some(*line) != name.line);
                }
                _ => names.push(name.clone()),
            }
            of_frame[frame as usize] = (names.len() - 1) as u32;
        }
        Names { table, of_frame, names }
    }

    /// The name of each method.
    pub(crate) fn of_method(&self) -> Vec<u32> {
        self.table.of_method().iter().map(|&frame| self.of_frame[frame as usize]).collect()
    }
}

/// The methods of a list of names that also differ by call sites.
#[derive(Clone, Debug)]
pub(crate) struct Functions {
    /// The method of each name.
    pub(crate) of_name: Vec<u32>,
    /// The first name of each method.
    pub(crate) first: Vec<u32>,
}

impl Functions {
    /// In the order of occurrence: where there are no call sites, each name is a method.
    pub(crate) fn of(names: &[Name]) -> Functions {
        let mut known: BTreeMap<&str, u32> = BTreeMap::new();
        let mut functions = Functions { of_name: Vec::with_capacity(names.len()), first: Vec::new() };
        for (at, name) in (0u32..).zip(names) {
            let function = *known.entry(name.method_text()).or_insert_with(|| {
                functions.first.push(at);
                (functions.first.len() - 1) as u32
            });
            functions.of_name.push(function);
        }
        functions
    }

    /// The methods' names. Only properties independent of the call site are valid for all.
    pub(crate) fn names<'n>(&'n self, names: &'n [Name]) -> impl Iterator<Item = &'n Name> {
        self.first.iter().map(|&first| &names[first as usize])
    }
}

/// All methods of several profiles, one after the other.
pub(crate) fn all_methods(profiles: &[&Profile]) -> Vec<Method> {
    profiles.iter().flat_map(|profile| profile.methods.iter().cloned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::method;

    fn texts(methods: &[Method], form: NameForm) -> Vec<String> {
        Names::new(methods, form, NameStyle::Normalised).names.into_iter().map(|name| name.text).collect()
    }

    #[test]
    fn forms_differ_in_their_parameters() {
        let methods = [method("a/B", "f", "(I)V"), method("a/B", "f", "(La/C;)V"), method("a/B", "g", "()V")];
        assert_eq!(texts(&methods, NameForm::Readable), ["a.B.f(C)", "a.B.f(int)", "a.B.g()"]);
        assert_eq!(texts(&methods, NameForm::Exact), ["a.B.f(I)V", "a.B.f(La/C,)V", "a.B.g()V"]);
        assert_eq!(texts(&methods, NameForm::Short), ["a.B.f", "a.B.g"]);
        let names = Names::new(&methods, NameForm::Short, NameStyle::Normalised);
        assert_eq!(names.of_method(), [0, 0, 1]);
        assert_eq!(names.names[0].descriptor, None);
        assert_eq!(names.names[0].file().as_deref(), Some("a/B.class"));
    }

    #[test]
    fn texts_can_be_held_by_all_formats() {
        for (text, cleaned) in [
            ("a;b", "a,b"),
            ("  x y ", "__x y_"),
            ("", "(unnamed)"),
            ("\u{3000}", "_"),
            ("# x", "#_x"),
            ("#x", "#x"),
            ("a\nb\u{FFFF}", "a?b\u{FFFD}"),
            ("Grüße(\"x\")", "Grüße(\"x\")"),
        ] {
            assert_eq!(clean(text), cleaned);
        }
    }

    #[test]
    fn markers_are_no_methods() {
        let marker = Method { flags: Method::MARKER, ..method("[merged; e.g. here]", "", "") };
        for form in [NameForm::Readable, NameForm::Exact, NameForm::Short] {
            let methods = [marker.clone()];
            let names = Names::new(&methods, form, NameStyle::Normalised).names;
            assert_eq!(names, [Name::of_text("[merged, e.g. here]")]);
        }
    }
}
