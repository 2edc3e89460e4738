//! What a perf event writes into its ring (`enum perf_event_type`, `include/uapi/linux/perf_event.h`), read from octets.
//! Every length is checked against the octets there are.

/// Registers of a sample: of x86-64 `PERF_REG_X86_AX`, which holds where a retpoline jumps to. Its stack has no caller.
pub(super) const SAMPLE_REGISTERS: u64 = cfg!(target_arch = "x86_64") as u64;
/// `sample_type` of [`Sampled`]: IP, TID, TIME, CALLCHAIN, CPU, PERIOD, REGS_INTR where there are registers. The order of
/// the members follows from it.
pub(super) const SAMPLE_TYPE: u64 =
    1 | 1 << 1 | 1 << 2 | 1 << 5 | 1 << 7 | 1 << 8 | SAMPLE_REGISTERS << 18;

const HEADER: usize = 8;
const LOST: u32 = 2;
const THROTTLE: u32 = 5;
const UNTHROTTLE: u32 = 6;
const SAMPLE: u32 = 9;
/// `PERF_RECORD_MISC_CPUMODE_MASK`, and of its values `PERF_RECORD_MISC_KERNEL`.
const MODE: u16 = 7;
const MODE_KERNEL: u16 = 1;
/// Numbers from here on in a call chain are no addresses (`PERF_CONTEXT_MAX`): they say whose the next ones are.
const CONTEXTS: u64 = -4095_i64 as u64;

/// One record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Record<'a> {
    /// A sample.
    Sample(Sampled<'a>),
    /// So many records found no room in the ring.
    Lost(u64),
    /// The kernel stopped the event: it came too often.
    Throttled,
    /// The kernel lets the event go on.
    Unthrottled,
    /// A record of another kind, by its number.
    Other(u32),
}

/// A sample as the kernel wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sampled<'a> {
    /// Address of the instruction that ran.
    pub ip: u64,
    /// Whether that was in the kernel; else in a program, whose call chain is not kept.
    pub in_kernel: bool,
    /// The task that ran, by thread id; 0 is the idle task, -1 one that our process namespace does not show.
    pub tid: i32,
    /// When, ns of the monotonic clock.
    pub time_ns: u64,
    /// On which CPU.
    pub cpu: u32,
    /// What register RAX held: in a retpoline the address of the function to be called.
    pub rax: Option<u64>,
    chain: &'a [u8],
}

impl Sampled<'_> {
    /// Addresses of the kernel's call chain: first the instruction that ran, then return addresses, the innermost first.
    pub fn chain(&self) -> impl Iterator<Item = u64> + '_ {
        let words = self.chain.chunks_exact(8);
        words.filter_map(word).filter(|&address| address < CONTEXTS)
    }
}

/// The records in these octets, in order. One that is shorter than its header, longer than the octets left, or whose
/// call chain is longer than itself, is an `Err` with its offset, and the last.
pub fn records(octets: &[u8]) -> impl Iterator<Item = Result<Record<'_>, usize>> {
    let mut at = Some(0);
    std::iter::from_fn(move || {
        let start = at.take()?;
        let rest = octets.get(start..).filter(|rest| !rest.is_empty())?;
        let Some((record, length)) = record(rest) else {
            return Some(Err(start));
        };
        at = Some(start + length);
        Some(Ok(record))
    })
}

/// The first record, and its length.
fn record(octets: &[u8]) -> Option<(Record<'_>, usize)> {
    let kind = u32::from_ne_bytes(octets.get(..4)?.try_into().ok()?);
    let misc = u16::from_ne_bytes(octets.get(4..6)?.try_into().ok()?);
    let length = usize::from(u16::from_ne_bytes(octets.get(6..8)?.try_into().ok()?));
    let body = octets.get(HEADER..length)?;
    let record = match kind {
        SAMPLE => Record::Sample(sample(body, misc & MODE == MODE_KERNEL)?),
        // An id comes first.
        LOST => Record::Lost(at(body, 8)?),
        THROTTLE => Record::Throttled,
        UNTHROTTLE => Record::Unthrottled,
        other => Record::Other(other),
    };
    Some((record, length))
}

fn sample(body: &[u8], in_kernel: bool) -> Option<Sampled<'_>> {
    let half = |offset: usize| {
        let octets = body.get(offset..offset + 4)?;
        Some(u32::from_ne_bytes(octets.try_into().ok()?))
    };
    // The period at 32 is not kept: the clock's stays what it was opened with, whatever was set later.
    let calls = usize::try_from(at(body, 40)?).ok()?;
    let registers = 48_usize.checked_add(calls.checked_mul(8)?)?;
    // 0: the kernel knows no registers here.
    let layout = at(body, registers).filter(|&layout| layout != 0);
    Some(Sampled {
        ip: at(body, 0)?,
        in_kernel,
        tid: half(12)?.cast_signed(),
        time_ns: at(body, 16)?,
        cpu: half(24)?,
        rax: layout.and_then(|_| at(body, registers + 8)),
        chain: body.get(48..registers)?,
    })
}

