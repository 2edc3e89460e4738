//! Enums whose variants have words.

/// Declares an enum with every variant in its order (`ALL`) and the word of each, in records, on the command line and
/// in text: `name()`, and `Display`.
#[macro_export]
macro_rules! named {
    ($(#[$about:meta])* $vis:vis enum $name:ident {
        $($(#[$of_variant:meta])* $variant:ident = $word:literal,)+
    }) => {
        $(#[$about])*
        $vis enum $name {
            $($(#[$of_variant])* $variant,)+
        }

        impl $name {
            /// Every one.
            pub const ALL: [Self; [$($word),+].len()] = [$(Self::$variant),+];

            /// The word.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.pad(self.name())
            }
        }
    };
}
