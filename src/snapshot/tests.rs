//! Tests of snapshots.
