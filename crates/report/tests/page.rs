//! Pages of good, damaged and hostile records. `MPPS_WRITE_GOLDEN=1 cargo test -p mpps-report --test all page::` writes the
//! golden text of the measured run anew.

use crate::support::{
    campaign, curve, faults, file, golden, lines, measured, page, raw, source, spoilt,
};
use mpps_record::{Interval, PartChange, PartCost, ProfiledLoad, ProfiledWire, read_file};
use mpps_report::{Raw, Source};

const HOSTILE: &str = "<script>alert(1)</script>\"'&<img src=x>";

fn page_of(text: &[u8]) -> String {
    page(vec![source("run.jsonl", text)])
}

#[test]
fn every_text_of_a_record_is_escaped() {
    let scale = file("bench/runs/2026-11-22-epyc-vm-2cpu/fib-scale/raw.jsonl");
    let mut texts = vec![golden(), std::fs::read_to_string(scale).expect("a record")];
    texts.extend([faults(), lines::latencies(), lines::bursts()]);
    texts.extend([lines::recoveries(), lines::comparisons(), lines::suite()]);
    texts.extend([lines::profiles(), campaign()]);
    texts.extend([lines::overloads(), lines::resets(), lines::effects()]);
    for text in texts {
        let mut source = source(HOSTILE, &spoilt(&text, HOSTILE));
        let records = source.records.as_mut().expect("records");
        assert_eq!(records.runs.len(), 1, "{:?}", records.problems);
        source.raw = None;
        let page = page(vec![source]);
        assert_eq!(page.matches("<script").count(), 1, "the page's own");
        assert_eq!(page.matches("<img").count(), 0);
        assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;&quot;"));
        assert!(!page.contains("</script>\"'"));
    }
}

#[test]
fn a_page_says_what_was_found() {
    let page = page_of(golden().as_bytes());
    for wanted in [
        "The maximum forwarding rate, and the highest load without loss.",
        "<b>64 B: </b>Simulated, not measured: forwards 1.20 million frames/s (1.18 to 1.20), limited by the \
         router&#39;s CPU; 1.16 million without loss.",
        "At its maximum forwarding rate the router&#39;s CPU was 100 % busy. The search without loss was ended by the router.",
        "mpps throughput --frame 64 --simulate",
        "the search as it went",
        "All 15 trials",
        "href=\"data:application/gzip;base64,",
    ] {
        let plain = wanted.replace("&#39;", "'");
        assert!(page.contains(wanted) || page.contains(&plain), "{wanted}");
    }
    // The gravest doubt comes first.
    let place = |word: &str| page.find(&format!("<b>{word}</b>")).expect(word);
    assert!(place("simulated") < place("contradiction"));
    assert!(place("contradiction") < place("short-trial"));
}

/// The part that was not begun has none.
#[test]
fn each_part_of_a_suite_has_its_section() {
    let page = page_of(lines::suite().as_bytes());
    let section = |verb: &str, number: u32| {
        let heading = format!("<h3>mpps {verb} (RFC 2544 section 26.{number})</h3>");
        let (before, section) = page.split_once(&heading).expect(verb);
        assert!(before.contains("<h2>"), "{verb}");
        let end = section
            .find("<h3>mpps ")
            .or_else(|| section.find("<h3>Trials"));
        &section[..end.expect("an end")]
    };
    let plots = ["the search as it went", "latency", "loss", "burst"];
    let verbs = ["throughput", "latency", "loss", "back-to-back"];
    for ((number, verb), plot) in (1..).zip(verbs).zip(plots) {
        let section = section(verb, number);
        assert!(section.contains("<svg") && section.contains(plot), "{verb}");
        assert_eq!(section.matches("<h3>Results</h3>").count(), 1, "{verb}");
        let search = section.contains("the search as it went");
        assert_eq!(search, verb == "throughput", "{verb}");
    }
    assert!(!page.contains("26.5)</h3>"));
    // The table is the first answer, below the one sentence of the whole; the parts' rules and sentences are folded.
    let (_, first) = page.split_once("<dt>Answer</dt>").expect("an answer");
    let (table, rest) = first.split_once("</table>").expect("a table");
    assert!(
        table.contains("<th scope=\"col\">max burst</th>") && table.matches("<p").count() == 1,
        "{table}"
    );
    assert!(rest.contains("<summary>Answers of its parts</summary><p><b>64 B: </b>"));
    assert!(page.contains("<summary>Rules of its parts</summary><p>Part throughput"));
    for wanted in [
        "The benchmarks of RFC 2544 section 26.",
        "Part loss (26.3): the rule of loss; RFC 2544 asks for trials of 60 s.",
        "<b>64 B: </b>Simulated, not measured: forwards 1.20 million",
        "64 B: longest burst without loss",
    ] {
        assert!(page.contains(wanted), "{wanted}");
    }
}

