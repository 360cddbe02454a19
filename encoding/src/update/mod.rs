//! Tools that work on the bytes of updates and build no document.

use crate::error::Error;

macro_rules! stubs {
    ($($(#[$doc:meta])* fn $name:ident($($arg:ident: $t:ty),*);)*) => {$(
        $(#[$doc])*
        pub fn $name($($arg: $t),*) -> Result<Vec<u8>, Error> {
            $(let _ = $arg;)*
            unimplemented!()
        }
    )*};
}

stubs! {
    /// Merges updates of the first format.
    fn merge_updates_v1(updates: &[impl AsRef<[u8]>]);
    /// Merges updates of the second format.
    fn merge_updates_v2(updates: &[impl AsRef<[u8]>]);
    /// Leaves out of an update what a state vector covers.
    fn diff_updates_v1(update: &[u8], state_vector: &[u8]);
    /// Leaves out of an update what a state vector covers.
    fn diff_updates_v2(update: &[u8], state_vector: &[u8]);
    /// Computes the state vector of what an update holds.
    fn encode_state_vector_from_update_v1(update: &[u8]);
    /// Computes the state vector of what an update holds.
    fn encode_state_vector_from_update_v2(update: &[u8]);
    /// Rewrites an update of the first format in the second.
    fn convert_v1_to_v2(update: &[u8]);
    /// Rewrites an update of the second format in the first.
    fn convert_v2_to_v1(update: &[u8]);
}
