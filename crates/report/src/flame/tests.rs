use super::*;

const STAGES: [&str; 2] = ["RX", "routing"];

fn stack<'a>(frames: &[(&'a str, &'a str)], weight: u64) -> Stack<'a> {
    Stack {
        frames: frames
            .iter()
            .map(|&(name, stage)| Frame { name, stage })
            .collect(),
        weight,
    }
}

fn stacks() -> Vec<Stack<'static>> {
    vec![
        stack(&[("ip_rcv", "RX"), ("fib_table_lookup", "routing")], 30),
        stack(&[("ip_rcv", "RX")], 60),
        stack(&[("ip_rcv", "RX"), ("fib_table_lookup", "routing")], 10),
    ]
}

/// The part of an SVG that draws a function, its first one.
fn frame<'a>(svg: &'a str, name: &str) -> &'a str {
    let from = svg
        .find(&format!("data-name=\"{name}\""))
        .expect("the frame");
    svg[from..].split("</g>").next().expect("its end")
}

fn number(frame: &str, attribute: &str) -> f64 {
    let (_, rest) = frame
        .split_once(&format!(" {attribute}=\""))
        .expect("the attribute");
    rest.split('"')
        .next()
        .and_then(|number| number.parse().ok())
        .expect("a number")
}

#[test]
fn frames_are_as_wide_as_their_weight() {
    let svg = flame_graph("Cost", &stacks(), &STAGES, "samples");
    assert_eq!(svg.matches("<g class=\"f\"").count(), 3);
    let (all, ip, fib) = (
        frame(&svg, "all"),
        frame(&svg, "ip_rcv"),
        frame(&svg, "fib_table_lookup"),
    );
    assert_eq!(number(all, "width"), WIDTH - 2.0 * GAP);
    assert_eq!(number(ip, "width"), number(all, "width"));
    assert!((number(fib, "width") - 0.4 * number(all, "width")).abs() < 0.01);
    // A callee stands on its caller.
    assert_eq!(number(ip, "y") - number(fib, "y"), ROW);
    assert!(ip.contains(COLOURS[0]) && fib.contains(COLOURS[1]));
    assert!(fib.contains("fib_table_lookup (routing): 40 samples, 40.00 %"));
}

#[test]
fn callees_stand_side_by_side() {
    let two = [
        stack(&[("f", "RX"), ("a", "RX")], 25),
        stack(&[("f", "RX"), ("b", "RX")], 75),
    ];
    let svg = flame_graph("Cost", &two, &STAGES, "samples");
    let (a, b) = (frame(&svg, "a"), frame(&svg, "b"));
    assert!((number(a, "x") + number(a, "width") - number(b, "x")).abs() < 0.02);
    assert_eq!(number(a, "y"), number(b, "y"));
}

#[test]
fn no_name_becomes_markup() {
    let hostile = "</title><script>alert(1)</script>\u{1b}\"&";
    let svg = flame_graph(
        hostile,
        &[stack(&[(hostile, hostile)], 1)],
        &[hostile],
        hostile,
    );
    assert_eq!(svg.matches("<script").count(), 1);
    assert!(!svg.contains("alert(1)</script>") && !svg.trim_end().contains(char::is_control));
    let svg = flame_difference(
        hostile,
        &[stack(&[(hostile, "RX")], 1)],
        &[],
        hostile,
        &|_| 0,
    );
    assert_eq!(svg.matches("<script").count(), 1);
}

#[test]
fn the_script_needs_no_escapes() {
    // A picture is XML, where a bare < or & within a script is an error.
    assert!(!SCRIPT.contains(['<', '&']) && !STYLE.contains(['<', '&']));
    // Lines become one, so a comment would end it.
    assert!(!SCRIPT.contains("//"));
}

#[test]
fn a_difference_shows_both_ways() {
    let before = [
        stack(&[("f", "RX"), ("gone", "RX")], 50),
        stack(&[("f", "RX"), ("same", "RX")], 50),
    ];
    let after = [
        stack(&[("f", "RX"), ("new", "routing")], 100),
        stack(&[("f", "RX"), ("same", "RX")], 50),
    ];
    let svg = flame_difference("Cost", &before, &after, "ns", &|_| 0);
    assert!(frame(&svg, "gone").contains("50 before, 0 after, -50 ns"));
    assert!(frame(&svg, "gone").contains("rgb(178,178,255)"));
    assert!(frame(&svg, "new").contains("0 before, 100 after, +100 ns"));
    assert!(frame(&svg, "new").contains("rgb(255,100,100)"));
    assert!(frame(&svg, "same").contains("rgb(255,255,255)"));
    // What has only callees that changed did not change itself.
    assert!(frame(&svg, "f").contains("rgb(255,255,255)"));
    assert!(
        (number(frame(&svg, "gone"), "width") - number(frame(&svg, "all"), "width") / 5.0).abs()
            < 0.01
    );
}

#[test]
fn what_chance_changes_is_white() {
    let two = |rx: u64, routing: u64| {
        [
            stack(&[("f", "RX")], rx),
            stack(&[("g", "routing")], routing),
        ]
    };
    let by_chance = |stage: &str| if stage == "RX" { 10 } else { 4 };
    let svg = flame_difference("Cost", &two(50, 50), &two(60, 45), "ns", &by_chance);
    assert!(frame(&svg, "f").contains("fill:rgb(255,255,255)"), "{svg}");
    assert!(frame(&svg, "g").contains("fill:rgb(178,178,255)"), "{svg}");
}

#[test]
fn equal_stacks_fold_into_a_line() {
    assert_eq!(folded(&stacks()), "ip_rcv 60\nip_rcv;fib_table_lookup 40\n");
    let odd = [stack(&[("a;b c\n", "RX")], 1), stack(&[], 7)];
    assert_eq!(folded(&odd), "a:b:c: 1\n");
}

/// The lines that the Firefox Profiler and speedscope look for; docs/explain.md names the versions tried.
#[test]
fn a_sample_is_a_ms_of_a_script_s_axis() {
    let script = perf_script(
        &[stack(&[("f", "RX"), ("a (eBPF)", "RX")], 2_002_999)],
        1_000,
    );
    let frames = "\t               0 a:(eBPF) ([kernel.kallsyms])\n\t               0 f ([kernel.kallsyms])\n\n";
    for at in ["0.001", "0.999", "1.000", "2.002"] {
        let sample = format!("router 1 [000] {at}: 1 ns:\n{frames}");
        assert_eq!(script.matches(&sample).count(), 1, "{at}");
    }
    assert_eq!(script.matches("ns:").count(), 2_002);
}

#[test]
fn nothing_draws_an_empty_graph() {
    let svg = flame_graph("Cost", &[], &STAGES, "samples");
    assert!(svg.contains("0 samples"));
    assert!(!svg.contains("NaN") && !svg.contains("inf"));
    assert_eq!(folded(&[]), "");
}

#[test]
fn long_names_are_shortened() {
    assert_eq!(shortened("ip_rcv", 6), "ip_rcv");
    assert_eq!(shortened("ip_rcv", 5), "ip_..");
    assert_eq!(shortened("ip_rcv", 2), "");
    assert_eq!(shortened("é€ü漢字", 4), "é€..");
}
