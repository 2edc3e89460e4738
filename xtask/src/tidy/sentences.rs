//! The length of sentences in the documents that people read first. A sentence ends at its mark, or with its paragraph,
//! list item or cell of a table. A span of code counts as one word.
use super::Fault;
use super::tree::{File, Tree};

/// Words of a sentence at most.
const WORDS: usize = 25;

/// Words of a long sentence that the fault repeats.
const SHOWN: usize = 6;

/// Words that end with a full stop and no sentence.
const ABBREVIATIONS: [&str; 6] = ["e.g.", "i.e.", "vs.", "cf.", "al.", "approx."];

/// Stands for a space inside a word, as in a span of code.
const SPACE: char = '\u{1f}';

/// No sentence is long.
pub fn length(tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    for file in tree.files.iter().filter(|file| is_read_first(&file.path)) {
        for words in blocks(file).iter().map(|block| words(block)) {
            let mut start = 0;
            for end in (1..=words.len()).filter(|end| is_end(&words, *end)) {
                let sentence = &words[start..end];
                start = end;
                if sentence.len() > WORDS {
                    let shown: Vec<&str> = sentence.iter().map(|(_, word)| &**word).collect();
                    let shown = shown[..SHOWN].join(" ").replace(SPACE, " ");
                    faults.push(Fault {
                        path: file.path.clone(),
                        line: sentence[0].0,
                        what: format!("a sentence of {} words: '{shown} ...'", sentence.len()),
                        why: "a short sentence is understood at the first reading",
                        remedy: format!("write at most {WORDS} words"),
                    });
                }
            }
        }
    }
    faults
}

fn is_read_first(path: &str) -> bool {
    let at_root = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"].contains(&path);
    at_root || path.starts_with("docs/") && path.ends_with(".md")
}

/// Lines, with their numbers, of text that no sentence leaves: a paragraph, a list item, a cell.
fn blocks(file: &File) -> Vec<Vec<(usize, &str)>> {
    let (mut blocks, mut is_fenced) = (vec![Vec::new()], false);
    for (text, number) in file.text.lines().zip(1..) {
        let text = text.trim_start_matches([' ', '>']);
        let is_fence = text.starts_with("```");
        is_fenced ^= is_fence;
        let is_prose = !is_fenced && !is_fence && !text.starts_with('#');
        if !is_prose || text.is_empty() || is_item(text) {
            blocks.push(Vec::new());
        }
        if is_prose && text.starts_with('|') {
            blocks.extend(text.split('|').map(|cell| vec![(number, cell)]));
            blocks.push(Vec::new());
        } else if let Some(block) = blocks.last_mut().filter(|_| is_prose) {
            block.push((number, text));
        }
    }
    blocks
}

/// `- `, `* `, `1. `
fn is_item(text: &str) -> bool {
    let mark = text.split(' ').next().unwrap_or_default();
    let number = mark.strip_suffix('.').unwrap_or_default();
    ["-", "*"].contains(&mark) || !number.is_empty() && number.bytes().all(|c| c.is_ascii_digit())
}

/// The words of a block and their lines. Marks that stand alone are none; a link is its text.
fn words(block: &[(usize, &str)]) -> Vec<(usize, String)> {
    let (mut is_code, mut is_target) = (false, false);
    let mut words: Vec<(usize, String)> = Vec::new();
    let mut word = String::new();
    for (number, text) in block {
        for letter in text.chars().chain(['\n']) {
            is_code ^= letter == '`';
            is_target |= letter == '(' && word.ends_with(']') && !is_code;
            match letter {
                ')' if is_target => is_target = false,
                _ if is_target => {}
                _ if letter.is_whitespace() && is_code => word.push(SPACE),
                _ if letter.is_whitespace() => {
                    let word = std::mem::take(&mut word);
                    if word.contains(|c: char| c.is_alphanumeric() || c == '`') {
                        words.push((*number, word));
                    } else if let Some((_, before)) = words.last_mut() {
                        before.push(SPACE); // the end of "5 %."
                        before.push_str(&word);
                    }
                }
                _ => word.push(letter),
            }
        }
    }
    words
}

/// True if a sentence ends before word `at`. A mark inside quotes or brackets ends none that goes on in small letters.
fn is_end(words: &[(usize, String)], at: usize) -> bool {
    let Some((_, next)) = words.get(at) else {
        return true;
    };
    let word = &*words[at - 1].1;
    let bare = word.trim_end_matches([')', '"', '\'', '*', '_', ']']);
    let goes_on = bare != word && next.starts_with(char::is_lowercase);
    let opened = bare.trim_start_matches(['(', '"', '\'', '*', '_', '[']);
    let is_marked = bare.ends_with(['.', '?', '!']) && !bare.ends_with("..");
    is_marked && !goes_on && !ABBREVIATIONS.contains(&opened)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines and numbers of words of the faults in a document.
    fn found(text: &str) -> Vec<(usize, usize)> {
        let faults = length(&Tree::from_files(&[("docs/a.md", text)]));
        let count = |fault: &Fault| fault.what.split(' ').nth(3).and_then(|n| n.parse().ok());
        let faults = faults.iter();
        faults
            .map(|fault| (fault.line, count(fault).expect("a number")))
            .collect()
    }

    fn of(words: usize) -> String {
        vec!["word"; words].join(" ")
    }

    #[test]
    fn a_sentence_too_long_is_a_fault() {
        assert_eq!(found(&format!("{}.\n", of(WORDS))), []);
        let text = format!("Short.\n\nShort. {}:\n{}; a.\nShort.\n", of(20), of(5));
        assert_eq!(found(&text), [(3, 26)]);
        let faults = length(&Tree::from_files(&[(
            "docs/a.md",
            &format!("`a b` {}", of(25)),
        )]));
        let what = "a sentence of 26 words: '`a b` word word word word word ...'";
        assert_eq!(faults[0].what, what);
    }

    #[test]
    fn sentences_end_at_marks_and_blocks() {
        let half = of(15);
        for between in [
            ". ", "? ", ".\n\n", "\n- ", "\n  2. ", "\n# a\n", ".) A ", " %. ", " | ", ".\" A ",
        ] {
            let text = format!("| {half}{between}{half}\n");
            assert_eq!(found(&text), [], "{between}");
        }
    }

    #[test]
    fn other_full_stops_end_no_sentence() {
        let half = of(15);
        for between in [
            " e.g. ", " (vs. ", " 26.2 ", " a.rs ", " `a.` ", " \"a?\" ", "; ", "\n",
        ] {
            let text = format!("{half}{between}{half}\n");
            assert_eq!(found(&text).len(), 1, "{between}");
        }
    }

    #[test]
    fn spans_of_code_and_targets_are_short() {
        let text = format!(
            "{} `{}\n{}` - [a b](c d e). {}.\n",
            of(20),
            of(9),
            of(9),
            of(23)
        );
        assert_eq!(found(&text), []);
        let text = format!("```text\n{}\n```\n# {}\n", of(30), of(30));
        assert_eq!(found(&text), []);
    }

    #[test]
    fn only_what_is_read_first_is_held_to_it() {
        let text = of(WORDS + 1);
        let paths = [
            "README.md",
            "docs/b/c.md",
            "CHANGELOG.md",
            "bench/README.md",
            "docs/a.rs",
        ];
        let faults = length(&Tree::from_files(&paths.map(|path| (path, &*text))));
        let paths: Vec<&str> = faults.iter().map(|fault| &*fault.path).collect();
        assert_eq!(paths, ["README.md", "docs/b/c.md"]);
    }
}
