//! The kernels of a proof: quotient, multi-scalar multiplications, sums.

use std::sync::Arc;

use super::context::{Event, Stream};
use super::gpu::{Gpu, Loaded, Uploaded};
use super::job::JobVectors;
use super::memory::{Arena, DeviceVec, Plain};
use super::module::{Argument, Shape};
use super::msm::{self, MsmBuffers};
use super::msm_plan::{Group, Msm, Task};
use super::staging::Staging;
use super::steps::{self, Place, STREAM_BUFFERS, Scalars, Section, Step};
use super::transforms::QuotientVectors;
use crate::error::{Error, Result, Status};
use crate::gpu::ops::{self, KeyPoints, QueryScalars, ROW_NAMES, Sums};
use crate::math::curve::{CurveField, Jacobian};
use crate::math::g1::{G1, G1Affine};
use crate::math::g2::{G2, G2Affine};

/// The compute lane of a GPU.
pub struct Worker {
    gpu: Arc<Gpu>,
    /// Gone after a reset.
    lane: Option<Lane>,
}

/// What belongs to one context.
struct Lane {
    loaded: Arc<Loaded>,
    /// Sections go beside each other, so that the short runs of one fill what those of others leave idle; the first stream has
    /// the quotient, and everything where points are streamed.
    compute: [Stream; SECTIONS],
    /// Brings streamed points.
    feed: Stream,
    staging: Option<Staging>,
    workspace: Option<Arena>,
}

/// How a proof's work is cut.
struct Plan {
    steps: Vec<Step>,
    /// Bytes of the workspace of each stream's largest run.
    scratch: [u64; SECTIONS],
    /// Points of a buffer for streamed ones; 0 where none is streamed.
    window: usize,
    /// Results in each group.
    results: [usize; 2],
}

/// The workspace of one proof, cut up.
struct Scratch {
    runs: [DeviceVec<u8>; SECTIONS],
    g1: DeviceVec<G1>,
    g2: DeviceVec<G2>,
    streamed: [DeviceVec<G2Affine>; STREAM_BUFFERS],
}

const SECTIONS: usize = Section::ALL.len();
/// Runs are not cut smaller than this; what needs less finds no room for anything else either.
const LEAST_LOG: u32 = 12;
const MOST_LOG: u32 = 26;

impl Worker {
    /// The one for a GPU.
    pub fn new(gpu: Arc<Gpu>) -> Self {
        Self { gpu, lane: None }
    }

    /// Gives the GPU a new context.
    pub fn reset(&mut self) -> Result<()> {
        self.lane = None;
        self.gpu.reset()
    }

    /// Gives the GPU up, with all that it holds.
    pub fn retire(&mut self) {
        self.lane = None;
        self.gpu.close();
    }

    /// Runs the kernels of a job, whose points and scalars are also here on the host, where streamed points come from.
    /// `stopped` is asked before each run is handed to the device, which for a resident key is long before it runs; an answer of
    /// true ends it with `Status::Cancelled`. The result of one job is the same
    /// whatever memory there is. `DeviceMemory` where there is not enough for the smallest cut; of rows that were lent, `Invalid`
    /// where a scalar is not below r, and `Unsatisfied`.
    pub fn run(
        &mut self,
        mut job: Uploaded,
        points: &KeyPoints<'_>,
        queries: [&QueryScalars; 3],
        stopped: impl Fn() -> bool,
    ) -> Result<Sums> {
        let limit = self.gpu.workspace_limit();
        if self.lane.as_ref().is_none_or(|lane| !Arc::ptr_eq(&lane.loaded, &job.loaded)) {
            self.lane = Some(Lane::new(&job.loaded)?);
        }
        let lane = self.lane.as_mut().ok_or_else(|| Error::internal("no lane"))?;
        let result = lane.run(&job, points, queries, limit, &stopped).and_then(|sums| Ok((sums, lane.fault(&job)?)));
        // Whatever happened, nothing of the job's memory is in use when it is given back.
        let ended = lane.wait().and_then(|()| lane.wipe(&mut job));
        let sums = result.and_then(|sums| ended.map(|()| sums));
        let sums = sums.map_err(|error| error.of_device().at(format!("{:?}", self.gpu)));
        if sums.as_ref().is_err_and(|error| error.status() == Status::Device) {
            self.lane = None;
        }
        sums.and_then(|(sums, fault)| fault.map_or(Ok(sums), Err))
    }
}

