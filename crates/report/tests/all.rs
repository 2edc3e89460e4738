//! All tests of this crate that stand outside its code, as one program: linked once.

mod browser;
mod formats;
mod page;
mod size;
mod support;
mod tree;
mod values;
