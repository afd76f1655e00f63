//! A thread's stack with a fast check whether a method is on it. A trace may have a million frames,
//! and as many events of a method that is on none of them.

use std::ops::{Deref, DerefMut};

use rustc_hash::FxHashMap;

/// A frame of the stack.
pub trait Runs {
    /// The number of its method; `None` for a method without events of its own. It never changes.
    fn method(&self) -> Option<u32>;
}

/// Number of frames that are searched linearly. For the deeper ones, frames per method are counted.
const SHALLOW: usize = 64;

/// Frames, the top one last.
#[derive(Debug)]
pub struct Stack<F> {
    frames: Vec<F>,
    /// Number of deeper frames of each method, beyond [`SHALLOW`].
    deep: FxHashMap<u32, u32>,
}

impl<F> Default for Stack<F> {
    fn default() -> Self {
        Stack { frames: Vec::new(), deep: FxHashMap::default() }
    }
}

impl<F: Runs> Stack<F> {
    /// Pushes a frame.
    #[inline]
    pub fn push(&mut self, frame: F) {
        if let Some(method) = frame.method().filter(|_| self.frames.len() >= SHALLOW) {
            *self.deep.entry(method).or_default() += 1;
        }
        self.frames.push(frame);
    }

    /// Pops the top frame.
    #[inline]
    pub fn pop(&mut self) -> Option<F> {
        let frame = self.frames.pop()?;
        if let Some(method) = frame.method().filter(|_| self.frames.len() >= SHALLOW)
            && let Some(count) = self.deep.get_mut(&method)
        {
            *count -= 1;
            if *count == 0 {
                self.deep.remove(&method);
            }
        }
        Some(frame)
    }

    /// Removes all frames.
    pub fn clear(&mut self) {
        self.frames.clear();
        self.deep.clear();
    }

    /// The index of the uppermost frame of a method. The cost is proportional to the frames above
    /// it, or small if there is none.
    pub fn find(&self, method: u32) -> Option<usize> {
        let (shallow, deep) = self.frames.split_at(SHALLOW.min(self.frames.len()));
        let is_it = |frame: &F| frame.method() == Some(method);
        if self.deep.contains_key(&method) {
            return deep.iter().rposition(is_it).map(|place| SHALLOW + place);
        }
        shallow.iter().rposition(is_it)
    }
}

impl<F> Deref for Stack<F> {
    type Target = [F];

    fn deref(&self) -> &[F] {
        &self.frames
    }
}

impl<F> DerefMut for Stack<F> {
    fn deref_mut(&mut self) -> &mut [F] {
        &mut self.frames
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Runs for u32 {
        fn method(&self) -> Option<u32> {
            (*self != 0).then_some(*self)
        }
    }

    #[test]
    fn methods_are_found_wherever_they_run() {
        let mut stack = Stack::default();
        // 1, none, 3, then 5 in all other frames but two.
        [1, 0, 3].into_iter().for_each(|frame| stack.push(frame));
        (3..SHALLOW + 10).for_each(|_| stack.push(5));
        stack.push(3);
        stack.push(7);
        let top = stack.len();
        let all = |stack: &Stack<u32>| [1, 2, 3, 5, 7].map(|method| stack.find(method));
        assert_eq!(all(&stack), [Some(0), None, Some(top - 2), Some(top - 3), Some(top - 1)]);
        assert_eq!((stack.pop(), stack.pop()), (Some(7), Some(3)));
        assert_eq!(all(&stack), [Some(0), None, Some(2), Some(top - 3), None]);
        while stack.len() > 3 {
            stack.pop();
        }
        assert_eq!(all(&stack), [Some(0), None, Some(2), None, None]);
        assert!(stack.deep.is_empty());
    }

    /// A million frames, and a million searches for a method that is on none: a linear search would
    /// take a million million steps.
    #[test]
    fn who_is_nowhere_is_not_looked_for_everywhere() {
        let mut stack = Stack::default();
        (0..1_000_000).for_each(|_| stack.push(5));
        assert_eq!((0..1_000_000).filter(|_| stack.find(6).is_some()).count(), 0);
    }
}
