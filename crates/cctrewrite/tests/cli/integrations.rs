//! The descriptions of CI jobs in `integrations/`, and what docs/ci/pull-requests.md shows of them.
//! `tests/jvm/pull_requests.rs` runs their shell steps.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_yaml_ng::Value;

use super::support::{put, scratch};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn yaml(path: &str) -> Value {
    serde_yaml_ng::from_str(&fs::read_to_string(repository().join(path)).unwrap()).unwrap()
}

const ACTION: &str = "integrations/github-action/action.yml";
const TEMPLATE: &str = "integrations/gitlab/cctrewrite.yml";

/// The blocks of YAML on the page.
fn blocks_of_the_page() -> Vec<String> {
    let page = fs::read_to_string(repository().join("docs/ci/pull-requests.md")).unwrap();
    let blocks = page.split("```yaml\n").skip(1).map(|rest| rest.split("```").next().unwrap().to_owned());
    blocks.collect()
}

fn keys(mapping: &Value) -> Vec<String> {
    mapping.as_mapping().unwrap().keys().map(|key| key.as_str().unwrap().to_owned()).collect()
}

/// Text of a pull request, such as the name of its branch, must not become part of a script.
#[test]
fn no_script_of_the_action_has_an_expression() {
    let action = yaml(ACTION);
    let steps = action["runs"]["steps"].as_sequence().unwrap();
    let scripts: Vec<&str> = steps.iter().filter_map(|step| step["run"].as_str()).collect();
    assert_eq!(scripts.len(), 2);
    for script in scripts {
        assert!(
            script.starts_with("bash \"$GITHUB_ACTION_PATH/gate.sh\"") && !script.contains("${{"),
            "{script}"
        );
    }
    // Each input is used, and each used input exists.
    let text = fs::read_to_string(repository().join(ACTION)).unwrap();
    for input in keys(&action["inputs"]) {
        assert!(text.contains(&format!("inputs.{input}")), "{input} is not used");
    }
    let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    for rest in text.split("inputs.").skip(1) {
        let name = rest.split(|c| !is_name(c)).next().unwrap();
        assert!(keys(&action["inputs"]).contains(&name.to_owned()), "there is no input {name}");
    }
}

#[test]
fn the_page_shows_inputs_and_variables_that_exist() {
    let blocks = blocks_of_the_page();
    let (action, template) = (yaml(ACTION), yaml(TEMPLATE));
    let workflow: Value = serde_yaml_ng::from_str(&blocks[0]).unwrap();
    let steps = workflow["jobs"]["counts"]["steps"].as_sequence().unwrap();
    let ours =
        |step: &&Value| step["uses"].as_str().is_some_and(|uses| uses.contains("integrations/github-action"));
    let step = steps.iter().find(ours).unwrap();
    for input in keys(&step["with"]) {
        assert!(action["inputs"].get(&*input).is_some(), "there is no input {input}");
    }
    for (name, input) in action["inputs"].as_mapping().unwrap() {
        assert!(input["required"] != true || step["with"].get(name).is_some(), "{name:?} is missing");
    }
    let pipeline: Value = serde_yaml_ng::from_str(&blocks[1]).unwrap();
    assert_eq!(pipeline["counts"]["extends"], ".cctrewrite-bench");
    for variable in keys(&pipeline["counts"]["variables"]) {
        assert!(template[".cctrewrite-bench"]["variables"].get(&*variable).is_some(), "{variable}");
    }
    // The table names all of both.
    let page = fs::read_to_string(repository().join("docs/ci/pull-requests.md")).unwrap();
    for name in [keys(&action["inputs"]), keys(&template[".cctrewrite-bench"]["variables"])].concat() {
        assert!(page.contains(&format!("`{name}`")), "the page does not name {name}");
    }
}

/// Runs a checker that a developer may have.
fn check(program: &str, folder: &Path, arguments: &[&str]) {
    let Ok(output) = Command::new(program).current_dir(folder).args(arguments).output() else {
        eprintln!("skipped: {program} is not on the PATH");
        return;
    };
    let said =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
}

/// The schemas of both hosts, and actionlint on the workflow of the page.
#[test]
fn checkers_of_both_hosts_find_nothing() {
    let folder = repository();
    let program = "check-jsonschema";
    check(program, &folder, &["--builtin-schema", "vendor.github-actions", ACTION]);
    let gitlab = ["--builtin-schema", "vendor.gitlab-ci", "--data-transform", "gitlab-ci", TEMPLATE];
    check(program, &folder, &gitlab);

    // actionlint looks at the inputs and outputs of actions in the same repository.
    let scratch = scratch();
    let workflow =
        blocks_of_the_page()[0].replace("OWNER/cctrewrite/integrations/github-action@VERSION", "./action");
    assert!(workflow.contains("uses: ./action\n"), "{workflow}");
    fs::create_dir(scratch.path().join(".git")).unwrap();
    put(scratch.path(), ".github/workflows/counts.yml", workflow.as_bytes());
    put(scratch.path(), "action/action.yml", &fs::read(folder.join(ACTION)).unwrap());
    check("actionlint", scratch.path(), &["-no-color"]);
}
