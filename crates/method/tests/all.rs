//! All tests of this crate that stand outside its code, as one program: linked once.

mod mlrsearch;
