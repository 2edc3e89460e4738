//! Markdown, CSV, OpenMetrics and plots of good and hostile records, read back by strict parsers.

use crate::support::{campaign, csv, curve, faults, file, golden, lines, page, source, spoilt};
use mpps_record::{AtLoad, CurveLine, PointLine, Run};
use mpps_report::{Gathered, markdown, openmetrics, picture};
use std::collections::HashSet;
use std::io::Write;
use std::process::{Command, Stdio};

const HOSTILE: &str = "a,\"b\"\r\n<script>x\\</script>|*_`@c";

fn scale() -> String {
    let path = file("bench/runs/2026-11-22-epyc-vm-2cpu/fib-scale/raw.jsonl");
    std::fs::read_to_string(path).expect("a record")
}

/// Records of every job: as they are, or with every text hostile.
fn all(hostile: bool) -> Gathered {
    let texts = [
        golden(),
        scale(),
        curve(),
        faults(),
        lines::latencies(),
        lines::bursts(),
        lines::recoveries(),
        lines::overloads(),
        lines::resets(),
        lines::comparisons(),
        lines::profiles(),
        campaign(),
    ];
    let source = |text: &String| {
        if hostile {
            source(HOSTILE, &spoilt(text, HOSTILE))
        } else {
            source("run.jsonl", text.as_bytes())
        }
    };
    Gathered::new(texts.iter().map(source).collect())
}

/// Rows of cells, as RFC 4180 has them.
fn rows(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut cell) = (Vec::new(), Vec::new(), String::new());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '"' => {
                assert!(cell.is_empty(), "a quote inside a bare cell");
                loop {
                    match rest.next().expect("a closing quote") {
                        '"' if rest.peek() == Some(&'"') => cell.extend(rest.next()),
                        '"' => break,
                        c => cell.push(c),
                    }
                }
                assert!(matches!(rest.peek(), Some(',' | '\r')), "{cell}");
            }
            ',' => row.push(std::mem::take(&mut cell)),
            '\r' => {
                assert_eq!(rest.next(), Some('\n'));
                row.push(std::mem::take(&mut cell));
                rows.push(std::mem::take(&mut row));
            }
            '\n' => panic!("a bare line feed"),
            c => cell.push(c),
        }
    }
    assert!(row.is_empty() && cell.is_empty(), "no end");
    rows
}

/// The same as a reader keeps it: without control characters.
fn shown() -> String {
    HOSTILE.replace(char::is_control, "\u{fffd}")
}

#[test]
fn csv_has_a_row_for_each_trial() {
    for hostile in [false, true] {
        let all = all(hostile);
        let trials: usize = all.runs.iter().map(|(_, run)| run.trials.len()).sum();
        let rows = rows(&csv(&all));
        assert!(rows.iter().all(|row| row.len() == rows[0].len()));
        let column = |name: &str| {
            let place = rows[0].iter().position(|known| known == name);
            place.unwrap_or_else(|| panic!("{name}: {:?}", rows[0]))
        };
        let of_trials = rows.iter().filter(|row| row[column("line")] == "trial");
        assert_eq!(of_trials.count(), trials);
        for (row, trial) in rows[1..].iter().zip(&all.runs[0].1.trials) {
            assert_eq!(row[column("trial")], trial.trial.to_string());
            let sent: u64 = trial.directions.iter().map(|way| way.sent_frames).sum();
            assert_eq!(row[column("sent_frames")], sent.to_string());
            assert_eq!(row[column("verdict_text")], trial.verdict_text);
        }
        if hostile {
            assert_eq!(rows[1][column("frame")], shown());
        }
    }
}

