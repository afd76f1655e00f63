//! Names of methods in outputs: frames for machines, readable names for people, and names of
//! generated classes.

mod site;

pub(crate) use site::split_call_site;

use crate::escape::terminal;
use crate::{Method, Site};
use site::{full_site, readable_site, site_bytes};
use std::cmp::Ordering;

/// Treatment of names that contain a number or an address which differs between runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NameStyle {
    /// The number is removed, and contexts whose names become equal are added up, so that runs can
    /// be compared.
    #[default]
    Normalised,
    /// Names stay as recorded.
    Raw,
}

/// Classes that the class library generates at run time and numbers consecutively; a `$` may
/// precede the number.
const NUMBERED: [&str; 7] = [
    "/reflect/GeneratedMethodAccessor",
    "/reflect/GeneratedConstructorAccessor",
    "/reflect/GeneratedSerializationConstructorAccessor",
    "/LambdaForm$MH",
    "/LambdaForm$DMH",
    "/LambdaForm$BMH",
    "/LambdaForm$VH",
];

/// Prefix of the simple name of a proxy class; its number follows.
const PROXY: &str = "$Proxy";

/// Packages of proxy classes that are numbered by class loader themselves (JDK 9 and later), and
/// their names without the number.
const PROXY_PACKAGES: [(&str, &str); 2] =
    [("jdk/proxy", "jdk/proxy/$Proxy"), ("com/sun/proxy/jdk/proxy", "com/sun/proxy/jdk/proxy/$Proxy")];

/// The name of a class without the parts that differ between runs. These are the suffix of hidden
/// classes (`Foo.0x0000..`, JDK 15 and later) and of VM-anonymous ones (`Foo/1234`, before), and
/// the number of a lambda class (`Foo$$Lambda$12`), a proxy, a reflective accessor and a lambda
/// form.
pub fn normalised_class(class: &str) -> &str {
    let class = without_hidden_suffix(class);
    let class = class.find("$$Lambda$").map_or(class, |at| &class[..at + "$$Lambda".len()]);
    if let Some(proxy) = normalised_proxy(class) {
        return proxy;
    }
    NUMBERED.iter().fold(class, |class, prefix| {
        let Some(at) = class.find(prefix) else { return class };
        let (stem, tail) = class.split_at(at + prefix.len());
        let number = tail.strip_prefix('$').unwrap_or(tail);
        if number.bytes().all(|b| b.is_ascii_digit()) { stem } else { class }
    })
}

/// The name of a proxy class without its number and that of its package. It is in the package of an
/// interface that is not public, or in one of the class library's (`java.lang.reflect.Proxy`).
/// `None` if it is no proxy class.
fn normalised_proxy(class: &str) -> Option<&str> {
    let is_digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let simple = class.rfind('/').map_or(0, |slash| slash + 1);
    class[simple..].strip_prefix(PROXY).filter(|number| is_digits(number))?;
    let package = class[..simple].trim_end_matches('/');
    let numbered = PROXY_PACKAGES.iter().find(|(stem, _)| package.strip_prefix(stem).is_some_and(is_digits));
    Some(numbered.map_or(&class[..simple + PROXY.len()], |&(_, name)| name))
}

fn without_hidden_suffix(class: &str) -> &str {
    // A binary name holds no dot (JVMS 4.2.1), so a dot always starts a suffix.
    if let Some((stem, _)) = class.rsplit_once('.') {
        return stem;
    }
    match class.rsplit_once('/') {
        Some((stem, suffix)) if is_number(suffix) => stem,
        _ => class,
    }
}

/// Decimal (VM-anonymous classes), or `0x` and hex (as `Class.getName` names hidden ones).
fn is_number(suffix: &str) -> bool {
    match suffix.strip_prefix("0x") {
        Some(hex) => !hex.is_empty() && hex.bytes().all(|b| b.is_ascii_hexdigit()),
        None => !suffix.is_empty() && suffix.bytes().all(|b| b.is_ascii_digit()),
    }
}

/// The name of a node in a context's path: `java.lang.String.charAt(I)C`, or `[main]` for a thread.
/// Where call sites are distinguished, the caller's bytecode index is at its end,
/// `java.lang.String.charAt(I)C@12`, -1 for native code. It is kept in its parts and joined when
/// written: a million methods may share a few long names.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// Class with slashes, empty for threads and markers.
    class: &'a str,
    /// The parts after the class: dot, name, descriptor.
    rest: [&'a str; 3],
    site: Option<Site>,
}

