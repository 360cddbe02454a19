#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| yatta_fuzz::targets::merge(data));
