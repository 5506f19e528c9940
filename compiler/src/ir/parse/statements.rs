//! Statements.

use super::declarations::{id_number, unescape};
use super::{Parser, Result, Token};
use crate::ir::*;

impl<'t> Parser<'t> {
    /// Statements in braces.
    pub(super) fn block(&mut self) -> Result<Vec<Statement>> {
        self.deeper(|parser| {
            parser.require("{")?;
            let mut body = Vec::new();
            while !parser.accept("}")? {
                body.push(parser.statement()?);
            }
            Ok(body)
        })
    }

    fn statement(&mut self) -> Result<Statement> {
        match *self.peek()? {
            Token::Comment(text) => self.next().map(|_| Statement::Comment(unescape(text))),
            Token::Word(word) => self.statement_of(word),
            _ => self.expected("a statement or `}`"),
        }
    }

    /// What nests is parsed by functions of its own, so that little lies on the stack for each level.
    fn statement_of(&mut self, word: &'t str) -> Result<Statement> {
        match word {
            "let" | "allocate" | "folds" | "fill" | "push" | "extend" | "mark" => self.of_array(word),
            "view" => self.view(),
            "numbers" => self.numbers(),
            "list" | "table" | "directory" | "bitmap" | "insert" | "sort" | "clear" | "reset" => {
                self.of_workspace(word)
            }
            "marked" => self.marked_loop(),
            "for" => self.for_loop(),
            "while" => self.while_loop(),
            "merge" => self.merge(),
            "if" => self.branching(),
            "parallel" => self.parallel_loop(),
            _ => self.change(word),
        }
    }

    fn while_loop(&mut self) -> Result<Statement> {
        self.next()?;
        let condition = self.expr()?;
        Ok(Statement::While(condition, self.block()?))
    }

    fn merge(&mut self) -> Result<Statement> {
        self.next()?;
        let coordinate = self.variable()?;
        self.require("of")?;
        let mut walks = vec![self.walk()?];
        while self.accept(",")? {
            walks.push(self.walk()?);
        }
        let directory = if self.accept("by")? { Some(self.look_up()?) } else { None };
        let mut points = Vec::new();
        while self.accept("where")? {
            let mut operands = self.list_of(&walks)?;
            while self.accept(",")? {
                operands = operands.union(self.list_of(&walks)?);
            }
            points.push(Point { operands, body: self.block()? });
        }
        Ok(Statement::Merge(Merge { walks, coordinate, points, directory }))
    }

    /// One of the lists of a merge, which its place stands for.
    fn list_of(&mut self, walks: &[Walk]) -> Result<Operands> {
        let place = self.variable()?;
        match walks.iter().position(|walk| walk.place == place) {
            Some(list) => Ok(Operands(1 << list)),
            None => Err(self.tokens.error(format!("{place} is the place of no list of this merge"))),
        }
    }

    fn look_up(&mut self) -> Result<LookUp> {
        let directory = self.array()?;
        self.require("[")?;
        let parent = self.expr()?;
        self.require("]")?;
        Ok(LookUp { directory, parent })
    }

    fn walk(&mut self) -> Result<Walk> {
        let place = self.variable()?;
        let run = if self.accept("..")? { Some(self.variable()?) } else { None };
        self.require("in")?;
        let (begin, end) = self.range()?;
        self.require("at")?;
        Ok(Walk { place, run, begin, end, at: self.expr()? })
    }

    fn parallel_loop(&mut self) -> Result<Statement> {
        Ok(Statement::Parallel(Box::new(self.parallel()?)))
    }

    /// A variable's declaration, or a change of a whole array.
    fn of_array(&mut self, word: &str) -> Result<Statement> {
        self.next()?;
        if word == "let" {
            let id = self.variable()?;
            self.require("=")?;
            return Ok(Statement::Let(id, self.expr()?));
        }
        let array = self.array()?;
        match word {
            "allocate" => {
                let length = self.index()?;
                self.require("=")?;
                Ok(Statement::Allocate { array, length, fill: self.expr()? })
            }
            "folds" => {
                self.require("=")?;
                let terms = self.expr()?;
                let between = if self.accept("between")? { Some(self.array()?) } else { None };
                Ok(Statement::Folds { totals: array, terms, between })
            }
            "fill" => {
                self.require("=")?;
                Ok(Statement::Fill(array, self.expr()?))
            }
            "push" => {
                self.require(",")?;
                Ok(Statement::Push(array, self.expr()?))
            }
            "mark" => {
                self.require(",")?;
                Ok(Statement::Mark(array, self.expr()?))
            }
            _ => {
                self.require(",")?;
                let count = self.expr()?;
                self.require(",")?;
                Ok(Statement::Extend { array, count, fill: self.expr()? })
            }
        }
    }

