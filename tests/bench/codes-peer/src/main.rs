// Encodes ids and decodes codes with sqids: shuffled alphabet, at least 7
// characters.  Prints the same lines as bench_codes.
// usage: codes-peer SECONDS
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

const ALPHABET: &str =
    "k3G7QAbDgcxpZvtXR5JsBnrEoMWzmIL0fdqy61e2UhCPlKj9F8wYNTuHaSOV4i";
const IDS: u64 = 1000;

fn codes() -> sqids::Sqids {
    // The block list is empty, since our codes have none.
    sqids::Sqids::builder()
        .alphabet(ALPHABET.chars().collect())
        .min_length(7)
        .blocklist(std::collections::HashSet::new())
        .build()
        .expect("sqids")
}

// Returns the CPU time of this thread.  It is read from schedstat, which has
// nanoseconds; /proc/self/stat has ticks.
fn thread_cpu() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat")
        .expect("schedstat");
    text.split(' ').next().unwrap().parse().unwrap()
}

// Returns the CPU time (ns) for an id, of a function that handles IDS of them.
fn measure(seconds: f64, mut work: impl FnMut(u64)) -> f64 {
    let length = Duration::from_secs_f64(seconds);
    let (start, before) = (Instant::now(), thread_cpu());
    let mut done = 0u64;
    while start.elapsed() < length {
        work(done);
        done += IDS;
    }
    (thread_cpu() - before) / done as f64
}

// All threads share one counter.
fn next(seconds: f64, threads: usize) -> f64 {
    let (sqids, counter) = (codes(), AtomicU64::new(0));
    let costs: Vec<f64> = std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads)
            .map(|_| {
                scope.spawn(|| {
                    measure(seconds, |_| {
                        for _ in 0..IDS {
                            let id = counter.fetch_add(1, Ordering::Relaxed);
                            black_box(sqids.encode(&[id]).unwrap());
                        }
                    })
                })
            })
            .collect();
        running.into_iter().map(|t| t.join().unwrap()).collect()
    });
    costs.iter().sum::<f64>() / threads as f64
}

fn main() {
    let seconds: f64 = std::env::args().nth(1).unwrap().parse().unwrap();
    let part = seconds / 5.0;
    let sqids = codes();
    let texts: Vec<String> =
        (0..IDS).map(|i| sqids.encode(&[i * 7919]).unwrap()).collect();

    let encode = measure(part, |from| {
        for i in 0..IDS {
            black_box(sqids.encode(&[from + i]).unwrap());
        }
    });
    let decode = measure(part, |_| {
        for text in &texts {
            black_box(sqids.decode(text));
        }
    });
    println!(
        "encode {encode:.1} decode {decode:.1} next1 {:.1} next4 {:.1}",
        next(part, 1),
        next(part, 4)
    );
}
