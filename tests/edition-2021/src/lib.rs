//! Generated code compiles in edition 2021 as it does in 2024: the codegen case 016.

#[rustfmt::skip]
#[path = "../../goldens/reserved_words/mod.rs"]
pub mod reserved_words;

#[cfg(test)]
mod tests {
    use super::reserved_words::Keywords;

    #[test]
    fn case_016_reserved_words_in_edition_2021() {
        let value = Keywords { r#gen: 10, r#try: 11, ..Keywords::default() };
        assert_eq!((value.r#gen, value.r#try, value.r#type), (10, 11, 0));
    }
}
