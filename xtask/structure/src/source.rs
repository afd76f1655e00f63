//! The modules of one crate, read from its sources: definitions, imports, and the paths in their
//! code. Test code is skipped.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Attribute, Item, ItemMod, ItemUse, UseTree, Visibility};

use crate::error::{Error, Result, read};

/// The sources of a crate.
#[derive(Debug, Default)]
pub struct Sources {
    /// The files, relative to the workspace.
    pub files: Vec<String>,
    /// The modules; the first one is the crate's root.
    pub modules: Vec<Module>,
}

/// A module, with a file of its own or inline.
#[derive(Debug, Default)]
pub struct Module {
    /// Index of its file.
    pub file: usize,
    /// Index of its parent module; its own for the root.
    pub parent: usize,
    /// The child modules.
    pub children: BTreeMap<String, usize>,
    /// Names of its other items, including macros.
    pub items: BTreeSet<String>,
    /// The module's imports, at module level or within a function.
    pub imports: Vec<Import>,
    /// Paths of two names or more in its code.
    pub references: Vec<Reference>,
    /// All single names in its code.
    pub names: BTreeSet<String>,
}

/// An imported name.
#[derive(Debug)]
pub struct Import {
    /// The name in this module; `None` for all names (`*`).
    pub name: Option<String>,
    /// The imported path.
    pub of: Reference,
    /// Whether it is visible to others.
    pub is_export: bool,
}

/// A path in code.
#[derive(Debug)]
pub struct Reference {
    /// The path's names.
    pub path: Vec<String>,
    /// The path's line.
    pub line: usize,
}

impl Sources {
    /// Reads the crate with this root file, given relative to the workspace.
    pub fn read(root: &Path, file: &Path) -> Result<Sources> {
        let mut sources = Sources::default();
        let folder = file.parent().unwrap_or(Path::new("")).to_owned();
        sources.file(root, file, &folder, 0)?;
        Ok(sources)
    }

    /// Reads a file as a module, and the modules that it declares, whose files are in a folder.
    /// Returns its index.
    fn file(&mut self, root: &Path, path: &Path, folder: &Path, parent: usize) -> Result<usize> {
        let whole = root.join(path);
        let parsed = syn::parse_file(&read(&whole)?).map_err(|error| Error::Rust {
            path: path.to_owned(),
            line: error.span().start().line,
            error: error.to_string(),
        })?;
        self.files.push(path.to_string_lossy().into_owned());
        let place = Place { root, file: path, folder };
        self.module(&place, self.files.len() - 1, parent, parsed.items)
    }

    fn module(&mut self, place: &Place<'_>, file: usize, parent: usize, items: Vec<Item>) -> Result<usize> {
        let number = self.modules.len();
        self.modules.push(Module { file, parent, ..Module::default() });
        for item in items {
            if is_for_tests(attributes(&item)) {
                continue;
            }
            match item {
                Item::Mod(inner) => {
                    let name = inner.ident.to_string();
                    let child = self.child(place, file, number, inner)?;
                    self.modules[number].children.insert(name, child);
                }
                Item::Use(import) => self.modules[number].import(&import),
                item => {
                    self.modules[number].items.extend(name_of(&item).map(Ident::to_string));
                    self.modules[number].scan(item.into_token_stream());
                }
            }
        }
        Ok(number)
    }

    fn child(&mut self, place: &Place<'_>, file: usize, parent: usize, inner: ItemMod) -> Result<usize> {
        let name = inner.ident.to_string();
        let folder = place.folder.join(&name);
        if let Some((_, items)) = inner.content {
            return self.module(&Place { folder: &folder, ..*place }, file, parent, items);
        }
        let named = inner.attrs.iter().find_map(path_of);
        let mut candidates = match named {
            Some(path) => vec![place.file.with_file_name(path)],
            None => vec![place.folder.join(format!("{name}.rs")), folder.join("mod.rs")],
        };
        candidates.retain(|candidate| place.root.join(candidate).is_file());
        match candidates.first() {
            Some(path) => self.file(place.root, path, &folder, parent),
            None => Err(Error::NoModule { path: place.file.to_owned(), module: name }),
        }
    }
}