#[test]
fn csv_has_rows_for_each_kind_of_line() {
    let rows = rows(&csv(&all(false)));
    let column = |name: &str| rows[0].iter().position(|known| known == name);
    let columns = ["line", "frame", "member"].map(|name| column(name).expect("a column"));
    let value = |wanted: [&str; 3]| {
        let is = |row: &&Vec<String>| columns.map(|place| row[place].as_str()) == wanted;
        let row = rows.iter().find(is);
        let row = row.unwrap_or_else(|| panic!("{wanted:?}"));
        assert!(row[column("trial").expect("a column")].is_empty());
        row[column("value").expect("a column")].as_str()
    };
    for (line, frame, member, wanted) in [
        ("result", "64", "rate_is", "="),
        ("point", "64", "series", "routes"),
        (
            "curve",
            "64",
            "loads[1].verdict_text",
            "void: the machine was restless",
        ),
        ("curve", "64", "loads[0].measured.loss_ratio", "0.25"),
        (
            "overload",
            "64",
            "management.longest_silence_ns",
            "2100000000",
        ),
        ("latency", "64", "loads[1].load_share", "0.5"),
        ("latency", "1518", "loads[2].router.trials", "1, 2"),
        ("burst", "64", "searches[1].longest_frames", "4037"),
        ("burst", "1518", "all_passed_frames", "100000"),
        ("recovery", "64", "trials[2].recovered", "not-recovered"),
        ("overload", "64", "seconds[7].forwarding_fps", "1407000"),
        ("reset", "64", "trials[0].time_stamp_ns", "2100000"),
        ("comparison", "64", "variants[1].name", "100 rules"),
        (
            "comparison",
            "64",
            "variants[1].difference.cost_ns.median",
            "231.0",
        ),
        ("profile", "64", "loads[0].stages[4].part", "routing"),
        ("profile", "64", "loads[0].stages[4].ns.median", "120.0"),
        (
            "profile",
            "64",
            "stacks[4].frames",
            "kthread;fib_table_lookup",
        ),
        ("profile", "1518", "why", "no sample came"),
        ("calibration", "", "fault", "a loss"),
        ("calibration", "", "holds", "true"),
    ] {
        assert_eq!(value([line, frame, member]), wanted, "{line} {member}");
    }
}

/// Names and values.
type Labels = Vec<(String, String)>;

/// A sample's name, labels and value; panics at whatever OpenMetrics does not allow.
fn sample(line: &str) -> (&str, Labels, f64) {
    let (name, rest) = line.split_once('{').expect("labels");
    let good = |c: char| c.is_ascii_lowercase() || c == '_';
    assert!(name.chars().all(good), "{name}");
    let (mut labels, mut rest) = (Vec::new(), rest);
    loop {
        let (label, after) = rest.split_once("=\"").expect("a label");
        assert!(label.chars().all(good), "{label}");
        let (mut value, mut after) = (String::new(), after.chars());
        loop {
            match after.next().expect("a closing quote") {
                '\\' => value.push(match after.next() {
                    Some('n') => '\n',
                    Some(c @ ('\\' | '"')) => c,
                    other => panic!("escaped {other:?}"),
                }),
                '"' => break,
                c => value.push(c),
            }
        }
        labels.push((label.to_owned(), value));
        rest = after.as_str();
        match rest.strip_prefix(',') {
            Some(more) => rest = more,
            None => break,
        }
    }
    let value = rest.strip_prefix("} ").expect("a value");
    (name, labels, value.parse().expect("a number"))
}

/// All samples of a text that has its families together, each with help and type, and its end.
fn samples(text: &str) -> Vec<(String, Labels, f64)> {
    let body = text.strip_suffix("# EOF\n").expect("an end");
    let (mut families, mut seen, mut all) = (HashSet::new(), HashSet::new(), Vec::new());
    let mut lines = body.split_terminator('\n').peekable();
    while let Some(help) = lines.next() {
        let help = help.strip_prefix("# HELP ").expect("a help");
        let family = help.split(' ').next().expect("a name");
        assert!(families.insert(family.to_owned()), "{family} comes twice");
        assert_eq!(
            lines.next(),
            Some(format!("# TYPE {family} gauge").as_str())
        );
        while let Some(line) = lines.next_if(|line| !line.starts_with('#')) {
            let (name, labels, value) = sample(line);
            assert_eq!(name, family);
            assert!(value.is_finite(), "{line}");
            assert!(seen.insert((name.to_owned(), labels.clone())), "{line}");
            all.push((name.to_owned(), labels, value));
        }
    }
    all
}