impl Drop for Lane {
    /// A job that failed may have left something in the workspace. Where the device fails, its memory is lost.
    fn drop(&mut self) {
        let _ = self.drop_workspace();
    }
}

impl std::fmt::Debug for Worker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Worker of {:?}", self.gpu)
    }
}

impl Lane {
    fn new(loaded: &Arc<Loaded>) -> Result<Self> {
        let stream = || Stream::new(&loaded.context);
        let compute = [stream()?, stream()?, stream()?, stream()?, stream()?];
        Ok(Self { loaded: Arc::clone(loaded), compute, feed: stream()?, staging: None, workspace: None })
    }

    /// Waits for all streams.
    fn wait(&self) -> Result<()> {
        let all = self.compute.iter().chain([&self.feed]);
        // All of them, also when one has failed.
        let ended: Vec<Result<()>> = all.map(Stream::synchronize).collect();
        ended.into_iter().collect()
    }

    fn run(
        &mut self,
        job: &Uploaded,
        points: &KeyPoints<'_>,
        queries: [&QueryScalars; 3],
        limit: u64,
        stopped: &impl Fn() -> bool,
    ) -> Result<Sums> {
        let (plan, scratch) = self.plan(job, queries, limit)?;
        let go_on = || if stopped() { Err(Error::new(Status::Cancelled, "stopped between kernels")) } else { Ok(()) };
        go_on()?;
        job.vectors.pad(&self.compute[0])?;
        self.check_rows(job)?;
        self.quotient(job)?;
        let mut feeder = Feeder { read: [None, None], staging: self.staging.take() };
        let mut ends: Vec<(Section, usize)> = Vec::with_capacity(plan.steps.len());
        let mut counts = [0, 0];
        let mut carry_out = |step: &Step| {
            go_on()?;
            match step {
                Step::Bring { section, points: window, buffer } => {
                    let to = &scratch.streamed[*buffer];
                    feeder.bring(self, *section, points, window.clone(), to, *buffer)?;
                }
                Step::Sum { section, place, scalars } => {
                    let group = group_of(*section);
                    let index = &mut counts[group as usize];
                    self.sum(job, &scratch, *section, *place, scalars, *index)?;
                    if let Place::Streamed { buffer, .. } = place {
                        feeder.read[*buffer] = Some(self.compute[0].record()?);
                    }
                    ends.push((*section, *index));
                    *index += 1;
                }
            }
            Ok(())
        };
        let carried_out: Result<()> = plan.steps.iter().try_for_each(&mut carry_out);
        // Also after an error: what it staged may still be read.
        self.staging = feeder.staging.take();
        carried_out?;
        for stream in &self.compute[1..] {
            self.compute[0].wait(&stream.record()?)?;
        }
        collect(&scratch, counts, &ends, job.with_b2, &self.compute[0])
    }

    /// The largest cut that finds room, with its memory.
    fn plan(&mut self, job: &Uploaded, queries: [&QueryScalars; 3], limit: u64) -> Result<(Plan, Scratch)> {
        let mut refused = None;
        for log in (LEAST_LOG..=MOST_LOG).rev() {
            let most = 1usize << log;
            // A cut that is longer than all there is gives the same as the next.
            let longest = job.shape.queries.iter().copied().max().unwrap_or(0).max(job.shape.domain_size());
            if log > LEAST_LOG && most / 2 >= longest {
                continue;
            }
            let plan = self.cut(job, queries, most);
            let bytes = plan.bytes();
            if bytes > limit {
                refused = Some(Error::new(
                    Status::DeviceMemory,
                    format!("runs of 2^{log} take {bytes} bytes, the limit for working memory is {limit}"),
                ));
                continue;
            }
            match self.reserve(bytes.max(1)) {
                Ok(()) => {
                    let scratch = self.lay(&plan)?;
                    return Ok((plan, scratch));
                }
                Err(error) if error.status() == Status::DeviceMemory => refused = Some(error),
                Err(error) => return Err(error),
            }
        }
        let refused = refused.unwrap_or_else(|| Error::internal("no cut was tried"));
        Err(refused.at(format!("the smallest workspace, with runs of 2^{LEAST_LOG}, finds no room")))
    }

