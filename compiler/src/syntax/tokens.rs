//! Macro tokens as text, and back from places in the text to tokens.