    /// `[expression]`
    fn index(&mut self) -> Result<Expr> {
        self.require("[")?;
        let index = self.expr()?;
        self.require("]")?;
        Ok(index)
    }

    pub(super) fn reduce_operator(&mut self) -> Result<ReduceOperator> {
        let known = ReduceOperator::ALL.into_iter().chain(self.declared.clone());
        self.one_of("`+`, `*`, `min`, `max`, `|`, `&` or a declared monoid", known.map(|one| (one.name(), one)))
    }

    /// `=`, or the operator of `+=`, `min=` and the like.
    fn assignment(&mut self) -> Result<Option<ReduceOperator>> {
        if self.accept("=")? {
            return Ok(None);
        }
        let (words, signs): (Vec<_>, Vec<_>) =
            ReduceOperator::ALL.into_iter().partition(|operator| operator.name().starts_with(char::is_alphabetic));
        let words = words.into_iter().chain(self.declared.clone());
        for operator in signs {
            if self.accept(&format!("{operator}="))? {
                return Ok(Some(operator));
            }
        }
        let operator = self.one_of("an assignment", words.map(|operator| (operator.name(), operator)))?;
        self.require("=")?;
        Ok(Some(operator))
    }

    /// An assignment to a variable or an element.
    fn change(&mut self, word: &str) -> Result<Statement> {
        if id_number(word, "v").is_some() {
            let id = self.variable()?;
            let operator = self.assignment()?;
            let value = self.expr()?;
            Ok(match operator {
                None => Statement::Assign(id, value),
                Some(operator) => Statement::Update(id, operator, value),
            })
        } else if id_number(word, "a").is_some() {
            let id = self.array()?;
            let index = self.index()?;
            let operator = self.assignment()?;
            let value = self.expr()?;
            Ok(match operator {
                None => Statement::Store(id, index, value),
                Some(operator) => Statement::Reduce(id, index, operator, value),
            })
        } else {
            self.expected("a statement or `}`")
        }
    }

    fn view(&mut self) -> Result<Statement> {
        self.next()?;
        let mutable = self.accept("mutable")?;
        let array = self.array()?;
        self.require("of")?;
        let of = self.array()?;
        self.require("from")?;
        let begin = self.expr()?;
        self.require("length")?;
        Ok(Statement::View { array, of, begin, length: self.expr()?, mutable })
    }

    fn numbers(&mut self) -> Result<Statement> {
        self.next()?;
        let array = self.array()?;
        self.require("of")?;
        let codes = self.array()?;
        self.require("at")?;
        let mask = self.expr()?;
        self.require("below")?;
        Ok(Statement::Numbers { array, codes, mask, below: self.expr()? })
    }

    /// What lists, tables and bitmaps are for. A function of its own, since nested statements take their frames from the stack.
    fn of_workspace(&mut self, word: &str) -> Result<Statement> {
        self.next()?;
        Ok(match word {
            "list" => Statement::List(self.array()?),
            "clear" => Statement::Clear(self.array()?),
            "table" => {
                let table = self.array()?;
                self.require("of")?;
                Statement::Table { table, extent: self.expr()? }
            }
            "directory" => {
                let directory = self.array()?;
                self.require("of")?;
                let coordinates = self.array()?;
                self.require("by")?;
                let positions = self.array()?;
                self.require("below")?;
                let extent = self.expr()?;
                self.require("for")?;
                Statement::Directory { directory, positions, coordinates, extent, sought: self.array()? }
            }
            "bitmap" => {
                let bitmap = self.array()?;
                self.require("of")?;
                Statement::Bitmap { bitmap, extent: self.expr()? }
            }
            "sort" => {
                let keys = self.array()?;
                self.require("from")?;
                let places = self.array()?;
                let table = if self.accept("by")? { Some(self.array()?) } else { None };
                Statement::Sort { keys, places, table }
            }
            "reset" => {
                let keys = self.array()?;
                self.require("by")?;
                Statement::Reset { keys, table: self.array()? }
            }
            _ => {
                let place = self.variable()?;
                self.require("=")?;
                let key = self.expr()?;
                self.require("in")?;
                let keys = self.array()?;
                self.require("by")?;
                Statement::Insert { place, key, keys, table: self.array()? }
            }
        })
    }