    fn cut(&self, job: &Uploaded, queries: [&QueryScalars; 3], most: usize) -> Plan {
        let streamed = job.key.is_none();
        let steps = steps::steps(&job.shape, queries, most, streamed, job.with_b2);
        let (mut scratch, mut window, mut results) = ([0; SECTIONS], 0, [0, 0]);
        for step in &steps {
            match step {
                Step::Bring { points, .. } => window = window.max(points.len()),
                Step::Sum { section, place, scalars } => {
                    let scratch = &mut scratch[stream_of(*section, *place)];
                    *scratch = self.msm(*section, scalars).workspace_bytes().max(*scratch);
                    results[group_of(*section) as usize] += 1;
                }
            }
        }
        Plan { steps, scratch, window, results }
    }

    fn msm(&self, section: Section, scalars: &Scalars) -> Msm {
        let (sum, picks) = match scalars {
            Scalars::Quotient(_) => (false, false),
            Scalars::Rest(_) => (false, true),
            Scalars::Ones(_) => (true, true),
        };
        let count = u32::try_from(scalars.count()).unwrap_or(u32::MAX);
        self.loaded.msm.plan(Task { group: group_of(section), sum, count, picks })
    }

    /// Wipes the job's memory and the workspace, whose digits and buckets tell of the witness, too.
    fn wipe(&mut self, job: &mut Uploaded) -> Result<()> {
        job.wipe(&self.compute[0])?;
        if let Some(workspace) = &mut self.workspace {
            workspace.wipe(&self.compute[0])?;
        }
        self.compute[0].synchronize()
    }

    /// Makes the workspace at least this large.
    fn reserve(&mut self, bytes: u64) -> Result<()> {
        if self.workspace.as_ref().is_some_and(|arena| arena.bytes() >= bytes) {
            return Ok(());
        }
        self.drop_workspace()?;
        let loaded = &self.loaded;
        self.workspace = Some(loaded.with_room(|| Arena::new(&loaded.context, bytes))?);
        Ok(())
    }

    fn drop_workspace(&mut self) -> Result<()> {
        let Some(mut arena) = self.workspace.take() else { return Ok(()) };
        arena.wipe(&self.compute[0])?;
        self.compute[0].synchronize()
    }

    fn lay(&mut self, plan: &Plan) -> Result<Scratch> {
        let arena = self.workspace.as_mut().ok_or_else(|| Error::internal("no workspace"))?;
        arena.clear();
        let mut run = |bytes: u64| arena.take(usize::try_from(bytes).unwrap_or(usize::MAX));
        let [h, l, a, b1, b2] = plan.scratch;
        let runs = [run(h)?, run(l)?, run(a)?, run(b1)?, run(b2)?];
        Ok(Scratch {
            runs,
            g1: arena.take(plan.results[0])?,
            g2: arena.take(plan.results[1])?,
            streamed: [arena.take(plan.window)?, arena.take(plan.window)?],
        })
    }

    /// Makes elements of rows that were lent.
    fn check_rows(&self, job: &Uploaded) -> Result<()> {
        let Some(lent) = job.vectors.lent else { return Ok(()) };
        let stream = &self.compute[0];
        lent.first_bad.fill(0xff, stream)?;
        let count = u32::try_from(job.vectors.rows).map_err(|_| Error::internal("2^32 rows"))?;
        let shape = Shape { blocks: count.div_ceil(256), threads: 256, shared_bytes: 0 };
        for (index, (vector, is_canonical)) in job.vectors.row_vectors().zip(lent.is_canonical).enumerate() {
            if count == 0 {
                break;
            }
            let first = Argument::element(&lent.first_bad, index as u64)?;
            let values = Argument::element(&vector, 0)?;
            let arguments = [values, Argument::Number(count), Argument::Number(is_canonical.into()), first];
            // SAFETY: the kernel's parameters are elements, which are there, their number, a flag and one index.
            unsafe { self.loaded.read_scalars.launch(stream, shape, &arguments) }?;
        }
        Ok(())
    }