#[test]
fn gauges_are_openmetrics() {
    for hostile in [false, true] {
        let all = all(hostile);
        let text = openmetrics(&all);
        let samples = samples(&text);
        let value = |name: &str, label: (&str, &str)| {
            let has = |labels: &Labels| labels.contains(&(label.0.to_owned(), label.1.to_owned()));
            let found = samples
                .iter()
                .find(|(known, labels, _)| known == name && has(labels));
            found.map(|(.., value)| *value)
        };
        let rate = all.runs[0].1.results[0].rate_fps.map(|fps| fps as f64);
        let frame = if hostile { &shown() } else { "64" };
        assert_eq!(value("mpps_rate_frames_per_second", ("frame", frame)), rate);
        if !hostile {
            assert_eq!(value("mpps_loss_ratio", ("load_ratio", "0.8")), Some(0.25));
            let run = ("job", "throughput");
            assert_eq!(value("mpps_run", run), Some(1.0));
            assert!(value("mpps_router_frame_cost_seconds", ("series", "routes")).is_some());
            let found = ["a loss", "a delay", "a policer"]
                .map(|fault| value("mpps_planted_fault_found", ("fault", fault)));
            assert_eq!(found, [Some(1.0), Some(0.0), None]);
            let corrected = value("mpps_buffer_seconds", ("reads", "corrected"));
            assert!((corrected.expect("a time") - 605e-6).abs() < 1e-12);
            assert_eq!(value("mpps_recovery_seconds", ("frame", "64")), None);
            let latency = |label| value("mpps_latency_seconds", label);
            let [router, bed] = ["router", "bed"].map(|path| latency(("path", path)));
            assert!(router > bed && bed > Some(4e-6), "{router:?} {bed:?}");
            let change = value("mpps_frame_cost_change_seconds", ("variant", "100 rules"));
            assert!(change > Some(2e-7), "{change:?}");
        }
        assert_promtool_takes(&text);
    }
}

/// As the terminal's table: the limit and the busy share are those of the first number in the row.
#[test]
fn a_row_tells_what_limits_its_first_number() {
    let path = file("bench/runs/2026-11-22-epyc-vm-2cpu/main-job-house/raw.jsonl");
    let record = std::fs::read(path).expect("a record");
    let text = markdown(&Gathered::new(vec![source("raw.jsonl", &record)]));
    let rows: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with("| 64 B |"))
        .collect();
    assert!(!rows.is_empty(), "{text}");
    for row in rows {
        assert!(row.ends_with("| 100 % | router CPU |"), "{row}");
    }
}

#[test]
fn a_gauge_of_a_bound_says_so() {
    let reads = |text: &str| {
        let gathered = Gathered::new(vec![source("run.jsonl", text.as_bytes())]);
        let name = "mpps_maximum_forwarding_rate_frames_per_second";
        let each = samples(&openmetrics(&gathered)).into_iter();
        let of_name = each.filter(|(found, ..)| found == name);
        let labels = of_name.flat_map(|(_, labels, _)| labels);
        let reads = labels.filter(|(label, _)| label == "reads");
        reads.map(|(_, value)| value).collect::<HashSet<_>>()
    };
    let limit = |by: &str| format!("\"max_forwarding_limited_by\":\"{by}\"");
    let of_router = golden().replace(&limit("tester"), &limit("router CPU"));
    assert_eq!(reads(&of_router), HashSet::from(["=".to_owned()]));
    let of_tester = of_router.replace(&limit("router CPU"), &limit("tester"));
    assert_eq!(reads(&of_tester), HashSet::from([">=".to_owned()]));
}

/// Prometheus' own check, where it is installed.
fn assert_promtool_takes(text: &str) {
    let mut check = Command::new("promtool");
    check.args(["check", "metrics"]).stdin(Stdio::piped());
    let Ok(mut child) = check.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn() else {
        println!("SKIP: needs promtool in PATH (apt-get install prometheus)");
        return;
    };
    let mut input = child.stdin.take().expect("its input");
    input.write_all(text.as_bytes()).expect("it reads");
    drop(input);
    let ended = child.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success() && said.is_empty(), "{said}");
}

