//! The summary of a subject's measurements on one input.

use super::subject::{Sample, Subject};
use crate::measure::Spread;

/// A subject on an input.
pub struct Row {
    /// The subject.
    pub subject: Subject,
    /// Wall-clock times.
    pub seconds: Spread,
    /// Processor times.
    pub cpu_seconds: Option<Spread>,
    /// The maximum over all rounds, in KiB.
    pub peak_kib: Option<u64>,
    /// Ratio of bytes written to bytes read.
    pub growth: f64,
}

impl Row {
    /// Summarises samples; `None` without any.
    pub fn of(subject: Subject, samples: &[Sample]) -> Option<Row> {
        let seconds: Vec<f64> = samples.iter().flat_map(|sample| sample.seconds.iter().copied()).collect();
        let cpu_seconds: Vec<f64> = samples.iter().filter_map(|sample| sample.cpu_seconds).collect();
        Some(Row {
            subject,
            seconds: Spread::of(&seconds)?,
            cpu_seconds: Spread::of(&cpu_seconds),
            peak_kib: samples.iter().filter_map(|sample| sample.peak_kib).max(),
            growth: samples.first()?.growth,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_the_times_of_all_samples() {
        let sample = |seconds: &[f64]| Sample {
            seconds: seconds.to_vec(),
            cpu_seconds: None,
            peak_kib: Some(seconds.len() as u64),
            growth: 1.5,
            left: 0,
        };
        let row = Row::of(Subject::OneThread, &[sample(&[1.0, 5.0]), sample(&[2.0])]).unwrap();
        assert_eq!(row.seconds, Spread { median: 2.0, least: 1.0, most: 5.0 });
        assert_eq!((row.peak_kib, row.cpu_seconds), (Some(2), None));
        assert!(Row::of(Subject::OneThread, &[]).is_none());
    }
}