/// A page as a reader has it: the texts between its tags, a line each, without charts, styles and scripts.
fn texts(page: &str) -> String {
    let mut page = page.to_owned();
    for name in ["style", "script", "svg"] {
        let (open, close) = (format!("<{name}"), format!("</{name}>"));
        while let Some(begin) = page.find(&open) {
            let end = begin + page[begin..].find(&close).expect("its end") + close.len();
            page.replace_range(begin..end, "");
        }
    }
    let texts = page
        .split('<')
        .filter_map(|part| Some(part.split_once('>')?.1.trim()));
    let lines = texts.filter(|text| !text.is_empty());
    lines.map(|text| format!("{text}\n")).collect()
}

#[test]
fn the_measured_run_is_told_as_committed() {
    let page = page_of(measured().as_bytes());
    assert!(page.matches("<svg").count() >= 3, "its charts");
    told_as_committed(&page, "bed.txt");
}

/// Without the runs of its cells, which are told as any other run is.
#[test]
fn a_campaign_is_told_as_committed() {
    let page = page_of(campaign().as_bytes());
    let (own, runs) = page.split_once("<h3>Runs of the cells</h3>").expect("runs");
    told_as_committed(own, "campaign.txt");
    assert!(!own.contains("<h2>Summary</h2>"));
    assert_eq!(own.matches("<section").count(), 1);
    assert_eq!(runs.matches("<section id=\"run-").count(), 6);
    assert_eq!(runs.matches("<section id=\"run-1\"").count(), 0, "itself");
    assert!(runs.contains("<summary>6.3.6: NAT MASQUERADE, off and on</summary>"));
    for plot in ["Frames/s by scenario", "Change of frames/s by setting"] {
        assert!(own.contains(&format!("<b>{plot}</b>")), "{plot}");
    }
    for odd in ["NaN", ">inf", "\"inf", "-inf"] {
        assert!(!own.contains(odd), "{odd}");
    }
}

/// Beside another run it is a row of the summary, and its cells are none.
#[test]
fn a_campaign_is_one_run_of_several() {
    let sources = [campaign(), golden()].map(|text| source("run.jsonl", text.as_bytes()));
    let page = page(sources.into());
    let (_, summary) = page.split_once("<h2>Summary</h2>").expect("a summary");
    let summary = summary.split_once("</table>").expect("its end").0;
    assert_eq!(summary.matches("<tr").count(), 3, "{summary}");
    assert!(summary.contains("5 of 9 cells measured, 1 undecided"));
}

fn told_as_committed(page: &str, name: &str) {
    let found = texts(page);
    let golden = file(&format!("crates/report/tests/golden/{name}"));
    if std::env::var_os("MPPS_WRITE_GOLDEN").is_some() {
        std::fs::write(&golden, &found).expect("write");
    }
    let committed = std::fs::read_to_string(&golden).expect("committed");
    assert_eq!(found, committed, "see the head of this file");
}

#[test]
fn a_curve_has_its_answer_and_its_doubts() {
    let page = page_of(curve().as_bytes());
    assert!(page.contains("Simulated: 64 B: nothing lost up to 70 % (700k frames/s)"));
    assert!(page.contains("planted") && !page.contains("The record has none."));
    assert!(page.contains("Why: Because. Next: Run."), "one full stop");
}

