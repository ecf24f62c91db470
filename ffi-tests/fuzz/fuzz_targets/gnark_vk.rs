#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| groth16_fuzz::gnark_vk(data));
