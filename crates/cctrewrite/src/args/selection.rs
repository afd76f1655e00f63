//! Arguments that select contexts, shared by the commands that look at profiles.

use clap::Args;

use cct_profile::{Pattern, Selection};

/// Threads, roots, focus and what is left out.
#[derive(Debug, Args)]
pub struct SelectionArguments {
    /// Only threads of this name (a pattern)
    #[arg(long, value_name = "THREAD")]
    pub thread: Option<String>,

    /// Only what is at and below a method (a pattern): of every stack the part from its outermost
    /// frame that matches. Parts that become equal are added up
    #[arg(long, value_name = "METHOD")]
    pub root: Option<String>,

    /// Only contexts in whose stack a method is (a pattern; repeatable, any of them): what it
    /// calls, and its callers on the way to it without their own counts. Looked for behind --root
    #[arg(long, value_name = "METHOD")]
    pub focus: Vec<String>,

    /// Leave out methods that match (a pattern; repeatable), and all that is below them. Goes
    /// before --root and --focus
    #[arg(long, value_name = "METHOD")]
    pub drop: Vec<String>,

    /// The name of --drop before 0.2
    #[arg(long, value_name = "METHOD", hide = true)]
    ignore: Vec<String>,
}

impl SelectionArguments {
    /// These arguments as a [`Selection`].
    pub fn selection(&self) -> Selection {
        let patterns = |given: &[String]| given.iter().map(|given| Pattern::new(given)).collect();
        let dropped = self.dropped().map(|given| Pattern::new(given)).collect();
        Selection {
            thread: self.thread.as_deref().map(Pattern::of_thread),
            root: self.root.as_deref().map(Pattern::new),
            focus: patterns(&self.focus),
            drop: dropped,
        }
    }

    /// Which threads are selected, in words.
    pub fn threads_in_words(&self, per_thread: bool) -> String {
        match (&self.thread, per_thread) {
            (None, false) => "all threads added up".to_owned(),
            (None, true) => "each thread".to_owned(),
            (Some(thread), false) => format!("threads '{thread}' added up"),
            (Some(thread), true) => format!("each thread '{thread}'"),
        }
    }

    /// What is selected, in words, without the threads.
    pub fn in_words(&self) -> Vec<String> {
        let root = self.root.iter().map(|root| format!("from '{root}' on"));
        let focus = (!self.focus.is_empty()).then(|| format!("through '{}'", self.focus.join("' or '")));
        let dropped = self.dropped().map(|pattern| format!("without '{pattern}'"));
        root.chain(focus).chain(dropped).collect()
    }

    /// The patterns of dropped methods, by either name of the option.
    pub fn dropped(&self) -> impl Iterator<Item = &String> {
        self.drop.iter().chain(&self.ignore)
    }
}