#[test]
fn lines_of_every_job_have_their_plots() {
    for (text, lines, plots) in [
        (
            lines::latencies(),
            2,
            &[
                "64 B: latency by percentile",
                "64 B: latency at 90 % (1.08 million frames/s)",
                "1518 B: latency by percentile",
            ][..],
        ),
        (
            lines::bursts(),
            2,
            &["Longest burst without loss", "Buffer time by frame size"],
        ),
        (
            lines::overloads(),
            1,
            &[
                "Forwarding rate under overload",
                "Management path under overload",
            ],
        ),
        (lines::recoveries(), 1, &["Recovery time by trial"]),
        (
            lines::comparisons(),
            2,
            &[
                "Frames/s of each variant",
                "Frames/s against the first variant",
                "CPU time of a frame of each variant",
                "CPU time of a frame against the first variant",
            ],
        ),
        (
            lines::profiles(),
            2,
            &[
                "64 B: cost of a frame by stage",
                "64 B: cost of a frame by load",
            ],
        ),
    ] {
        let page = page_of(text.as_bytes());
        for plot in plots {
            assert!(page.contains(&format!("<b>{plot}</b>")), "{plot}");
        }
        assert!(!page.contains("There is no result"));
        assert!(!page.contains("The job is"), "asked in words");
        let shown = page.split("<script").next().expect("the page");
        for odd in ["NaN", ">inf", "\"inf", "-inf"] {
            assert!(!shown.contains(odd), "{odd}");
        }
        let body: Vec<&str> = text.lines().collect();
        let repeated = body[1..body.len() - 1].join("\n");
        let twice = page_of(format!("{text}{repeated}\n").as_bytes());
        let counted = if lines == 1 { "1 line" } else { "2 lines" };
        assert!(
            twice.contains(&format!("holds {counted} twice")),
            "{counted}"
        );
        assert_eq!(twice.matches("<svg").count(), page.matches("<svg").count());
    }
}

/// The sentence, what it stands on, and a row for each part.
#[test]
fn a_profile_says_where_the_time_goes() {
    let page = page_of(lines::profiles().as_bytes());
    for wanted in [
        "Where the time of a frame goes, and what limits the router.",
        "64 B: a frame costs 700 ns (665 to 735) at saturation, 1.43 million frames/s (1.36 million to 1.50 million). \
         520 ns are outside virtual NIC and exit: routing 120, RX 90, prerouting 80, postrouting 70, the rest 160. \
         The router's CPU limits.",
        "1518 B: no cost by stage: no sample came.",
        // Routing has one colour in the plot and in the flame graph.
        "<g class=\"own\" style=\"color:#ffaabb\"><rect class=\"mark\"",
        "style=\"fill:#ffaabb\"",
        "70\u{202f}000 samples in 3 trials cover 99.8 % of the busy time, 3 found no room. \
         No rule places 0.4 % of the time. 12 % was sampled late, because interrupts were off: it is given to the \
         function that turned them off.",
        "Placed by no rule: nobody_knows 2 ns.",
        "Model: 690 ns a frame (660 to 720), 2600 ns a wake-up (2300 to 2900), 300 ns a poll (0 to 900). It is fitted to 40 \
         windows below saturation in 5 trials whose loads took turns (within 4 ns). It predicts 1.40 million frames/s at \
         saturation. Saturated windows of the same trials forwarded 1.43 million (-2.1 %; -3 to +1).",
        "With the sampler the router forwarded 99 % of what it forwards without (94 % to 104 %, 8 pairs).",
        "<td>stage of the bed</td><td>virtual NIC</td><td>150</td><td>142 to 158</td><td>21.4 %</td>",
        "<td>cause</td><td>locks</td><td>30</td>",
        "<td>routing</td><td>120</td><td>61</td><td>58</td><td>68</td><td>63</td><td>106</td><td>123</td>\
         <td>218</td><td>yes</td>",
        "<td>RX</td><td>90</td><td>124</td>",
        "<td>129</td><td>no: a driver's work</td>",
        "fib_table_lookup (routing): 120 000 ns of 1 000 frames, 17.14 %",
    ] {
        assert!(page.contains(wanted), "{wanted}");
    }
    assert_eq!(page.matches("<svg class=\"flame\"").count(), 1);
}

