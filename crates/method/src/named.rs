//! Enums whose variants have words.

/// Declares an enum with `name()`: the word of each variant in records, on the command line and in text.
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
            /// The word.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }
    };
}