    /// What is wrong with rows that were lent, after the kernels.
    fn fault(&self, job: &Uploaded) -> Result<Option<Error>> {
        let Some(lent) = job.vectors.lent else { return Ok(None) };
        let (stream, mut first) = (&self.compute[0], [u32::MAX; 3]);
        lent.first_bad.download(&mut first, stream)?;
        if let Some((name, index)) = ROW_NAMES.iter().zip(first).find(|(_, index)| *index != u32::MAX) {
            return Ok(Some(ops::not_below_order(name, index as usize)));
        }
        if !lent.has_c {
            return Ok(None);
        }
        Ok(job.domain.first_unsatisfied(stream)?.map(|row| ops::unsatisfied(row as usize)))
    }

    /// The coefficients of the quotient, canonical, into `b`.
    fn quotient(&self, job: &Uploaded) -> Result<()> {
        let JobVectors { a, b, u, lent, .. } = job.vectors;
        // Each product is compared before it takes the place of what it was compared with.
        let c = lent.and_then(|lent| lent.has_c.then_some(u));
        job.domain.quotient(&QuotientVectors { a, b, c, u }, &self.compute[0])?;
        let count = u32::try_from(job.shape.domain_size()).map_err(|_| Error::internal("a domain of 2^32 elements"))?;
        let place = Argument::element(&b, 0)?;
        let shape = Shape { blocks: count.div_ceil(256), threads: 256, shared_bytes: 0 };
        // SAFETY: the kernel's parameters are out, in and the number of elements, which `b` has.
        unsafe { self.loaded.canonical.launch(&self.compute[0], shape, &[place, place, Argument::Number(count)]) }
    }

    fn sum(
        &self,
        job: &Uploaded,
        scratch: &Scratch,
        section: Section,
        place: Place,
        scalars: &Scalars,
        index: usize,
    ) -> Result<()> {
        let group = group_of(section);
        let points = match place {
            Place::Resident => {
                let address = job.key.as_ref().map(|key| key.address(section)).transpose()?.flatten();
                address.ok_or_else(|| Error::internal(format!("section {section:?} is not resident")))?
            }
            // Where point 0 of the section would be: only those that are there are read.
            Place::Streamed { buffer, first } => {
                let before = first as u64 * group.affine_bytes();
                msm::address(&scratch.streamed[buffer], 0)?.wrapping_sub(before)
            }
        };
        let query = section.query().map(|query| job.vectors.queries[query]);
        let query = |what| query.ok_or_else(|| Error::internal(format!("section {section:?} has no {what}")));
        let (points, scalar, pick) = match scalars {
            // Coefficient i belongs to point i, so both begin at the same one.
            Scalars::Quotient(range) => {
                let points = points.wrapping_add(range.start as u64 * group.affine_bytes());
                (points, msm::address(&job.vectors.b, range.start)?, 0)
            }
            Scalars::Rest(range) => {
                let query = query("scalars")?;
                (points, msm::address(&query.scalars, range.start)?, msm::address(&query.picks, range.start)?)
            }
            Scalars::Ones(range) => (points, 0, msm::address(&query("ones")?.ones, range.start)?),
        };
        let result = match group {
            Group::G1 => msm::address(&scratch.g1, index)?,
            Group::G2 => msm::address(&scratch.g2, index)?,
        };
        let stream = stream_of(section, place);
        let workspace = msm::address(&scratch.runs[stream], 0)?;
        let workspace_bytes = scratch.runs[stream].len() as u64;
        let buffers = MsmBuffers { points, scalars: scalar, picks: pick, result, workspace, workspace_bytes };
        // SAFETY: the addresses are of vectors of the job, the key and the workspace, as long as the section's counts say; they stay
        // until the worker has waited for the stream.
        unsafe { self.loaded.msm.run(&self.msm(section, scalars), &buffers, &self.compute[stream]) }
    }
}