    fn range(&mut self) -> Result<(Expr, Expr)> {
        let begin = self.expr()?;
        self.require("..")?;
        Ok((begin, self.expr()?))
    }

    fn for_loop(&mut self) -> Result<Statement> {
        self.next()?;
        let variable = self.variable()?;
        self.require("in")?;
        let (begin, end) = self.range()?;
        let vector = self.accept("vector")?;
        Ok(Statement::For { variable, begin, end, vector, body: self.block()? })
    }

    fn marked_loop(&mut self) -> Result<Statement> {
        self.next()?;
        let variable = self.variable()?;
        self.require("in")?;
        let bitmap = self.array()?;
        Ok(Statement::Marked { variable, bitmap, body: self.block()? })
    }

    fn branching(&mut self) -> Result<Statement> {
        let mut branches = Vec::new();
        let mut another = true;
        while another {
            self.require("if")?;
            if branches.is_empty() && self.at("else")? {
                break;
            }
            let condition = self.expr()?;
            branches.push((condition, self.block()?));
            if !self.at("else")? {
                return Ok(Statement::If(branches, Vec::new()));
            }
            self.next()?;
            another = self.at("if")?;
        }
        self.accept("else")?;
        let otherwise = self.block()?;
        Ok(Statement::If(branches, otherwise))
    }

    fn parallel(&mut self) -> Result<Parallel> {
        self.require("parallel")?;
        let low = self.variable()?;
        self.require("..")?;
        let high = self.variable()?;
        self.require("in")?;
        let (begin, end) = self.range()?;
        let mut node = Parallel::over(begin, end, low, high, Vec::new());
        while !self.at("{")? {
            self.clause(&mut node)?;
        }
        node.body = self.block()?;
        if self.accept("uneven")? {
            node.uneven = Some(Box::new(self.deeper(Self::parallel)?));
        }
        Ok(node)
    }

    fn clause(&mut self, node: &mut Parallel) -> Result<()> {
        if node.work.is_none() && self.accept("work")? {
            let is_all = self.accept("all")?;
            let place = self.variable()?;
            self.require("->")?;
            node.work = Some(Work { place, before: self.expr()?, is_all });
        } else if node.aligned.is_none() && self.accept("aligned")? {
            node.aligned = Some(self.array()?);
        } else if !node.is_bounded && self.accept("bounded")? {
            node.is_bounded = true;
        } else if self.accept("sharing")? {
            node.sharing.push(self.sharing()?);
            while self.accept(",")? {
                node.sharing.push(self.sharing()?);
            }
        } else if self.accept("reducing")? {
            node.reductions.push((self.variable()?, self.reduce_operator()?));
            while self.accept(",")? {
                node.reductions.push((self.variable()?, self.reduce_operator()?));
            }
        } else {
            return self.expected("`work`, `aligned`, `bounded`, `sharing`, `reducing` or `{`");
        }
        Ok(())
    }

    fn sharing(&mut self) -> Result<(ArrayId, Sharing)> {
        let array = self.array()?;
        let how = if self.accept("owned")? {
            let place = self.variable()?;
            self.require("->")?;
            Sharing::Owned { place, start: self.expr()? }
        } else if self.accept("segmented")? {
            let operator = self.reduce_operator()?;
            let place = self.variable()?;
            self.require("->")?;
            let start = self.expr()?;
            self.require("length")?;
            let length = self.expr()?;
            Sharing::Segmented { place, start, length, operator, anew: self.accept("anew")? }
        } else if self.accept("private")? {
            Sharing::Private(self.reduce_operator()?)
        } else {
            self.require("joined")?;
            let positions_of = if self.accept("positions")? { Some(self.array()?) } else { None };
            Sharing::Joined { positions_of }
        };
        Ok((array, how))
    }
}
