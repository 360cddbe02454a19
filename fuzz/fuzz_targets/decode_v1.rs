#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| yatta_fuzz::targets::decode_v1(data));
