//! Arguments that select contexts, shared by the commands that look at profiles.

use clap::Args;

use cct_profile::{ContextId, Pattern, Selection};

/// Threads, roots, focus and what is left out.
#[derive(Debug, Args)]
pub struct SelectionArguments {
    /// Select the threads of this name (a pattern)
    #[arg(long, value_name = "THREAD", help_heading = "Selection", hide_short_help = true)]
    pub thread: Option<String>,

    /// Select a method (a pattern) and its callees
    ///
    /// Of every stack, the part below its outermost matching frame, that frame included. Stacks
    /// that become equal are added up
    #[arg(long, value_name = "METHOD", help_heading = "Selection")]
    pub root: Option<String>,

    /// Select contexts with a method in their stack (a pattern; repeatable: any of them)
    ///
    /// The method's callers are shown without their own counts. Applies after --root
    #[arg(long, value_name = "METHOD", help_heading = "Selection")]
    pub focus: Vec<String>,

    /// Select the context with this id, and its callees (`report --ids` shows ids). Its callers are
    /// shown without their own counts
    #[arg(long, value_name = "ID", help_heading = "Selection", hide_short_help = true)]
    pub context: Option<ContextId>,

    /// Drop methods that match (a pattern; repeatable), with everything below them. Applies before
    /// --root and --focus
    #[arg(long, value_name = "METHOD", help_heading = "Selection", hide_short_help = true)]
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
            context: self.context,
            drop: dropped,
        }
    }

    /// The methods whose contexts are selected.
    pub fn methods(&self) -> impl Iterator<Item = Pattern> {
        self.root.iter().chain(&self.focus).map(|given| Pattern::new(given))
    }

    /// Which threads are selected, in words.
    pub fn threads_in_words(&self, per_thread: bool) -> String {
        match (&self.thread, per_thread) {
            (None, false) => "sum of all threads".to_owned(),
            (None, true) => "each thread".to_owned(),
            (Some(thread), false) => format!("sum of threads '{thread}'"),
            (Some(thread), true) => format!("each thread '{thread}'"),
        }
    }

    /// What is selected, in words, without the threads.
    pub fn in_words(&self) -> Vec<String> {
        let root = self.root.iter().map(|root| format!("from '{root}' down"));
        let focus = (!self.focus.is_empty()).then(|| format!("through '{}'", self.focus.join("' or '")));
        let context = self.context.map(|id| format!("context #{id}"));
        let dropped = self.dropped().map(|pattern| format!("without '{pattern}'"));
        root.chain(focus).chain(context).chain(dropped).collect()
    }

    /// The patterns of dropped methods, by either name of the option.
    pub fn dropped(&self) -> impl Iterator<Item = &String> {
        self.drop.iter().chain(&self.ignore)
    }
}