/// Where a wire was measured, the sentence tells the router's part of each stage, and a column what the bed takes.
#[test]
fn a_wire_tells_the_routers_part() {
    let span = |median: f64| Interval {
        low: median - 10.0,
        median,
        high: median + 10.0,
    };
    let [nic, locks] = [("virtual NIC", 155.0), ("locks", 20.0)].map(|(part, ns)| PartCost {
        part: part.to_owned(),
        ns: span(ns),
        ..PartCost::default()
    });
    let more = |part, ns| PartChange::new(part, [ns - 5.0, ns, ns + 5.0], true);
    let wire = ProfiledWire {
        load: ProfiledLoad {
            frame_ns: span(441.0),
            stages: vec![nic],
            causes: vec![locks],
            ..ProfiledLoad::default()
        },
        pairs: 5,
        router_ns: span(259.0),
        stages: vec![
            more("prerouting", 80.0),
            more("routing", 120.0),
            more("TX", 59.0),
        ],
        unsampled_router_ns: Some(span(251.0)),
    };
    let page = |wire: &ProfiledWire| {
        let wire = serde_json::to_string(wire).expect("JSON");
        let text = lines::profiles().replacen("\"wire\":null", &format!("\"wire\":{wire}"), 1);
        page_of(text.as_bytes())
    };
    let mut before = wire.clone();
    before.stages.push(more("virtual NIC", 12.0));
    assert!(page(&before).contains(
        "A wire in the router's place takes 441 ns of it. The router's part is 259 ns (249 to 269)"
    ));
    assert!(page(&before).contains("takes 441 ns a frame. In all, the router takes 259 ns"));
    let mut unclear = wire.clone();
    unclear.router_ns = [-42.0, 78.0, 177.0].into();
    let wanted = "the router's less than 177 ns, so its stages cannot be told from the bed's. The router's CPU limits.";
    assert!(page(&unclear).contains(wanted));
    let page = page(&wire);
    for wanted in [
        "The bed's part is 441 ns, the router's 259 ns (249 to 269): routing 120, prerouting 80, TX 59. \
         The router's CPU limits.",
        "A wire in the router's place, in turns with it, takes 441 ns a frame. Without virtual NIC and exit, which are the \
         bed's, the router takes 259 ns (249 to 269) more, from 5 pairs of neighbouring trials. Trials without samples, \
         as those of `mpps throughput`, give 251 ns (241 to 261).",
        "<td>virtual NIC</td><td>150</td><td>142 to 158</td><td>155</td><td>21.4 %</td>",
        "<td>cause</td><td>locks</td><td>30</td><td>28 to 32</td><td>20</td>",
    ] {
        assert!(page.contains(wanted), "{wanted}");
    }
}

#[test]
fn a_torn_record_shows_what_is_whole() {
    let text = golden();
    let torn = &text.as_bytes()[..text.len() * 2 / 3];
    let page = page_of(torn);
    assert!(page.contains("run.jsonl: line 11: torn"), "its problem");
    assert!(page.contains("There is no result: the record ends after 9 trials"));
    assert!(page.contains("All 9 trials"));
}

#[test]
fn a_newer_schema_is_said_and_shown() {
    let text = golden().replace("\"schema\":4", "\"schema\":9");
    let page = page_of(text.as_bytes());
    assert!(page.contains("has schema 9, newer than 4"));
    assert!(page.contains("1.16 million without loss"));
}

