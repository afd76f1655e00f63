//! The trace's file and its writers: a thread of this library or, if that falls behind, the thread
//! that has something to write.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use cct_events::scan::Familiar;
use cct_events::{Frame, FrameKind, FrameWriter};

use super::private;
use super::record::Buffer;
use super::static_data::StaticData;

/// Maximum number of buffers on their way to the file, and of empty ones.
const WAITING: usize = 32;

/// A job for the writer.
#[derive(Debug)]
pub enum Job {
    /// Events: the thread's number, the number of the chunk, and the buffer.
    Events(u32, u32, Buffer),
    /// Anything else.
    Frame(Frame),
}

#[derive(Debug)]
struct Target {
    writer: FrameWriter<File>,
    trouble: Option<String>,
}

#[derive(Debug)]
struct SharedOutput {
    target: Mutex<Target>,
    known: Mutex<StaticData>,
    /// The methods whose static data is completely in the file.
    familiar: Familiar,
    empty: Mutex<Vec<Buffer>>,
    /// Events kept in memory until the end.
    kept: Mutex<DeferredEvents>,
}

/// Events of threads that are written in the end.
#[derive(Debug, Default)]
struct DeferredEvents {
    chunks: Vec<(u32, u32, Buffer)>,
    bytes: usize,
    /// Maximum number of bytes.
    most: usize,
}

/// The trace's file.
#[derive(Debug)]
pub struct Output {
    shared: Arc<SharedOutput>,
    queue: Mutex<Option<SyncSender<Job>>>,
    writer: Mutex<Option<JoinHandle<()>>>,
}

impl Output {
    /// Creates the file, for its owner alone, and starts the writer. The first `memory` bytes of
    /// events are kept in memory; later ones are written at once.
    pub fn create(path: &Path, provenance: &str, known: StaticData, memory: usize) -> io::Result<Output> {
        let writer = FrameWriter::new(private::create(path)?, provenance)?;
        let target = Mutex::new(Target { writer, trouble: None });
        let kept = Mutex::new(DeferredEvents { most: memory, ..DeferredEvents::default() });
        let known = Mutex::new(known);
        let shared = Arc::new(SharedOutput {
            target,
            known,
            familiar: Familiar::new(),
            empty: Mutex::default(),
            kept,
        });
        let (queue, jobs) = sync_channel(WAITING);
        let of_writer = shared.clone();
        let writer = std::thread::Builder::new()
            .name("cctrewrite trace".to_owned())
            .spawn(move || write_all(&of_writer, &jobs))?;
        Ok(Output { shared, queue: Mutex::new(Some(queue)), writer: Mutex::new(Some(writer)) })
    }

    /// Writes events of a thread's chunk now.
    pub fn write_now(&self, thread: u32, sequence: u32, bytes: &[u8]) {
        self.shared.events(thread, sequence, bytes);
    }

    /// An empty buffer of this size, if there is one.
    pub fn buffer(&self, size: usize) -> Option<Buffer> {
        let mut empty = self.shared.empty.lock().unwrap_or_else(PoisonError::into_inner);
        let place = empty.iter().position(|buffer| buffer.size() == size)?;
        Some(empty.swap_remove(place))
    }

    /// Passes a job to the writer, or does it here if the writer falls behind.
    pub fn send(&self, job: Job) {
        let Some(job) = self.shared.keep(job) else { return };
        let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let sent = queue.map_or(Err(None), |queue| {
            queue.try_send(job).map_err(|e| match e {
                TrySendError::Full(job) | TrySendError::Disconnected(job) => Some(job),
            })
        });
        if let Err(Some(job)) = sent {
            self.shared.job(job);
        }
    }

    /// Writes the events kept in memory, on all processors.
    pub fn write_kept(&self) {
        let mut kept = self.shared.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.most = 0;
        let chunks = Mutex::new(std::mem::take(&mut kept.chunks).into_iter());
        drop(kept);
        let write = || {
            loop {
                let next = chunks.lock().unwrap_or_else(PoisonError::into_inner).next();
                let Some((thread, sequence, buffer)) = next else { break };
                self.shared.events(thread, sequence, buffer.bytes());
            }
        };
        std::thread::scope(|scope| {
            // The current thread writes too; without further threads it writes everything.
            let more = std::thread::available_parallelism().map_or(0, |processors| processors.get() - 1);
            for _ in 0..more {
                if std::thread::Builder::new().spawn_scoped(scope, write).is_err() {
                    break;
                }
            }
            write();
        });
    }

    /// Waits until everything is written; returns the first error.
    pub fn close(&self) -> Option<String> {
        drop(self.queue.lock().unwrap_or_else(PoisonError::into_inner).take());
        if let Some(writer) = self.writer.lock().unwrap_or_else(PoisonError::into_inner).take() {
            // A writer that panicked has written all that it could.
            let _ = writer.join();
        }
        let target = self.shared.target.lock().unwrap_or_else(PoisonError::into_inner);
        target.trouble.clone()
    }
}

fn write_all(shared: &SharedOutput, jobs: &Receiver<Job>) {
    while let Ok(job) = jobs.recv() {
        shared.job(job);
    }
}

impl SharedOutput {
    /// Keeps events in memory if there is room; otherwise returns them.
    fn keep(&self, job: Job) -> Option<Job> {
        let Job::Events(thread, sequence, buffer) = job else { return Some(job) };
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.bytes + buffer.size() > kept.most {
            return Some(Job::Events(thread, sequence, buffer));
        }
        kept.bytes += buffer.size();
        kept.chunks.push((thread, sequence, buffer));
        None
    }

    fn job(&self, job: Job) {
        match job {
            Job::Events(thread, sequence, buffer) => {
                self.events(thread, sequence, buffer.bytes());
                let mut empty = self.empty.lock().unwrap_or_else(PoisonError::into_inner);
                if empty.len() < WAITING {
                    empty.push(buffer);
                }
            }
            Job::Frame(frame) => self.frame(&frame),
        }
    }

    /// Writes events, preceded by the static data of classes that are new to the file.
    fn events(&self, thread: u32, sequence: u32, bytes: &[u8]) {
        let news = self.familiar.news(bytes);
        if !news.is_empty() {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(classes) = known.classes(&news) {
                self.frame(&classes);
            }
            // After the frame: a thread that finds them familiar may write events of them.
            news.iter().for_each(|&method| self.familiar.add(method));
        }
        self.frame(&Frame::new(FrameKind::Events, thread, sequence, bytes));
    }

    /// Writes a frame. Remembers the first error and writes nothing after it, which readers could
    /// not find.
    fn frame(&self, frame: &Frame) {
        let mut target = self.target.lock().unwrap_or_else(PoisonError::into_inner);
        if target.trouble.is_none()
            && let Err(e) = target.writer.frame(frame)
        {
            target.trouble = Some(e.to_string());
        }
    }
}