impl<'a> Frame<'a> {
    /// The frame of a method.
    pub fn method(method: &'a Method, style: NameStyle) -> Frame<'a> {
        if method.flags & Method::MARKER != 0 {
            // Plain text, in which slashes and dots are not parts of a name.
            return Frame { class: "", rest: [&method.class, &method.name, &method.descriptor], site: None };
        }
        let class = match style {
            NameStyle::Normalised => normalised_class(&method.class),
            NameStyle::Raw => &method.class,
        };
        let dot = if class.is_empty() { "" } else { "." };
        Frame { class, rest: [dot, &method.name, &method.descriptor], site: method.site }
    }

    /// The frame of a thread.
    pub fn thread(name: &'a str) -> Frame<'a> {
        Frame { class: "", rest: ["[", name, "]"], site: None }
    }

    /// The call site of the frame.
    pub fn site(&self) -> Option<Site> {
        self.site
    }

    /// The frame of the method, without a call site.
    #[must_use]
    pub fn without_call_site(self) -> Frame<'a> {
        Frame { site: None, ..self }
    }

    /// The frame without the line of its call site, which is not part of its text.
    #[must_use]
    pub(crate) fn without_line(self) -> Frame<'a> {
        Frame { site: self.site.map(|site| Site { line: 0, ..site }), ..self }
    }

    /// The frame's text: slashes of the class are dots; `;`, which separates frames, is `,`; line
    /// ends are `?`.
    pub fn bytes(&self) -> impl Iterator<Item = u8> + 'a {
        let class = self.class.bytes().map(|b| if b == b'/' { b'.' } else { b });
        let text = class.chain(self.rest.into_iter().flat_map(str::bytes)).map(|b| match b {
            b';' => b',',
            b'\n' | b'\r' => b'?',
            other => other,
        });
        text.chain(self.site.into_iter().flat_map(site_bytes))
    }

    /// The name for people: `java.util.HashMap.put(Object, Object)`. Parameter types lose their
    /// packages; the return type and the call site are omitted. Two methods may have the same name;
    /// see [`FrameTable::readable`].
    pub fn readable(&self) -> String {
        let [_, name, descriptor] = self.rest;
        if (name, descriptor) == (NEW, "") {
            return terminal(&format!("new {}", readable_made(self.class)));
        }
        match readable_parameters(descriptor) {
            Some((parameters, _)) => terminal(&format!("{}{name}({parameters})", self.readable_class())),
            None => self.without_call_site().exact(),
        }
    }

    /// Whether the frame is a type, whose objects are counted.
    pub fn is_type(&self) -> bool {
        let [_, name, descriptor] = self.rest;
        (name, descriptor) == (NEW, "")
    }

    /// The readable name with the return type: `Foo.clone() Object`.
    fn readable_with_return(&self) -> String {
        let [_, name, descriptor] = self.rest;
        match readable_parameters(descriptor) {
            Some((parameters, result)) => {
                terminal(&format!("{}{name}({parameters}) {result}", self.readable_class()))
            }
            None => self.without_call_site().exact(),
        }
    }

    /// The frame's text, escaped for terminals.
    pub fn exact(&self) -> String {
        terminal(&String::from_utf8_lossy(&self.bytes().collect::<Vec<u8>>()))
    }

    fn readable_class(&self) -> String {
        if self.class.is_empty() { String::new() } else { self.class.replace('/', ".") + "." }
    }
}

impl PartialEq for Frame<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Frame<'_> {}

impl PartialOrd for Frame<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// By the bytes of the text; of equal texts by the line of the call site.
impl Ord for Frame<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let line = |frame: &Self| frame.site.map_or(0, |site| site.line);
        self.bytes().cmp(other.bytes()).then_with(|| line(self).cmp(&line(other)))
    }
}

/// The method name of types among methods ([`Method::TYPE`]).
pub(crate) const NEW: &str = "<new>";

/// The readable name of a type whose objects are counted: a class's name, or an array's descriptor.
/// Unlike parameter types it keeps its package.
fn readable_made(of: &str) -> String {
    let element = of.trim_start_matches('[');
    let dimensions = of.len() - element.len();
    let name = match (dimensions, element.strip_prefix('L')) {
        (0, _) => element.replace('/', "."),
        (_, Some(class)) => normalised_class(class.trim_end_matches(';')).replace('/', "."),
        (_, None) => readable_type(element).map_or_else(|| element.to_owned(), |(name, _)| name),
    };
    name + &"[]".repeat(dimensions)
}

