//! Sizes and offsets of the structs of the ABI, as Rust has them.

use std::fmt::Write;

use groth16::ffi::circuit::{groth16_circuit_info, groth16_circuit_options, groth16_matrix};
use groth16::ffi::engine::{groth16_engine_info, groth16_engine_options};
use groth16::ffi::job::{groth16_job_options, groth16_progress, groth16_scalars};
use groth16::ffi::library::groth16_device_info;
use groth16::ffi::pk::{groth16_bits, groth16_pk_info, groth16_pk_options};

/// One struct: name, size, and name and offset of each field, in order.
#[derive(Clone, Debug)]
pub struct StructLayout {
    /// Its name in C.
    pub name: &'static str,
    /// Bytes.
    pub size: usize,
    /// Alignment in bytes.
    pub align: usize,
    /// Name, offset and size of each field.
    pub fields: Vec<(&'static str, usize, usize)>,
}

macro_rules! layouts {
    ($($name:ident { $($field:ident),* $(,)? })*) => {
        /// All structs, in the order of the header.
        pub fn structs() -> Vec<StructLayout> {
            fn size_behind<T, F>(_: fn(&T) -> &F) -> usize {
                size_of::<F>()
            }
            // A struct pattern without `..` names every field: one that is added and not listed here fails to compile.
            $({ let _ = |value: &$name| { let $name { $($field: _),* } = value; }; })*
            vec![$(StructLayout {
                name: stringify!($name),
                size: size_of::<$name>(),
                align: align_of::<$name>(),
                fields: vec![$((
                    stringify!($field),
                    std::mem::offset_of!($name, $field),
                    size_behind(|value: &$name| &value.$field),
                )),*],
            }),*]
        }
    };
}

layouts! {
    groth16_device_info { struct_size, name, uuid, pci_bus_id, memory_bytes, free_bytes, compute_major, compute_minor }
    groth16_engine_options {
        struct_size, device_uuids, num_device_uuids, backend, jobs_per_device, cpu_threads, g2_placement,
        max_queued_jobs, host_bytes_limit, pinned_bytes_limit, device_bytes_limit, log, log_user, log_level, reserved,
    }
    groth16_engine_info {
        struct_size, backend, num_devices, jobs_per_device, cpu_threads, host_bytes_limit, pinned_bytes_limit,
        device_bytes_limit, host_bytes_used, pinned_bytes_used, device_bytes_used, queued_jobs, running_jobs,
    }
    groth16_matrix { row_starts, columns, values }
    groth16_circuit_options { struct_size, path, data, data_len, a, b, c, num_rows, num_inputs, num_aux }
    groth16_circuit_info { struct_size, num_rows, num_inputs, num_aux, num_terms }
    groth16_bits { words, count }
    groth16_pk_options {
        struct_size, path, data, data_len, circuit, a_aux, b_inputs, b_aux, format, point_checks, blake2b, progress,
        progress_user, vk_path, vk_data, vk_data_len,
    }
    groth16_pk_info {
        struct_size, num_inputs, num_aux, domain_size, num_rows_added, host_bytes, device_bytes, format,
        unconstrained_inputs,
    }
    groth16_scalars { data, count }
    groth16_job_options {
        struct_size, circuit, a, b, c, inputs, aux, r, s, scalar_form, priority, proof_format, skip_self_check, event,
        event_user,
    }
    groth16_progress {
        struct_size, state, result, device, abc_released, retries, queued_ns, prepare_ns, device_ns, finish_ns,
    }
}

/// The text that `c/smoke.c` prints of the header's structs.
pub fn text() -> String {
    let mut out = String::new();
    for layout in structs() {
        let _ = writeln!(out, "{} size {} align {}", layout.name, layout.size, layout.align);
        for (field, offset, size) in layout.fields {
            let _ = writeln!(out, "  {field} {offset} {size}");
        }
    }
    out
}