#[test]
fn a_record_without_its_first_line_is_shown() {
    let text = golden();
    let rest = text.split_once('\n').expect("lines").1;
    let page = page_of(rest.as_bytes());
    assert!(page.contains("its plan, bed and facts are unknown"));
    assert!(page.contains("1.16 million without loss"));
}

#[test]
fn runs_that_are_there_twice_are_shown_once() {
    let text = golden();
    let all = |second: &str| {
        page(vec![
            source("one.jsonl", text.as_bytes()),
            source("two.jsonl", second.as_bytes()),
        ])
    };
    let page = all(&text);
    assert!(page.contains("is in one.jsonl and in two.jsonl: it is shown once."));
    assert_eq!(page.matches("<section id=").count(), 1);
    let shorter = text.rsplit_once("{\"schema\"").expect("lines").0;
    let page = all(shorter);
    assert!(page.contains("with different lines: both are shown."));
    assert_eq!(page.matches("<section id=").count(), 2);
    let page = page_of(format!("{text}{text}").as_bytes());
    assert!(page.contains("holds 16 lines twice: each is shown once."));
    assert!(page.contains("All 15 trials"));
}

#[test]
fn an_unreadable_file_hides_no_other() {
    let unreadable = Source {
        name: "notes.txt".to_owned(),
        records: Err("read notes.txt: no line of a record in it".to_owned()),
        raw: None,
    };
    let both = page(vec![
        unreadable.clone(),
        source("run.jsonl", golden().as_bytes()),
    ]);
    assert!(both.contains("no line of a record in it"));
    assert!(both.contains("All 15 trials"));
    assert!(page(vec![unreadable]).contains("There is no run to show."));
}

#[test]
fn a_search_is_drawn_by_time() {
    let numbered = golden();
    assert!(page_of(numbered.as_bytes()).contains("number of the trial"));
    let timed = |step_ns: u64| {
        let line = |line: &str| {
            let mut line: serde_json::Value = serde_json::from_str(line).expect("JSON");
            if let Some(trial) = line["trial"].as_u64() {
                line["begun_after_ns"] = (trial * step_ns).into();
            }
            format!("{line}\n")
        };
        page_of(numbered.lines().map(line).collect::<String>().as_bytes())
    };
    let page = timed(1_000_000_000);
    assert!(page.contains("seconds since the run began") && !page.contains("number of the trial"));
    assert!(timed(60_000_000_000).contains("minutes since the run began"));
}

#[test]
fn trials_that_are_missing_are_said() {
    let text = golden();
    let kept = |wanted: fn(&str) -> bool| {
        let lines = text.lines().filter(|line| wanted(line));
        lines.map(|line| format!("{line}\n")).collect::<String>()
    };
    let none = page_of(kept(|line| !line.contains("\"kind\":\"trial\"")).as_bytes());
    assert!(none.contains("had 15 trials, of which the file has 0."));
    assert!(none.contains("1.16 million without loss"));
    // Without an end, the numbers of the trials tell, or those that an answer names.
    let cut =
        kept(|line| !line.contains("\"kind\":\"end\"") && !line.contains("\"phase\":\"search\""));
    assert!(page_of(cut.as_bytes()).contains("has 5 of trials 1 to 15."));
    // A resumed run goes on with the numbers of another, which the file need not have.
    let later = kept(|line| {
        let is_trial = line.contains("\"kind\":\"trial\"");
        !line.contains("\"kind\":\"end\"") && (!is_trial || line.contains("\"phase\":\"search\""))
    });
    assert!(page_of(later.as_bytes()).contains("has 10 of trials 1 to 15."));
    let resumed = later.replace("\"arguments\":[", "\"arguments\":[\"--resume\",");
    assert!(!page_of(resumed.as_bytes()).contains("of trials"));
    let latencies = lines::latencies().replace("\"kind\":\"end\"", "\"kind\":\"later\"");
    assert!(page_of(latencies.as_bytes()).contains("has 0 of trials 1 to 2."));
}