#[test]
fn markdown_is_a_summary_for_an_issue() {
    let text = markdown(&all(false));
    for wanted in [
        "## mpps throughput, ",
        "**64 B: Simulated, not measured: forwards 1.20 million frames/s",
        "| a policer | 1 | 0 | frames | not compared: steal |",
        "| frame size | max forwarding rate, frames/s | without loss | lossless trials | busy | limited by |\n| --- |",
        "- **simulated**: ",
        "    mpps throughput --frame 64 --simulate",
        "| series | frame | routes | destinations | ns at overload | max frames/s | busy | limited by |",
        "% | 800\u{202f}000 | 600\u{202f}000 | 200\u{202f}000 | 25 % | 85 % |",
        "| fault | planted | tolerance | unit | holds |",
        "**Simulated: 64 B: typical 21.5 µs, worst case (99.9 %) 377 µs at 50 % of the rate without loss",
        "| 64 B | 10 % (120 thousand frames/s) | bed | 2 | ",
        "**Simulated: 1518 B: no burst of up to ",
        "| 64 B | average | 4\u{202f}041 | - | 5\u{202f}100\u{202f}000 | - | 792 µs | 605 µs |",
        "**Simulated: 64 B: not recovered: at half of the overload, frames were lost until the trial ended, in ",
        "| 64 B | 3 | not-recovered | - | 9\u{202f}000 | 0 | lossy: 9 000 frames lost |",
        "**Simulated: 64 B, 100 rules against plain: 231 ns more a frame for the router (211 to 251, 8 pairs): 31 % fewer frames/s.**",
        "| 64 B | plain | 1\u{202f}200\u{202f}000 (1\u{202f}180\u{202f}000 to 1\u{202f}220\u{202f}000) | 520 (511 to 529) | ",
        "- **planted-line**: seen in a line. Next: Run.",
        "AMD EPYC",
    ] {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
    // Names become neither markup nor mentions nor rows of their own.
    let text = markdown(&all(true));
    let odd = ["<script", "</script", " @c", "|*", "\r"];
    for line in text.lines().filter(|line| !line.starts_with("    ")) {
        assert!(odd.iter().all(|odd| !line.contains(odd)), "{line}");
        if line.starts_with('|') {
            assert!(line.ends_with('|'), "{line}");
        }
    }
}

#[test]
fn a_loss_plot_has_a_mark_for_each_load() {
    let all = all(false);
    let curves = &all.runs[2].1.curves;
    let text = picture(
        curves,
        &all.runs[2].1,
        &["a <title> & more\u{1}", "a CPU, Linux 6.18, mpps 1"],
    );
    assert!(text.contains("a &lt;title&gt; &amp; more "), "{text}");
    assert!(text.contains(">a CPU, Linux 6.18, mpps 1</text>"), "{text}");
    // Three panels; a load that could not be measured is in each.
    assert_eq!(
        text.matches("class=\"mark\"").count(),
        3 * curves[0].loads.len()
    );
    assert_eq!(text.matches("class=\"line\"").count(), 3);
    let unknown = "64 B: verdict void: the machine";
    assert_eq!(text.matches(unknown).count(), 3, "{text}");
    assert!(text.contains(
        "forwarded 600\u{202f}000 frames/s, lost 200\u{202f}000, loss 25 %, DUT busy 85 %"
    ));
    for odd in ["NaN", "inf", "var("] {
        assert!(!text.contains(odd), "{odd}: {text}");
    }
    let empty = picture(&Vec::<CurveLine>::new(), &Run::default(), &["none", ""]);
    assert!(
        !empty.contains("NaN") && empty.ends_with("</svg>\n"),
        "{empty}"
    );
}

#[test]
fn a_fib_scale_plot_says_what_each_point_is() {
    let all = all(false);
    let mut points = all.runs[1].1.points.clone();
    let found = points[0].cost.expect("a cost").router_ns.median;
    points[0].limited_by = Some("tester".to_owned());
    (points[1].cost, points[1].max_forwarding_fps) = (None, None);
    let text = picture(
        &points,
        &all.runs[1].1,
        &["routes", "machine", "the bed's part"],
    );
    assert_eq!(text.matches("<title>").count(), 2 * points.len(), "{text}");
    // Each has its interval but the one that was not measured; the bound is hollow.
    assert_eq!(
        text.matches("class=\"ends\"").count(),
        2 * (points.len() - 1)
    );
    assert_eq!(text.matches("class=\"mark bound\"").count(), 2, "{text}");
    assert_eq!(text.matches("cost unknown, not measured").count(), 2);
    let cost = format!("{found:.0} ns a frame (");
    for wanted in [
        cost.as_str(),
        "limited by tester",
        "Bars: 95 % interval",
        ">the bed&#39;s part<",
    ] {
        let plain = wanted.replace("&#39;", "'");
        assert!(
            text.contains(wanted) || text.contains(&plain),
            "{wanted}: {text}"
        );
    }
    // A load that all points have is a chart of its own.
    let cost = points[0].cost;
    for point in &mut points {
        point.at_load = Some(AtLoad {
            load_fps: 197_312,
            cost: cost.filter(|_| point.cost.is_some()),
            pairs: 6,
            ..AtLoad::default()
        });
    }
    let text = picture(&points, &all.runs[1].1, &["routes"]);
    assert_eq!(text.matches("<title>").count(), 3 * points.len(), "{text}");
    assert_eq!(text.matches("class=\"mark bound\"").count(), 2, "no bound");
    assert!(text.contains("At 197k frames/s, the same for all points. Bars: 95 % interval"));
    let at_load = format!("{found:.0} ns a frame (");
    assert!(text.matches(&at_load).count() >= 2 * 3, "{text}");
    let empty = picture(&Vec::<PointLine>::new(), &Run::default(), &["none"]);
    assert!(
        !empty.contains("NaN") && !empty.contains("hollow"),
        "{empty}"
    );
}

#[test]
fn a_campaign_is_in_every_format() {
    let of_campaign = || Gathered::new(vec![source("run.jsonl", campaign().as_bytes())]);
    let text = markdown(&of_campaign());
    assert_eq!(text.matches("## ").count(), 1, "its cells are rows");
    for wanted in [
        "**8 claims: 1 holds here, 1 does not hold here, 4 cannot tell",
        "| nat | MASQUERADE costs 25 % | 5.8 M to 4.3 M | does not hold here | 6.3.6 | -45.9 % frames/s",
        "| 6.3.6 | NAT MASQUERADE, off and on | 64 B, nat | 905\u{202f}275 |",
    ] {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
    let text = csv(&of_campaign());
    let of_line = |kind: &str| text.matches(&format!(",{kind},cell,")).count();
    assert_eq!((of_line("cell"), of_line("verdict")), (8, 8));
    assert!(text.contains("verdict,verdict,does not hold here\r\n"));
    let text = openmetrics(&of_campaign());
    assert!(text.contains("claim=\"numa\",verdict=\"cannot be tested here\"} 1\n"));
    let ratio = "cell=\"6.1.3\",frame=\"64\",reads=\"=\",bound=\"median\"} 1.813769";
    assert!(text.contains(ratio), "{text}");
}

/// A spreadsheet takes no text for a formula; numbers stay numbers.
#[test]
fn no_text_is_a_formula() {
    for (text, cell) in [
        ("=1+1", "'=1+1"),
        ("@sum(a)", "'@sum(a)"),
        ("-x", "'-x"),
        ("+x", "'+x"),
        ("-1.5", "-1.5"),
        ("=", "="),
        ("a=b", "a=b"),
    ] {
        let all = Gathered::new(vec![source(text, golden().as_bytes())]);
        assert_eq!(rows(&csv(&all))[1][0], cell);
    }
}

#[test]
fn only_differences_hold_in_19_of_20() {
    let page = page(vec![source("run.jsonl", lines::comparisons().as_bytes())]);
    for note in [
        "Lines show the interval of a variant by itself.",
        "They hold in 19 of 20 comparisons.",
    ] {
        assert_eq!(page.matches(note).count(), 2, "{note}");
    }
}
