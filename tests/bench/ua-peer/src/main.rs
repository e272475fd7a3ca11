// Parses the user agents of a file, one a line, again and again without a
// cache, and prints nanoseconds per string.
// usage: ua-peer REGEXES STRINGS SECONDS
use std::time::{Duration, Instant};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().collect();
    let regexes: ua_parser::Regexes =
        serde_yaml::from_reader(std::fs::File::open(&args[1])?)?;
    let extractor = ua_parser::Extractor::try_from(regexes)?;
    let text = std::fs::read_to_string(&args[2])?;
    let lines: Vec<&str> = text.lines().collect();
    let length = Duration::from_secs_f64(args[3].parse()?);

    let (mut parsed, mut known) = (0u64, 0u64);
    let start = Instant::now();
    while start.elapsed() < length {
        for line in &lines {
            let (ua, os, device) = extractor.extract(line);
            known += ua.is_some() as u64;
            std::hint::black_box((os, device));
        }
        parsed += lines.len() as u64;
    }
    let nanoseconds = start.elapsed().as_nanos() as f64;
    println!(
        "{:.1} ns, known {:.4}",
        nanoseconds / parsed as f64,
        known as f64 / parsed as f64
    );
    Ok(())
}