impl Plan {
    /// Bytes of the whole workspace.
    fn bytes(&self) -> u64 {
        let results = Arena::bytes_for::<G1>(self.results[0]) + Arena::bytes_for::<G2>(self.results[1]);
        let streamed = STREAM_BUFFERS as u64 * Arena::bytes_for::<G2Affine>(self.window);
        let run = |bytes: &u64| Arena::bytes_for::<u8>(usize::try_from(*bytes).unwrap_or(usize::MAX));
        self.scratch.iter().map(run).sum::<u64>() + results + streamed
    }
}

/// Brings streamed points beside the kernels.
struct Feeder {
    /// When each buffer was read last.
    read: [Option<Event>; STREAM_BUFFERS],
    staging: Option<Staging>,
}

impl Feeder {
    fn bring(
        &mut self,
        lane: &Lane,
        section: Section,
        points: &KeyPoints<'_>,
        window: std::ops::Range<usize>,
        to: &DeviceVec<G2Affine>,
        buffer: usize,
    ) -> Result<()> {
        if let Some(read) = self.read[buffer].take() {
            lane.feed.wait(&read)?;
        }
        match section {
            Section::H => self.copy(lane, points.h, window, to),
            Section::L => self.copy(lane, points.l, window, to),
            Section::A => self.copy(lane, points.a, window, to),
            Section::B1 => self.copy(lane, points.b1, window, to),
            Section::B2 => self.copy(lane, points.b2, window, to),
        }?;
        lane.compute[0].wait(&lane.feed.record()?)
    }

    fn copy<P: Plain>(
        &mut self,
        lane: &Lane,
        points: &[P],
        window: std::ops::Range<usize>,
        to: &DeviceVec<G2Affine>,
    ) -> Result<()> {
        let some = points.get(window.clone());
        let some = some.ok_or_else(|| Error::internal(format!("points {window:?} of {}", points.len())))?;
        let kept = self.staging.take();
        let staging = self.staging.insert(kept.map_or_else(|| Staging::new(&lane.loaded.context), Ok)?);
        staging.upload(&to.reinterpret::<P>()?, some, &lane.feed)
    }
}

/// Which stream runs a section.
fn stream_of(section: Section, place: Place) -> usize {
    match place {
        Place::Resident => section as usize,
        Place::Streamed { .. } => 0,
    }
}

fn group_of(section: Section) -> Group {
    if section == Section::B2 { Group::G2 } else { Group::G1 }
}

/// Waits for the results, and adds those of each section up.
fn collect(
    scratch: &Scratch,
    counts: [usize; 2],
    ends: &[(Section, usize)],
    with_b2: bool,
    stream: &Stream,
) -> Result<Sums> {
    // A copy to memory that is not page-locked waits inside the driver, where it holds up the uploads of other jobs: it must find
    // the kernels at their end.
    stream.synchronize()?;
    let mut g1 = vec![G1::INFINITY; counts[0]];
    let mut g2 = vec![G2::INFINITY; counts[1]];
    scratch.g1.download(&mut g1, stream)?;
    scratch.g2.download(&mut g2, stream)?;
    fn total<F: CurveField>(results: &[Jacobian<F>], ends: &[(Section, usize)], wanted: Section) -> Jacobian<F> {
        let of_it = ends.iter().filter(|(section, _)| *section == wanted);
        of_it.filter_map(|(_, index)| results.get(*index)).copied().sum()
    }
    Ok(Sums {
        h: total(&g1, ends, Section::H),
        queries: [Section::L, Section::A, Section::B1].map(|section| total(&g1, ends, section)),
        b2: with_b2.then(|| total(&g2, ends, Section::B2)),
    })
}

// Results and streamed points of either group have a place of the larger one's size.
const _: () = assert!(size_of::<G1Affine>() < size_of::<G2Affine>());