fn at(octets: &[u8], offset: usize) -> Option<u64> {
    word(octets.get(offset..offset + 8)?)
}

fn word(octets: &[u8]) -> Option<u64> {
    Some(u64::from_ne_bytes(octets.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn header(kind: u32, misc: u16, body: &[u8]) -> Vec<u8> {
        let length = (HEADER + body.len()) as u16;
        let head = [
            &kind.to_ne_bytes()[..],
            &misc.to_ne_bytes(),
            &length.to_ne_bytes(),
        ];
        [head.concat(), body.to_vec()].concat()
    }

    /// A sample of task 8 of process 7 at 1 000 ns on CPU 3, whose chain says that it has `calls` entries. Registers may
    /// follow the chain.
    fn sample_with(calls: u64, chain: &[u64]) -> Vec<u8> {
        let words = |words: &[u64]| -> Vec<u8> {
            let octets = words.iter().flat_map(|word| word.to_ne_bytes());
            octets.collect()
        };
        let tasks = [7_u32.to_ne_bytes(), 8_u32.to_ne_bytes()].concat();
        let cpu = [3_u32.to_ne_bytes(), 0_u32.to_ne_bytes()].concat();
        let body = [
            words(&[0xffff_ffff_8100_0010]),
            tasks,
            words(&[1_000]),
            cpu,
            words(&[250_000, calls]),
            words(chain),
        ];
        header(SAMPLE, MODE_KERNEL, &body.concat())
    }

    const CHAIN: [u64; 3] = [
        -128_i64 as u64,
        0xffff_ffff_8100_0010,
        0xffff_ffff_8100_0100,
    ];

    #[test]
    fn each_kind_is_read_in_its_order() {
        let lost = [5_u64.to_ne_bytes(), 9_u64.to_ne_bytes()].concat();
        let all = [
            sample_with(3, &CHAIN),
            header(LOST, 0, &lost),
            header(THROTTLE, 0, &[0; 24]),
            header(UNTHROTTLE, 0, &[0; 24]),
            header(77, 0, &[1; 8]),
        ];
        let octets = all.concat();
        let read: Vec<Record<'_>> = records(&octets).map(Result::unwrap).collect();
        let Record::Sample(sample) = read[0] else {
            panic!("{read:?}");
        };
        assert_eq!(sample.chain().collect::<Vec<_>>(), CHAIN[1..]);
        let read_sample = (sample.ip, sample.tid, sample.time_ns, sample.cpu);
        assert_eq!(read_sample, (0xffff_ffff_8100_0010, 8, 1_000, 3));
        assert!(sample.in_kernel);
        let rest = [
            Record::Lost(9),
            Record::Throttled,
            Record::Unthrottled,
            Record::Other(77),
        ];
        assert_eq!(read[1..], rest);
    }

    #[test]
    fn registers_follow_the_chain() {
        let rax = |rest: &[u64]| {
            let octets = sample_with(3, &[&CHAIN, rest].concat());
            match records(&octets).next() {
                Some(Ok(Record::Sample(sample))) => (sample.rax, sample.chain().count()),
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(
            rax(&[2, 0xffff_ffff_8100_0200]),
            (Some(0xffff_ffff_8100_0200), 2)
        );
        assert_eq!(rax(&[0]), (None, 2));
        assert_eq!(rax(&[]), (None, 2));
    }

    #[test]
    fn a_torn_record_is_said_and_ends_the_reading() {
        let whole = sample_with(3, &CHAIN);
        for cut in 1..whole.len() {
            let octets = [&whole[..], &whole[..cut]].concat();
            let read: Vec<_> = records(&octets).collect();
            assert_eq!(read.len(), 2, "{cut}");
            assert!(read[0].is_ok());
            assert_eq!(read[1], Err(whole.len()));
        }
    }

    #[test]
    fn a_record_shorter_than_its_header_is_refused() {
        for length in 0..HEADER as u16 {
            let mut octets = header(THROTTLE, 0, &[0; 24]);
            octets[6..8].copy_from_slice(&length.to_ne_bytes());
            assert_eq!(records(&octets).collect::<Vec<_>>(), [Err(0)]);
        }
    }

    #[test]
    fn a_chain_longer_than_its_record_is_refused() {
        for calls in [4, u64::MAX, u64::MAX / 8] {
            let octets = sample_with(calls, &CHAIN);
            assert_eq!(records(&octets).collect::<Vec<_>>(), [Err(0)]);
        }
        assert!(records(&sample_with(0, &[])).all(|read| read.is_ok()));
    }

    proptest! {
        #[test]
        fn no_octets_read_beyond_their_end(octets in proptest::collection::vec(any::<u8>(), 0..200)) {
            for read in records(&octets) {
                if let Ok(Record::Sample(sample)) = read {
                    prop_assert!(sample.chain().count() * 8 <= octets.len());
                }
            }
        }
    }
}
