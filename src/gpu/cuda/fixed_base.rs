//! Multiples of a generator on a device, for development keys. `cuda/kernel/fixed_base_kernels.h` says what the kernels do.

use super::context::Stream;
use super::gpu::Loaded;
use super::launch::Symbol;
use super::memory::{Arena, DeviceVec, Plain};
use super::module::{Argument, Kernel, Shape};
use super::msm_plan::Group;
use super::staging::Staging;
use crate::error::{Error, Result};
use crate::math::curve::{Affine, CurveField};
use crate::math::fp::Fp;
use crate::math::fp2::Fp2;
use crate::math::fr::Scalar;

/// A field whose points the kernels know.
pub trait DeviceField: CurveField + Plain {
    /// Of its curve.
    const GROUP: Group;
}

impl DeviceField for Fp {
    const GROUP: Group = Group::G1;
}

impl DeviceField for Fp2 {
    const GROUP: Group = Group::G2;
}

/// Points of the table: 256 multiples in each of 32 windows.
const TABLE_POINTS: usize = 32 * 256;
const TABLE_THREADS: u32 = 128;
/// Threads of the products' kernel: `G16_FIXED_THREADS`.
const PRODUCT_THREADS: u32 = 256;
/// Scalars that are done at once: enough to fill a device.
const PIECE: usize = 1 << 20;

struct Kernels {
    windows: Kernel,
    table: Kernel,
    product: Kernel,
    normalise: Kernel,
}

/// Memory of one piece.
struct Buffers<F> {
    points: DeviceVec<Affine<F>>,
    zz: DeviceVec<F>,
    zzz: DeviceVec<F>,
    scratch: DeviceVec<F>,
}

impl Kernels {
    fn new(loaded: &Loaded, group: Group) -> Result<Self> {
        let of = |g1: &'static str, g2: &'static str| {
            let (file, name) = match group {
                Group::G1 => ("fixed_base_g1", g1),
                Group::G2 => ("fixed_base_g2", g2),
            };
            loaded.module.kernel(Symbol { file, name })
        };
        Ok(Self {
            windows: of("g16_fixed_windows_g1", "g16_fixed_windows_g2")?,
            table: of("g16_fixed_table_g1", "g16_fixed_table_g2")?,
            product: of("g16_fixed_base_g1", "g16_fixed_base_g2")?,
            normalise: of("g16_normalise_g1", "g16_normalise_g2")?,
        })
    }
}

impl<F: DeviceField> Buffers<F>
where
    Affine<F>: Plain,
{
    fn bytes(count: usize) -> u64 {
        Arena::bytes_for::<Affine<F>>(count) + 3 * Arena::bytes_for::<F>(count)
    }

    fn new(arena: &mut Arena, count: usize) -> Result<Self> {
        let points = arena.take(count)?;
        Ok(Self { points, zz: arena.take(count)?, zzz: arena.take(count)?, scratch: arena.take(count)? })
    }

    fn normalise(&self, kernels: &Kernels, count: usize, stream: &Stream) -> Result<()> {
        let count = number(count)?;
        let each = if count < 1 << 16 { 8 } else { 1 << (count.ilog2() - 15).min(6) };
        let shape = Shape { blocks: count.div_ceil(128 * each), threads: 128, shared_bytes: 0 };
        let arguments = [
            Argument::element(&self.points, 0)?,
            Argument::element(&self.zz, 0)?,
            Argument::element(&self.zzz, 0)?,
            Argument::element(&self.scratch, 0)?,
            Argument::Number(count),
            Argument::Number(each),
        ];
        // SAFETY: the arguments are the kernel's parameters; all vectors have `count` elements and stay until the caller has
        // waited for the stream.
        unsafe { kernels.normalise.launch(stream, shape, &arguments) }
    }
}

