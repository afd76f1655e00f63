//! Worlds of small classes, for tests.

use cct_test_classes::TestClass;

use crate::survey::ClassSummary;
use crate::world::{MethodId, Role, World};

/// A world of inputs and of classes that stay raw.
pub(crate) fn world(inputs: &[TestClass], raw: &[TestClass]) -> World {
    let summary = |c: &TestClass| ClassSummary::parse(&c.bytes()).unwrap();
    let inputs = inputs.iter().map(|c| (Role::Input, summary(c)));
    World::new(inputs.chain(raw.iter().map(|c| (Role::Library, summary(c)))))
}

/// A world with classes that are rewritten in another run.
pub(crate) fn companion(object: &TestClass, other: &TestClass) -> World {
    let classes = [object, other].map(|c| (Role::Companion, ClassSummary::parse(&c.bytes()).unwrap()));
    World::new(classes)
}

/// A declared method.
pub(crate) fn declared(world: &World, class: &str, name: &str) -> MethodId {
    let id = world.class_named(class.as_bytes()).unwrap();
    let summary = &world[id].summary;
    let index = summary.methods.iter().position(|m| summary.method_name(m) == name.as_bytes()).unwrap();
    MethodId { class: id, index: index as u16 }
}