/// The parameter types of a descriptor, separated by commas, and its return type; `None` if it is
/// not a descriptor.
fn readable_parameters(descriptor: &str) -> Option<(String, String)> {
    let (parameters, result) = descriptor.strip_prefix('(')?.split_once(')')?;
    let mut rest = parameters;
    let mut types = Vec::new();
    while !rest.is_empty() {
        let (name, tail) = readable_type(rest)?;
        types.push(name);
        rest = tail;
    }
    let result = if result == "V" { Some(("void".to_owned(), "")) } else { readable_type(result) };
    let (result, tail) = result?;
    tail.is_empty().then(|| (types.join(", "), result))
}

/// The first field type of a descriptor (JVMS 4.3.2), without its package, and what follows it.
fn readable_type(descriptor: &str) -> Option<(String, &str)> {
    let element = descriptor.trim_start_matches('[');
    let dimensions = descriptor.len() - element.len();
    let (name, tail) = if let Some(class) = element.strip_prefix('L') {
        let (class, tail) = class.split_once(';')?;
        let class = normalised_class(class);
        (class.rsplit_once('/').map_or(class, |(_, simple)| simple), tail)
    } else {
        let name = match element.bytes().next()? {
            b'B' => "byte",
            b'C' => "char",
            b'D' => "double",
            b'F' => "float",
            b'I' => "int",
            b'J' => "long",
            b'S' => "short",
            b'Z' => "boolean",
            _ => return None,
        };
        (name, &element[1..])
    };
    Some((name.to_owned() + &"[]".repeat(dimensions), tail))
}

/// The distinct frames of a profile's methods, in byte order, and the frame of each method.
#[derive(Clone, Debug)]
pub struct FrameTable<'a> {
    frames: Vec<Frame<'a>>,
    of_method: Vec<u32>,
}