/// The campaign's own line counts the trials of its cells' runs.
#[test]
fn trials_of_a_campaign_are_in_its_cells_runs() {
    let text = campaign();
    assert!(
        text.lines()
            .last()
            .expect("its end")
            .contains("\"trials\":3")
    );
    assert!(!page_of(text.as_bytes()).contains("of which the file has"));
    let (before, trial) = text
        .split_once("{\"schema\":3,\"kind\":\"trial\"")
        .expect("a trial");
    let torn = format!("{before}{}", trial.split_once('\n').expect("its end").1);
    let said = page_of(torn.as_bytes());
    assert_eq!(
        said.matches("had 3 trials, of which the file has 2.")
            .count(),
        2
    );
}

#[test]
fn another_tools_file_has_no_run() {
    let path = std::env::temp_dir().join(format!("mpps-report-other-{}", std::process::id()));
    for (text, wanted) in [
        (
            "{\"start\":{\"version\":\"iperf 3.16\"},\"end\":{}}\n",
            "no line of a record",
        ),
        ("", "it is empty"),
        ("\u{1f}\u{8b}", "is no record yet"),
    ] {
        std::fs::write(&path, text).expect("a file");
        let records = read_file(&path).map_err(|error| error.to_string());
        let name = path.display().to_string();
        let page = page(vec![Source {
            name,
            records,
            raw: None,
        }]);
        assert!(page.contains(wanted), "{wanted}");
        assert!(page.contains("There is no run to show."));
    }
    std::fs::remove_file(path).expect("the file goes");
}

/// Longer than a line may be.
#[test]
fn a_large_file_of_nothing_is_said() {
    let path = std::env::temp_dir().join(format!("mpps-report-large-{}", std::process::id()));
    std::fs::write(&path, golden()).expect("a file");
    let file = std::fs::OpenOptions::new()
        .write(true)
        .open(&path)
        .expect("it opens");
    file.set_len(300 << 20).expect("a sparse file");
    let opened = path.clone();
    let open = move || {
        let file = std::fs::File::open(&opened)?;
        Ok(Box::new(std::io::BufReader::new(file)) as Box<dyn std::io::BufRead>)
    };
    let page = page(vec![Source {
        name: "large.jsonl".to_owned(),
        records: read_file(&path).map_err(|error| error.to_string()),
        raw: Some(Raw::new(open)),
    }]);
    std::fs::remove_file(path).expect("the file goes");
    assert!(
        page.contains("line 19: longer than any line of a record: left out"),
        "{page}"
    );
    assert!(page.contains("All 15 trials") && page.contains("Download large.jsonl"));
}

#[test]
fn a_raw_file_too_large_for_the_page_is_said() {
    // Noise does not pack.
    let mut seed = 1_u64;
    let noise: Vec<u8> = std::iter::repeat_with(|| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 56) as u8
    })
    .take(6 << 20)
    .collect();
    let mut source = source("run.jsonl", golden().as_bytes());
    source.raw = Some(raw(&noise));
    let page = page(vec![source]);
    assert!(page.contains("is too large for this page") && page.len() < 1_000_000);
    // As sha256sum prints it.
    assert!(page.contains(
        "Its SHA-256 is <code>45a7c4d8afb881eebd30e4b47c0a88aba779d927be992ed7172bce91a6a56a69"
    ));
}

#[test]
fn every_record_of_the_benches_has_a_page() {
    let mut folders = vec![file("bench/runs")];
    let mut pages = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "jsonl")
                && let Ok(records) = read_file(&path)
            {
                let name = path.display().to_string();
                let runs = records.runs.len();
                let page = page(vec![Source {
                    name,
                    records: Ok(records),
                    raw: None,
                }]);
                let page = page.split("<script").next().expect("the page");
                let shown = page.matches("<section id=").count();
                assert!(shown == runs, "{}: {shown} of {runs}", path.display());
                for odd in ["NaN", ">inf", "\"inf", "-inf"] {
                    assert!(!page.contains(odd), "{}: {odd}", path.display());
                }
                pages += 1;
            }
        }
    }
    assert!(pages >= 10, "{pages} pages");
}
