//! Map values as `u64` words in the machine's byte order.

/// Splits a map value into words; a rest shorter than a word is left out.
#[must_use]
pub fn to_words(value: &[u8]) -> Vec<u64> {
    value
        .as_chunks::<8>()
        .0
        .iter()
        .map(|octets| u64::from_ne_bytes(*octets))
        .collect()
}

/// Adds up a per-CPU value, word by word.
#[must_use]
pub fn sum_words(per_cpu: &[Vec<u8>]) -> Vec<u64> {
    let mut sum: Vec<u64> = Vec::new();
    for value in per_cpu {
        let words = to_words(value);
        sum.resize(sum.len().max(words.len()), 0);
        for (total, word) in sum.iter_mut().zip(words) {
            *total = total.wrapping_add(word);
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn per_cpu_values_add_up_word_by_word() {
        let one: Vec<u8> = [1u64, 20]
            .iter()
            .flat_map(|word| word.to_ne_bytes())
            .collect();
        let two: Vec<u8> = [2u64, 30]
            .iter()
            .flat_map(|word| word.to_ne_bytes())
            .collect();
        assert_eq!(sum_words(&[one, two]), [3, 50]);
    }
}
