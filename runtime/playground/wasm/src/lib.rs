//! The playground's answers for a page without a server: texts go through the module's memory.
//!
//! The page asks for [`room`], writes a question there, and reads the answer where [`answer`] says: four bytes of its length, lowest
//! first, and then its bytes.

use std::cell::RefCell;

thread_local! {
    static QUESTION: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static ANSWER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Where a question of so many bytes can be written.
#[unsafe(no_mangle)]
pub extern "C" fn room(length: usize) -> *mut u8 {
    QUESTION.with_borrow_mut(|question| {
        question.clear();
        question.resize(length, 0);
        question.as_mut_ptr()
    })
}

/// Answers the question that was written. The answer is there until the next question.
#[unsafe(no_mangle)]
pub extern "C" fn answer() -> *const u8 {
    let answer = QUESTION.with_borrow(|question| spc_playground::answer(&String::from_utf8_lossy(question)));
    ANSWER.with_borrow_mut(|kept| {
        kept.clear();
        kept.extend_from_slice(&(answer.len() as u32).to_le_bytes());
        kept.extend_from_slice(answer.as_bytes());
        kept.as_ptr()
    })
}
