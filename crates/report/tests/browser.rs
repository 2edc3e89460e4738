//! A browser opens the page: no error, no request, every point drawn, sorting and filtering work, a phone's width fits.

use crate::support::{campaign, curve, file, golden, lines, long, page, source};
use mpps_report::profile;
use std::path::PathBuf;
use std::process::Command;

/// Before all else: whatever goes wrong is counted.
const WATCH: &str = "<script>var wrong = []; \
    window.onerror = (what) => wrong.push(what); \
    document.addEventListener('securitypolicyviolation', (event) => wrong.push(event.violatedDirective));\
    </script>";

/// At the end: what a person would see, as lines of `name=value`.
const PROBE: &str = r#"<script>
const told = [];
const tell = (name, value) => told.push(`${name}=${value}`);
const all = (selector, inside = document) => [...inside.querySelectorAll(selector)];
for (const figure of all(".plot")) {
  const drawn = all("g.mark, rect.mark", figure).filter((mark) => mark.getBBox().width > 0);
  tell("plot " + figure.querySelector("b").textContent, drawn.length);
}
const trials = document.querySelector("table.trials") ?? document.querySelector("table.sortable");
tell("rows", trials.tBodies[0].rows.length);
const head = all("th", trials).find((head) => head.textContent.startsWith("forwarded")) ?? all("th", trials)[0];
const column = [...head.parentNode.children].indexOf(head);
const numbers = () => all("tbody tr", trials).map((row) => Number(row.cells[column].textContent.replace(/\s/g, "")));
// Cells without a number are last, whichever way.
const rising = (list) => list.filter((value) => !isNaN(value)).every((value, at, list) => at === 0 || list[at - 1] <= value);
head.querySelector("button").click();
tell("rising", rising(numbers()));
head.querySelector("button").click();
tell("falling", rising(numbers().reverse()));
const seen = () => all("tbody tr", trials).filter((row) => !row.hidden).length;
tell("seen", seen());
const more = trials.parentNode.nextElementSibling;
if (more) {
  tell("more", more.hidden ? "" : more.textContent);
  more.click();
  tell("seen of all", seen());
}
const filter = document.querySelector(".filter input");
if (filter) {
  filter.value = "gate";
  filter.dispatchEvent(new Event("input"));
}
tell("filtered", seen());
const mark = document.querySelector("g.mark");
mark.dispatchEvent(new PointerEvent("pointerover", { bubbles: true }));
const mixed = all("table.sortable th").find((head) => head.textContent === "p99.99");
if (mixed) {
  const at = [...mixed.parentNode.children].indexOf(mixed);
  const unit = { ns: 1, "µs": 1e3, ms: 1e6, s: 1e9 };
  const times = () => all("tbody tr", mixed.closest("table")).map((row) => row.cells[at].textContent.split(" "));
  mixed.querySelector("button").click();
  tell("times", rising(times().map(([number, name]) => Number(number) * unit[name])));
  tell("units of times", new Set(times().map(([, name]) => name)).size);
}
tell("shown", mark.closest(".plot").querySelector("output").textContent.length > 10);
const flame = document.querySelector(".flame");
if (flame) {
  const frames = all(".f", flame), width = (frame) => Number(frame.querySelector("rect").getAttribute("width"));
  tell("frames of the flame graph", frames.filter((frame) => frame.getBBox().width > 0 && frame.querySelector("title")).length);
  const leaf = frames.find((frame) => frame.dataset.name === "fib_table_lookup");
  tell("flame coloured", getComputedStyle(leaf.querySelector("rect")).fill === "rgb(255, 170, 187)");
  const before = width(leaf);
  leaf.dispatchEvent(new MouseEvent("click", { bubbles: true }));
  tell("flame enlarged", width(leaf) > 2 * before && width(leaf) === width(frames[0]));
  tell("ids", new Set(all("[id]").map((one) => one.id)).size === all("[id]").length);
}
tell("dark", matchMedia("(prefers-color-scheme: dark)").matches);
tell("background", getComputedStyle(document.body).backgroundColor);
tell("fits", document.documentElement.scrollWidth <= window.innerWidth);
tell("width", window.innerWidth);
tell("requests", performance.getEntriesByType("resource").length);
// A number in a cell of an answer is in one line.
const lines = (cell) => {
  const range = document.createRange();
  range.selectNodeContents(cell);
  return new Set([...range.getClientRects()].map((part) => part.top)).size;
};
tell("answer cells", all(".answer td").length);
tell("broken", all(".answer td").filter((cell) => lines(cell) > 1).length);
tell("wrong", wrong.join(" "));
const result = document.createElement("pre");
result.id = "probe";
result.textContent = told.join("\n");
document.body.append(result);
parent.postMessage(result.textContent, "*");
</script>"#;
/// Before the frames with the pages: a browser's window is at least 500 pixels wide, and a phone is not. The frames lie on
/// one another, so that each is in sight. At the end stands what all pages told, in the order of the frames.
const FRAMES: &str = r#"<style>iframe { position: absolute; top: 0; left: 0; }</style><script>
const told = new Map();
onmessage = (event) => {
  told.set(event.source, event.data);
  if (told.size < Number(document.body.dataset.pages)) return;
  const frames = [...document.querySelectorAll("iframe")];
  const result = document.createElement("pre");
  result.id = "probe";
  result.textContent = frames.map((frame) => told.get(frame.contentWindow)).join("\n\n");
  document.body.append(result);
};
</script>"#;
/// Width of a phone.
const PHONE: u32 = 400;