/// The place of a module's files.
#[derive(Clone, Copy)]
struct Place<'p> {
    root: &'p Path,
    file: &'p Path,
    folder: &'p Path,
}

impl Module {
    fn import(&mut self, import: &ItemUse) {
        let is_export = !matches!(import.vis, Visibility::Inherited);
        self.leaves(&import.tree, &mut Vec::new(), is_export);
    }

    fn leaves(&mut self, tree: &UseTree, path: &mut Vec<String>, is_export: bool) {
        let mut add = |path: Vec<String>, name: Option<String>, span: Span| {
            let of = Reference { path, line: span.start().line };
            self.imports.push(Import { name, of, is_export });
        };
        let of = |path: &[String], last: &Ident| {
            let mut path = path.to_vec();
            if last != "self" || path.is_empty() {
                path.push(last.to_string());
            }
            path
        };
        match tree {
            UseTree::Path(inner) => {
                path.push(inner.ident.to_string());
                self.leaves(&inner.tree, path, is_export);
                path.pop();
            }
            UseTree::Name(name) => {
                let whole = of(path, &name.ident);
                let last = whole.last().cloned();
                add(whole, last, name.ident.span());
            }
            UseTree::Rename(name) => {
                add(of(path, &name.ident), Some(name.rename.to_string()), name.ident.span());
            }
            UseTree::Glob(glob) => add(path.clone(), None, glob.star_token.spans[0]),
            UseTree::Group(group) => {
                group.items.iter().for_each(|tree| self.leaves(tree, path, is_export));
            }
        }
    }

    /// Collects the paths in tokens, including those of macros.
    fn scan(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let is_colon =
            |at: usize| matches!(tokens.get(at), Some(TokenTree::Punct(punct)) if punct.as_char() == ':');
        let is_separator = |at: usize| is_colon(at) && is_colon(at + 1);
        let mut at = 0;
        while at < tokens.len() {
            match &tokens[at] {
                TokenTree::Group(group) => self.scan(group.stream()),
                TokenTree::Ident(ident) if ident == "use" => {
                    let is_end = |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ';');
                    if let Some(length) = tokens[at..].iter().position(is_end)
                        && let Ok(import) =
                            syn::parse2::<ItemUse>(tokens[at..=at + length].iter().cloned().collect())
                    {
                        self.import(&import);
                        at += length;
                    }
                }
                TokenTree::Ident(first) => {
                    let starts = at < 2 || !is_separator(at - 2);
                    let mut path = vec![first.to_string()];
                    while is_separator(at + 1)
                        && let Some(TokenTree::Ident(next)) = tokens.get(at + 3)
                    {
                        path.push(next.to_string());
                        at += 3;
                    }
                    self.names.insert(path[0].clone());
                    if starts && path.len() > 1 {
                        self.references.push(Reference { path, line: first.span().start().line });
                    }
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
            at += 1;
        }
    }
}

/// Whether an item exists in tests only.
fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().filter(|attribute| attribute.path().is_ident("cfg")).any(|attribute| {
        let condition = attribute.meta.to_token_stream().to_string();
        let mut words = condition.split(|c: char| !c.is_alphanumeric() && c != '_');
        words.any(|word| word == "test") && !condition.contains("not")
    })
}

/// The file in an attribute `path`.
fn path_of(attribute: &Attribute) -> Option<PathBuf> {
    let syn::Meta::NameValue(value) = &attribute.meta else { return None };
    let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) = &value.value else { return None };
    attribute.path().is_ident("path").then(|| text.value().into())
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::ExternCrate(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::ForeignMod(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

fn name_of(item: &Item) -> Option<&Ident> {
    match item {
        Item::Const(item) => Some(&item.ident),
        Item::Enum(item) => Some(&item.ident),
        Item::Fn(item) => Some(&item.sig.ident),
        Item::Macro(item) => item.ident.as_ref(),
        Item::Static(item) => Some(&item.ident),
        Item::Struct(item) => Some(&item.ident),
        Item::Trait(item) => Some(&item.ident),
        Item::Type(item) => Some(&item.ident),
        Item::Union(item) => Some(&item.ident),
        _ => None,
    }
}