/// The generator times each scalar, canonical; on a stream of its own.
pub(super) fn multiples<F: DeviceField>(loaded: &Loaded, scalars: &[Scalar]) -> Result<Vec<Affine<F>>>
where
    Affine<F>: Plain,
{
    if scalars.is_empty() {
        return Ok(Vec::new());
    }
    let kernels = Kernels::new(loaded, F::GROUP)?;
    let (context, stream) = (&loaded.context, Stream::new(&loaded.context)?);
    let mut staging = Staging::new(context)?;
    let piece = scalars.len().min(PIECE);
    let bytes = Buffers::<F>::bytes(TABLE_POINTS)
        + Arena::bytes_for::<Affine<F>>(1)
        + Buffers::<F>::bytes(piece)
        + Arena::bytes_for::<Scalar>(piece);
    let mut arena = loaded.with_room(|| Arena::new(context, bytes))?;
    let result = multiples_in::<F>(&kernels, &mut arena, &mut staging, piece, scalars, &stream);
    // The secrets of a trapdoor were there, also after an error.
    let wiped = arena.wipe(&stream).and_then(|()| stream.synchronize()).and_then(|()| staging.wipe());
    result.and_then(|points| wiped.map(|()| points))
}

fn multiples_in<F: DeviceField>(
    kernels: &Kernels,
    arena: &mut Arena,
    staging: &mut Staging,
    piece: usize,
    scalars: &[Scalar],
    stream: &Stream,
) -> Result<Vec<Affine<F>>>
where
    Affine<F>: Plain,
{
    let table = fill_table::<F>(kernels, arena, staging, stream)?;
    let buffers = Buffers::<F>::new(arena, piece)?;
    let on_device = arena.take(piece)?;
    let mut out = vec![Affine::INFINITY; scalars.len()];
    for (out, scalars) in out.chunks_mut(piece).zip(scalars.chunks(piece)) {
        staging.upload(&on_device, scalars, stream)?;
        let count = number(scalars.len())?;
        let shape = Shape { blocks: count.div_ceil(PRODUCT_THREADS), threads: PRODUCT_THREADS, shared_bytes: 0 };
        let arguments = [
            Argument::element(&buffers.points, 0)?,
            Argument::element(&buffers.zz, 0)?,
            Argument::element(&buffers.zzz, 0)?,
            Argument::element(&table, 0)?,
            Argument::element(&on_device, 0)?,
            Argument::Number(count),
        ];
        // SAFETY: as for `normalise`; the table is full.
        unsafe { kernels.product.launch(stream, shape, &arguments) }?;
        buffers.normalise(kernels, scalars.len(), stream)?;
        buffers.points.download(out, stream)?;
    }
    Ok(out)
}

fn fill_table<F: DeviceField>(
    kernels: &Kernels,
    arena: &mut Arena,
    staging: &mut Staging,
    stream: &Stream,
) -> Result<DeviceVec<Affine<F>>>
where
    Affine<F>: Plain,
{
    let buffers = Buffers::<F>::new(arena, TABLE_POINTS)?;
    let base = staging.bring(arena, &[F::GENERATOR], stream)?;
    let table = Argument::element(&buffers.points, 0)?;
    let one_warp = Shape { blocks: 1, threads: 32, shared_bytes: 0 };
    // SAFETY: the table has 32 windows of 256 points.
    unsafe { kernels.windows.launch(stream, one_warp, &[table, Argument::element(&base, 0)?]) }?;
    let blocks = number(TABLE_POINTS)?.div_ceil(TABLE_THREADS);
    let shape = Shape { blocks, threads: TABLE_THREADS, shared_bytes: 0 };
    let arguments = [table, Argument::element(&buffers.zz, 0)?, Argument::element(&buffers.zzz, 0)?];
    // SAFETY: as above; zz and zzz are as long.
    unsafe { kernels.table.launch(stream, shape, &arguments) }?;
    buffers.normalise(kernels, TABLE_POINTS, stream)?;
    Ok(buffers.points)
}

fn number(count: usize) -> Result<u32> {
    u32::try_from(count).map_err(|_| Error::internal("2^32 points at once"))
}