impl<'a> FrameTable<'a> {
    /// The frames of `methods`. Methods whose frames have the same text (two bodies of one name;
    /// generated classes) share one.
    pub fn new(methods: &'a [Method], style: NameStyle) -> FrameTable<'a> {
        FrameTable::of(methods.iter().map(|method| Frame::method(method, style)).collect())
    }

    /// The table of `frames`; [`FrameTable::of_method`] then maps positions in the given list.
    pub(crate) fn of(all: Vec<Frame<'a>>) -> FrameTable<'a> {
        // A method index is a u32 everywhere; further methods cannot be referred to.
        let mut order: Vec<u32> = (0..u32::MAX).take(all.len()).collect();
        order.sort_by(|&a, &b| all[a as usize].cmp(&all[b as usize]));
        let mut frames: Vec<Frame<'a>> = Vec::new();
        let mut of_method = vec![0; order.len()];
        for method in order {
            let frame = all[method as usize];
            if frames.last() != Some(&frame) {
                frames.push(frame);
            }
            of_method[method as usize] = (frames.len() - 1) as u32;
        }
        FrameTable { frames, of_method }
    }

    /// The frames, sorted by the bytes of their text.
    pub fn frames(&self) -> &[Frame<'a>] {
        &self.frames
    }

    /// For each method the index of its frame.
    pub fn of_method(&self) -> &[u32] {
        &self.of_method
    }

    /// The table of the methods without their call sites, and the frame in it for each frame of
    /// this one.
    pub fn without_call_sites(&self) -> (FrameTable<'a>, Vec<u32>) {
        let table = FrameTable::of(self.frames.iter().map(|frame| frame.without_call_site()).collect());
        let of_frame = table.of_method.clone();
        (table, of_frame)
    }

    /// Whether any frame has a call site.
    pub fn has_call_sites(&self) -> bool {
        self.frames.iter().any(|frame| frame.site.is_some())
    }

    /// A unique readable name for each frame: the shortest of the form without return type, the
    /// form with it, and the exact frame. The call site follows: the line alone where that
    /// distinguishes it from the method's others.
    pub fn readable(&self) -> Vec<String> {
        self.readable_parts().into_iter().map(|(method, site)| method + &site).collect()
    }

    /// The parts of [`FrameTable::readable`]: the method, and its call site or nothing.
    pub fn readable_parts(&self) -> Vec<(String, String)> {
        if !self.has_call_sites() {
            return self.readable_methods().into_iter().map(|method| (method, String::new())).collect();
        }
        let (methods, of_frame) = self.without_call_sites();
        let methods = methods.readable_methods();
        let mut sites: Vec<String> =
            self.frames.iter().map(|frame| frame.site.map_or(String::new(), readable_site)).collect();
        let method = |frame: usize| methods[of_frame[frame] as usize].clone();
        let names: Vec<String> = (0..sites.len()).map(|frame| method(frame) + &sites[frame]).collect();
        for same in ambiguous(&names) {
            sites[same] = self.frames[same].site.map_or(String::new(), full_site);
        }
        sites.into_iter().enumerate().map(|(frame, site)| (method(frame), site)).collect()
    }

    fn readable_methods(&self) -> Vec<String> {
        let mut names: Vec<String> = self.frames.iter().map(Frame::readable).collect();
        for longer in [Frame::readable_with_return, Frame::exact] {
            for same in ambiguous(&names) {
                names[same] = longer(&self.frames[same]);
            }
        }
        names
    }
}

/// The positions of all names that occur more than once.
fn ambiguous(names: &[String]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by(|&a, &b| names[a].cmp(&names[b]));
    let runs = order.chunk_by(|&a, &b| names[a] == names[b]);
    runs.filter(|run| run.len() > 1).flatten().copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::method;

    #[test]
    fn names_spun_at_run_time_lose_their_numbers() {
        for (raw, normalised) in [
            ("java/util/HashMap", "java/util/HashMap"),
            ("a/B$$Lambda$12", "a/B$$Lambda"),
            ("a/B$$Lambda$12/0x0000000800c03000", "a/B$$Lambda"),
            ("a/B$$Lambda$12/1804094807", "a/B$$Lambda"),
            ("a/B$$Lambda.0x0000000800c03000", "a/B$$Lambda"),
            ("a/B$$Lambda/0x0000000800c03000", "a/B$$Lambda"),
            ("a/B$$Lambda", "a/B$$Lambda"),
            ("sun/reflect/GeneratedMethodAccessor7", "sun/reflect/GeneratedMethodAccessor"),
            (
                "jdk/internal/reflect/GeneratedConstructorAccessor12",
                "jdk/internal/reflect/GeneratedConstructorAccessor",
            ),
            (
                "sun/reflect/GeneratedSerializationConstructorAccessor1",
                "sun/reflect/GeneratedSerializationConstructorAccessor",
            ),
            ("com/sun/proxy/$Proxy3", "com/sun/proxy/$Proxy"),
            ("com/sun/proxy/$Proxy3x", "com/sun/proxy/$Proxy3x"),
            ("com/sun/proxy/$Proxy", "com/sun/proxy/$Proxy"),
            ("jdk/proxy2/$Proxy14", "jdk/proxy/$Proxy"),
            ("com/sun/proxy/jdk/proxy1/$Proxy0", "com/sun/proxy/jdk/proxy/$Proxy"),
            ("app/shop/$Proxy14", "app/shop/$Proxy"),
            ("app/jdk/proxy2/$Proxy14", "app/jdk/proxy2/$Proxy"),
            ("$Proxy7", "$Proxy"),
            ("app/A$Proxy7", "app/A$Proxy7"),
            ("app/$Proxy7$1", "app/$Proxy7$1"),
            ("java/lang/invoke/LambdaForm$MH/865113938", "java/lang/invoke/LambdaForm$MH"),
            ("java/lang/invoke/LambdaForm$DMH.0x0000000800001000", "java/lang/invoke/LambdaForm$DMH"),
            ("java/lang/invoke/LambdaForm$MH$12", "java/lang/invoke/LambdaForm$MH"),
            ("java/lang/invoke/LambdaForm$MHx", "java/lang/invoke/LambdaForm$MHx"),
            ("java/lang/invoke/LambdaForm$BMH012", "java/lang/invoke/LambdaForm$BMH"),
            ("a/B$1", "a/B$1"),
            ("", ""),
        ] {
            assert_eq!(normalised_class(raw), normalised, "{raw}");
        }
    }

    #[test]
    fn frames_have_dots_and_commas() {
        let m = method("a/B$C", "f\n", "([La/D;J)La/E;");
        let text = |frame: Frame<'_>| String::from_utf8(frame.bytes().collect()).ok();
        assert_eq!(text(Frame::method(&m, NameStyle::Raw)).as_deref(), Some("a.B$C.f?([La/D,J)La/E,"));
        assert_eq!(text(Frame::thread("x;y/z")).as_deref(), Some("[x,y/z]"));
        let marker = method("[contexts/merged: e.g. here]", "", "");
        let marker = Method { flags: Method::MARKER, ..marker };
        assert_eq!(
            text(Frame::method(&marker, NameStyle::Normalised)).as_deref(),
            Some("[contexts/merged: e.g. here]")
        );
    }

    #[test]
    fn people_read_lines_of_call_sites() {
        let at = |name, bci, line| Method { site: Some(Site { bci, line }), ..method("A", name, "()V") };
        let methods = [
            method("A", "f", "()V"),
            at("f", 1, 10),
            at("f", 5, 11),
            at("f", 9, 11),
            at("f", 9, 12),
            at("g", 9, 11),
            at("g", 20, 0),
            Method { site: Some(Site::NATIVE), ..method("A", "h", "()V") },
        ];
        let table = FrameTable::new(&methods, NameStyle::Raw);
        let names = table.readable();
        let named: Vec<&str> = table.of_method().iter().map(|&frame| &*names[frame as usize]).collect();
        // Two calls on one line, so the line is not enough; the same index in two callers,
        // distinguished by lines.
        let expected =
            ["A.f()", "A.f():10", "A.f():11@5", "A.f():11@9", "A.f():12", "A.g():11", "A.g()@20", "A.h()@-1"];
        assert_eq!(named, expected);
        let (of_methods, of_frame) = table.without_call_sites();
        assert_eq!(of_methods.frames().len(), 3);
        assert_eq!(of_frame.iter().collect::<std::collections::BTreeSet<_>>().len(), 3);
    }

    #[test]
    fn people_read_types_without_packages() {
        let readable = |c, n, d| Frame::method(&method(c, n, d), NameStyle::Normalised).readable();
        assert_eq!(
            readable("java/util/HashMap", "put", "(Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/Object;"),
            "java.util.HashMap.put(Object, Object)"
        );
        assert_eq!(
            readable("A", "<init>", "([[I[La/B$C;ZBCDFJS)V"),
            "A.<init>(int[][], B$C[], boolean, byte, char, double, float, long, short)"
        );
        assert_eq!(readable("A", "f", "()V"), "A.f()");
        assert_eq!(readable("?", "00c0ffee", ""), "?.00c0ffee");
        for broken in ["(", "()", "(Lx)V", "(Q)V", "([)V", "()VV", "(V)V", "()[", "(é)V"] {
            assert!(readable("A", "f", broken).starts_with("A.f"), "{broken}");
        }
        assert_eq!(readable("A", "f\u{1b}[2J\u{202e}", "()V"), "A.f\\u{1b}[2J\\u{202e}()");
    }

    #[test]
    fn people_read_what_is_made_as_java_says_it() {
        let readable = |class| Frame::method(&method(class, NEW, ""), NameStyle::Normalised).readable();
        assert_eq!(readable("java/util/HashMap$Node"), "new java.util.HashMap$Node");
        assert_eq!(readable("[[I"), "new int[][]");
        assert_eq!(readable("[La/B$$Lambda;"), "new a.B$$Lambda[]");
    }

    #[test]
    fn readable_names_tell_methods_apart() {
        let methods = [
            method("A", "clone", "()LA;"),
            method("A", "clone", "()Ljava/lang/Object;"),
            method("A", "f", "(La/X;)V"),
            method("A", "f", "(Lb/X;)V"),
            method("A", "g", "()V"),
        ];
        let table = FrameTable::new(&methods, NameStyle::Normalised);
        assert_eq!(
            table.readable(),
            ["A.clone() A", "A.clone() Object", "A.f(La/X,)V", "A.f(Lb/X,)V", "A.g()"]
        );
    }

    #[test]
    fn equal_frames_share_an_entry() {
        let methods =
            [method("A$$Lambda$2", "f", "()V"), method("A", "f", "()V"), method("A$$Lambda$1", "f", "()V")];
        let table = FrameTable::new(&methods, NameStyle::Normalised);
        assert_eq!(table.frames().len(), 2);
        // '$' sorts before '.'
        assert_eq!(table.of_method(), [0, 1, 0]);
        assert_eq!(FrameTable::new(&methods, NameStyle::Raw).frames().len(), 3);
    }
}