/// What a probe told of a page, each by its name.
type Told = Vec<(String, String)>;

/// A Chromium of this machine.
fn browser() -> Option<PathBuf> {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let folders = std::env::var_os("PATH")?;
    let all =
        std::env::split_paths(&folders).flat_map(|folder| names.map(|name| folder.join(name)));
    all.into_iter().find(|path| path.is_file())
}

/// What the probes told of pages at these widths, in one window, light or dark. `None` where there is no browser.
fn opened(name: &str, pages: &[(&str, u32)], dark: bool) -> Option<Vec<Told>> {
    let frames = format!("{FRAMES}<body data-pages={}>", pages.len());
    let mut files = vec![("frames.html".to_owned(), frames)];
    for (place, (page, width)) in pages.iter().enumerate() {
        let watched = page.replacen("<head>", &format!("<head>{WATCH}"), 1);
        let probed = watched.replacen("</body>", &format!("{PROBE}</body>"), 1);
        let file = format!("page{place}.html");
        files[0].1 += &format!("<iframe src={file} height=800 width={width}></iframe>");
        files.push((file, probed));
    }
    let files: Vec<(&str, &str)> = (files.iter())
        .map(|(name, text)| (name.as_str(), text.as_str()))
        .collect();
    let widest = pages.iter().map(|(_, width)| *width).max()?;
    let told = dumped(name, &files, (widest + 40, dark))?;
    let of_page = |told: &str| {
        let lines = told.lines().filter_map(|line| line.rsplit_once('='));
        let lines = lines.map(|(name, value)| (name.to_owned(), value.to_owned()));
        lines.collect::<Told>()
    };
    let told: Vec<Told> = told.split("\n\n").map(of_page).collect();
    assert_eq!(told.len(), pages.len(), "{told:?}");
    Some(told)
}

/// What the first of these files told in its element `probe`, opened in a window of a width, light or dark.
fn dumped(name: &str, files: &[(&str, &str)], look: (u32, bool)) -> Option<String> {
    dumped_by(name, files, look, &["--virtual-time-budget=20000"])
}

