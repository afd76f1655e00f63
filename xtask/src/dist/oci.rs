//! A container image as a tar archive of an OCI image layout, written without a daemon.
//!
//! It has one layer: the command, its libraries and their licences, below `/usr/local`. It has no C
//! library and no JDK: a Dockerfile copies its files into an image that has them (`COPY --from`,
//! `packaging/Dockerfile`).

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::archive::{gzip, tar};
use super::checksums::sha_256;
use super::date::SourceDate;
use super::packages::VERSION;
use super::tree::{DATA, Tree};

/// Builds the tar archive of the image.
///
/// # Errors
/// Fails if a path is too long for a tar archive.
pub fn layout(tree: &Tree, date: SourceDate) -> Result<Vec<u8>> {
    let mut layout = Layout::default();
    let layer = tar(tree, "", date)?;
    let created = date.rfc_3339();
    let labels = json!({
        "org.opencontainers.image.title": "cctrewrite",
        "org.opencontainers.image.version": VERSION,
        "org.opencontainers.image.licenses": "Apache-2.0",
        "org.opencontainers.image.description": "exact calling-context trees of Java programs: the command and its libraries, to be copied into images with a JDK",
        "org.opencontainers.image.created": created,
    });
    let config = json!({
        "created": created,
        "architecture": "amd64",
        "os": "linux",
        "config": {
            "Entrypoint": ["/usr/local/bin/cctrewrite"],
            "Env": ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"],
            "Labels": labels,
        },
        "rootfs": { "type": "layers", "diff_ids": [format!("sha256:{}", sha_256(&layer))] },
        "history": [{ "created": created, "created_by": "cargo xtask dist" }],
    });
    let config = layout.add_json("application/vnd.oci.image.config.v1+json", &config)?;
    let layer = layout.add("application/vnd.oci.image.layer.v1.tar+gzip", gzip(&layer)?);
    let manifest = json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": config,
        "layers": [layer],
        "annotations": labels,
    });
    let mut manifest = layout.add_json("application/vnd.oci.image.manifest.v1+json", &manifest)?;
    manifest["platform"] = json!({ "architecture": "amd64", "os": "linux" });
    manifest["annotations"] = json!({ "org.opencontainers.image.ref.name": VERSION });
    let index = json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.index.v1+json",
        "manifests": [manifest],
    });
    layout.files.add("index.json", DATA, text(&index)?);
    layout.files.add("oci-layout", DATA, text(&json!({ "imageLayoutVersion": "1.0.0" }))?);
    tar(&layout.files, "", date)
}

/// The files of an image layout.
#[derive(Default)]
struct Layout {
    files: Tree,
}

impl Layout {
    /// Adds a blob; returns the descriptor that refers to it.
    fn add(&mut self, media_type: &str, bytes: Vec<u8>) -> Value {
        let (size, hash) = (bytes.len(), sha_256(&bytes));
        self.files.add(&format!("blobs/sha256/{hash}"), DATA, bytes);
        json!({ "mediaType": media_type, "digest": format!("sha256:{hash}"), "size": size })
    }

    fn add_json(&mut self, media_type: &str, document: &Value) -> Result<Value> {
        Ok(self.add(media_type, text(document)?))
    }
}

fn text(document: &Value) -> Result<Vec<u8>> {
    serde_json::to_vec(document).context("JSON")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::io::Read as _;

    use flate2::read::GzDecoder;

    use super::super::tree::PROGRAM;
    use super::*;

    #[test]
    fn each_part_is_found_by_its_hash() {
        let mut tree = Tree::default();
        tree.add("usr/local/bin/cctrewrite", PROGRAM, b"command".to_vec());
        let date = SourceDate::get().unwrap();
        let bytes = layout(&tree, date).unwrap();
        assert_eq!(bytes, layout(&tree, date).unwrap());
        let mut files = BTreeMap::new();
        for entry in tar::Archive::new(&bytes[..]).entries().unwrap() {
            let mut entry = entry.unwrap();
            let (mut bytes, name) = (Vec::new(), entry.path().unwrap().to_str().unwrap().to_owned());
            entry.read_to_end(&mut bytes).unwrap();
            files.insert(name, bytes);
        }
        let blob = |reference: &Value| {
            let hash = reference["digest"].as_str().unwrap().strip_prefix("sha256:").unwrap();
            let bytes = &files[&format!("blobs/sha256/{hash}")];
            assert_eq!(
                (sha_256(bytes), bytes.len() as u64),
                (hash.to_owned(), reference["size"].as_u64().unwrap())
            );
            bytes.clone()
        };
        let json = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).unwrap();
        let manifest = json(&blob(&json(&files["index.json"])["manifests"][0]));
        let config = json(&blob(&manifest["config"]));
        let mut layer = Vec::new();
        GzDecoder::new(&blob(&manifest["layers"][0])[..]).read_to_end(&mut layer).unwrap();
        assert_eq!(config["rootfs"]["diff_ids"][0], format!("sha256:{}", sha_256(&layer)));
        let mut layer = tar::Archive::new(&layer[..]);
        let last = layer.entries().unwrap().last().unwrap().unwrap();
        assert_eq!(
            last.path().unwrap().to_str(),
            config["config"]["Entrypoint"][0].as_str().unwrap().strip_prefix('/')
        );
    }
}