/// The same by a clock that these options name.
fn dumped_by(
    name: &str,
    files: &[(&str, &str)],
    (width, dark): (u32, bool),
    clock: &[&str],
) -> Option<String> {
    let Some(browser) = browser() else {
        println!("SKIP: needs a Chromium in PATH (apt-get install chromium)");
        return None;
    };
    let folder = std::env::temp_dir().join(format!("mpps-report-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    for (name, text) in files {
        std::fs::write(folder.join(name), text).expect("a file");
    }
    let ended = Command::new("timeout")
        .arg("120")
        .arg(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"])
        .arg(format!("--window-size={width},900"))
        // Chromium's number of the scheme that a page is asked for.
        .arg(format!(
            "--blink-settings=preferredColorScheme={}",
            if dark { 0 } else { 1 }
        ))
        .args(["--enable-logging=stderr", "--disable-background-networking"])
        .arg(format!(
            "--user-data-dir={}",
            folder.join("profile").display()
        ))
        .args(clock)
        .arg(folder.join(files[0].0))
        .output()
        .expect("the browser starts");
    let (page, log) = (
        String::from_utf8_lossy(&ended.stdout).into_owned(),
        String::from_utf8_lossy(&ended.stderr).into_owned(),
    );
    std::fs::remove_dir_all(&folder).expect("the folder goes");
    let said: Vec<&str> = log
        .lines()
        .filter(|line| line.contains("CONSOLE"))
        .collect();
    assert_eq!(said, [""; 0]);
    let told = page.split_once("id=\"probe\">").map(|(_, rest)| rest);
    let told = told.unwrap_or_else(|| panic!("no answer of the page: {log}"));
    let (told, _) = told.split_once("</").expect("an end");
    Some(told.to_owned())
}

/// By itself too a flame graph has its frames, and one that is clicked at fills it.
#[test]
fn a_browser_opens_a_flame_graph_alone() {
    const CLICK: &str = r#"<script>
const frames = [...document.querySelectorAll(".f")];
const width = (frame) => Number(frame.querySelector("rect").getAttribute("width"));
const leaf = frames.find((frame) => frame.dataset.name === "fib_table_lookup"), before = width(leaf);
leaf.dispatchEvent(new MouseEvent("click", { bubbles: true }));
const told = document.createElementNS("http://www.w3.org/2000/svg", "text");
told.id = "probe";
told.textContent = `${frames.filter((frame) => frame.querySelector("title")).length} frames, ` +
  (width(leaf) > 2 * before ? "enlarged" : "as before");
document.documentElement.append(told);
</script></svg>"#;
    let source = source("run.jsonl", lines::profiles().as_bytes());
    let records = source.records.expect("records");
    let svg = profile::flame(&records.runs[0].profiles).expect("stacks");
    let svg = svg.replace("</svg>", CLICK);
    if let Some(told) = dumped("flame", &[("flame.svg", &svg)], (1300, false)) {
        assert_eq!(told, "13 frames, enlarged");
    }
}

/// The text of a printed page. `None` where a tool is missing.
fn printed(name: &str, page: &str) -> Option<String> {
    let browser = browser()?;
    let folder = std::env::temp_dir().join(format!("mpps-report-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let [path, pdf] = ["page.html", "page.pdf"].map(|name| folder.join(name));
    std::fs::write(&path, page).expect("a file");
    let ended = Command::new("timeout")
        .arg("120")
        .arg(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu"])
        .args(["--no-pdf-header-footer", "--disable-background-networking"])
        .arg(format!("--print-to-pdf={}", pdf.display()))
        .arg(format!(
            "--user-data-dir={}",
            folder.join("profile").display()
        ))
        .arg(&path)
        .output()
        .expect("the browser starts");
    assert!(pdf.exists(), "{ended:?}");
    let text = Command::new("pdftotext")
        .arg("-layout")
        .arg(&pdf)
        .arg("-")
        .output();
    std::fs::remove_dir_all(&folder).expect("the folder goes");
    Some(String::from_utf8_lossy(&text.ok()?.stdout).into_owned())
}

/// Folded parts are printed; rows that are not, are said.
#[test]
fn a_printed_page_hides_nothing_unsaid() {
    let page = page(vec![long(600)]);
    let Some(text) = printed("printed", &page) else {
        println!(
            "SKIP: needs a Chromium and pdftotext in PATH (apt-get install chromium poppler-utils)"
        );
        return;
    };
    for wanted in ["Not printed: 100 rows", "kernel_release", "Series"] {
        assert!(text.contains(wanted), "{wanted}");
    }
}

/// A page, and what a browser has to tell of it.
struct Shown {
    name: &'static str,
    page: String,
    wanted: &'static [(&'static str, &'static str)],
}

/// What must hold on every page, and on this one.
fn check(name: &str, told: &[(String, String)], wanted: &[(&str, &str)]) {
    let always = [
        ("rising", "true"),
        ("falling", "true"),
        ("shown", "true"),
        ("fits", "true"),
        ("requests", "0"),
        ("wrong", ""),
        ("broken", "0"),
    ];
    for (what, value) in always.iter().chain(wanted) {
        let found = told.iter().find(|(known, _)| known == what);
        assert_eq!(
            found.map(|(_, value)| value.as_str()),
            Some(*value),
            "{name}: {what}: {told:?}"
        );
    }
}

#[test]
fn a_browser_shows_pages_of_all_kinds() {
    let all = [
        one_run(),
        measured_runs(),
        curves(),
        suite(),
        every_job(),
        of_campaign(),
    ];
    let pages = all.each_ref().map(|shown| (shown.page.as_str(), PHONE));
    let Some(told) = opened("kinds", &pages, false) else {
        return;
    };
    for (shown, told) in all.iter().zip(&told) {
        check(shown.name, told, shown.wanted);
    }
}

/// The page of a record with this text.
fn of_record(text: &str) -> String {
    page(vec![source("run.jsonl", text.as_bytes())])
}

fn one_run() -> Shown {
    Shown {
        name: "one run",
        page: of_record(&golden()),
        wanted: &[
            ("rows", "15"),
            ("seen", "15"),
            ("more", ""),
            ("filtered", "5"),
            ("plot Rate by frame size", "3"),
            ("plot 64 B: the search as it went", "10"),
            ("plot 64 B: forwarding rate by load", "15"),
            ("plot 64 B: loss and router busy by load", "30"),
        ],
    }
}

fn measured_runs() -> Shown {
    let folder = "bench/runs/2026-11-22-epyc-vm-2cpu";
    let read = |path: &str| std::fs::read(file(&format!("{folder}/{path}"))).expect("a record");
    let sources =
        ["overload/trials.jsonl", "fib-scale/raw.jsonl"].map(|path| source(path, &read(path)));
    Shown {
        name: "measured runs",
        page: page(sources.into()),
        wanted: &[
            ("plot Cost of a frame at overload", "2"),
            (
                "plot Cost of a frame at overload by routes and destinations",
                "9",
            ),
            ("plot Latency by percentile", "4"),
        ],
    }
}

fn curves() -> Shown {
    Shown {
        name: "curves",
        page: of_record(&curve()),
        wanted: &[
            ("rows", "5"),
            ("plot Forwarding rate by offered load", "5"),
            ("plot Loss by offered load", "5"),
            ("plot Router busy by offered load", "5"),
        ],
    }
}

fn suite() -> Shown {
    Shown {
        name: "a suite",
        page: of_record(&lines::suite()),
        wanted: &[("answer cells", "7")],
    }
}

/// Latencies first: their cells of several units stand in the order of their times.
fn every_job() -> Shown {
    let texts = [
        lines::latencies(),
        lines::bursts(),
        lines::recoveries(),
        lines::comparisons(),
        lines::profiles(),
    ];
    let sources = texts.map(|text| source("run.jsonl", text.as_bytes()));
    Shown {
        name: "every job",
        page: page(sources.into()),
        wanted: &[
            ("rows", "5"),
            ("times", "true"),
            ("units of times", "2"),
            ("plot Longest burst without loss", "5"),
            ("plot Buffer time by frame size", "2"),
            ("plot Recovery time by trial", "4"),
            ("plot Frames/s of each variant", "6"),
            ("plot CPU time of a frame against the first variant", "4"),
            ("plot 64 B: cost of a frame by stage", "10"),
            ("plot 64 B: cost of a frame by load", "4"),
            ("frames of the flame graph", "12"),
            ("flame enlarged", "true"),
            ("flame coloured", "true"),
            ("ids", "true"),
        ],
    }
}

fn of_campaign() -> Shown {
    Shown {
        name: "a campaign",
        page: of_record(&campaign()),
        wanted: &[
            ("plot Frames/s by scenario", "13"),
            ("plot Change of frames/s by setting", "2"),
        ],
    }
}

#[test]
fn a_page_fits_each_width_light_and_dark() {
    let page = of_record(&golden());
    let mut backgrounds = Vec::new();
    for (dark, widths) in [(false, [360, 1400]), (true, [360, 900])] {
        let pages = widths.map(|width| (page.as_str(), width));
        let Some(told) = opened(&format!("dark-{dark}"), &pages, dark) else {
            return;
        };
        for (width, told) in widths.into_iter().zip(told) {
            let name = format!("{width} pixels");
            check(
                &name,
                &told,
                &[("dark", &dark.to_string()), ("width", &width.to_string())],
            );
            let background = told.into_iter().find(|(name, _)| name == "background");
            backgrounds.extend(background);
        }
    }
    assert_eq!(backgrounds[0], backgrounds[1]);
    assert_eq!(backgrounds[2], backgrounds[3]);
    assert_ne!(backgrounds[0], backgrounds[2], "dark is as light");
}

#[test]
fn a_browser_shows_ten_thousand_trials() {
    let page = page(vec![long(10_000)]);
    let Some(told) = opened("long", &[(page.as_str(), PHONE)], false) else {
        return;
    };
    let wanted = [
        ("rows", "10000"),
        ("seen", "500"),
        ("more", "Show all 10000 rows"),
        ("seen of all", "10000"),
    ];
    check("10 000 trials", &told[0], &wanted);
}

/// How long a page takes until its plots and tables are laid out, ms: by the machine's own clock.
fn shown_after_ms(page: &str) -> Option<f64> {
    const TELL: &str = r#"<script>
document.body.getBoundingClientRect();
const told = document.createElement("pre");
told.textContent = performance.now();
told.id = "probe";
document.body.append(told);
</script></body>"#;
    let page = page.replacen("</body>", TELL, 1);
    let told = dumped_by("timed", &[("page.html", &page)], (1300, false), &[])?;
    Some(told.parse().expect("a number"))
}

/// A loaded machine is slow with a small page too. Between two pages next to each other it says little, so a failure needs
/// both: that the large one takes too long, and far longer than the small one.
#[test]
fn ten_thousand_trials_are_shown_in_2_s() {
    const MOST_MS: f64 = 2_000.0;
    const MOST_TIMES: f64 = 20.0;
    let [small, large] = [100, 10_000].map(|trials| page(vec![long(trials)]));
    let mut tries = Vec::new();
    for _ in 0..3 {
        let (Some(few_ms), Some(all_ms)) = (shown_after_ms(&small), shown_after_ms(&large)) else {
            return;
        };
        println!("10 000 trials are shown after {all_ms:.0} ms, 100 after {few_ms:.0} ms");
        if all_ms < MOST_MS {
            return;
        }
        if all_ms < MOST_TIMES * few_ms {
            println!("SKIP: the machine was loaded");
            return;
        }
        tries.push([all_ms, few_ms]);
    }
    panic!("10 000 trials and 100 trials took so many ms: {tries:.0?}");
}
